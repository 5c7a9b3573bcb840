import { createHmac, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { FastifyInstance, FastifyReply } from "fastify";
import { FORM_BUNDLE, FORM_MARKER, type FormBundle, serverDir } from "../../contract/build-manifest.ts";
import { type AnsweredPost, bareReceipt, type Receipt } from "../../contract/send-email-answer.ts";
import { inTime } from "../store/errors.ts";
import type { Store } from "../store/store.ts";
import { MINUTE_MS } from "../time.ts";
import type { Build, ServedFile } from "./build-files.ts";
import { chooseAnswer } from "./pages.ts";

// The contact page as the answer to a post without script: the confirmation, and the form given back.

const RECEIPT_SHOWN_MS = 10 * MINUTE_MS;

export interface ReceiptOptions {
  build: Build;
  /** Rejects with StoreUnavailable while the store has not been opened. */
  openedStore(): Promise<Pick<Store, "intake" | "messages" | "secret" | "status">>;
  /** The time in a test; without it, the store's. */
  now?: (() => Date) | undefined;
}

/** `GET /contact?reference=…`: the confirmation, or the plain contact page if the query or the time is not ours. */
export function serveReceipt(app: FastifyInstance, options: ReceiptOptions): void {
  const sendPage = pageSender(options.build, "sent");
  app.get<{ Querystring: Record<string, unknown> }>("/contact", async (request, reply) => {
    const query = new URLSearchParams(request.url.slice(request.url.indexOf("?")));
    const receipt = await findReceipt(query, options);
    if (receipt) return sendPage(reply, { kind: "sent", receipt });
    const { status, headers, body } = chooseAnswer(options.build.contact, request.headers);
    for (let index = 0; index < headers.length; index += 2) reply.header(headers[index] ?? "", headers[index + 1]);
    return reply.code(status).send(body);
  });
}

/** `null` unless this site made the query, and while the store has not been opened. */
async function findReceipt(query: URLSearchParams, { openedStore, now }: ReceiptOptions): Promise<Receipt | null> {
  const store = await openedStore().catch(() => null);
  const reference = store && readSent(query, store.secret);
  if (!store || reference === null) return null;
  const { messages, status } = store;
  const found = Promise.all([messages.find(reference), now?.() ?? status.time()]);
  const [message, nowAt] = await inTime(found).catch(() => []);
  // Later, and while the store is away, only the reference.
  const isShown = message && nowAt && nowAt.getTime() - message.acceptedAt.getTime() <= RECEIPT_SHOWN_MS;
  if (!isShown) return bareReceipt(reference);
  const { acceptedAt, email: address, footprint: estimate } = message;
  const totalKg = estimate?.totalKg ?? null;
  return { reference, sentAt: acceptedAt.toISOString(), address, totalKg, estimate };
}

/** Loads React at the first post without script, to save memory. */
export function pageSender(build: Build, kind: AnsweredPost["kind"]) {
  const { form } = build.manifest;
  const [before = Buffer.of(), ...after] = form.pages[kind].split(FORM_MARKER).map((part) => Buffer.from(part));
  return async (reply: FastifyReply, answered: AnsweredPost): Promise<FastifyReply> => {
    const { renderForm }: FormBundle = await import(pathToFileURL(join(serverDir(build.dir), FORM_BUNDLE)).href);
    const parts = [before, Buffer.from(renderForm(form, answered)), ...after];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    // In parts: unread answers share all but the form.
    return forOneVisitor(reply, build.contact).header("content-length", length).send(Readable.from(parts));
  };
}

/** The headers of a page for one visitor or moment, which must not be cached. */
export function forOneVisitor(reply: FastifyReply, { contentType, policy }: ServedFile): FastifyReply {
  if (policy) reply.header("content-security-policy", policy);
  return reply.header("cache-control", "no-store").type(contentType);
}

/**
 * Proxies log queries, so this contains no visitor input. Only this site's nodes can make the code, so a forged link
 * cannot show a success that never happened.
 */
export function sentQuery(reference: string, secret: string): string {
  return String(new URLSearchParams({ reference, code: codeOf(reference, secret) }));
}

/** Null unless `sentQuery` made the code. */
function readSent(query: URLSearchParams, secret: string): string | null {
  const reference = query.get("reference") ?? "";
  const [given, expected] = [Buffer.from(query.get("code") ?? ""), Buffer.from(codeOf(reference, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? reference : null;
}

function codeOf(reference: string, secret: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(`sent ${reference}`).digest("base64url").slice(0, 16);
}
