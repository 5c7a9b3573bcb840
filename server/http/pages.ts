import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FastifyReply } from "fastify";
import {
  COMING_SOON_PAGE,
  FAILURE_PAGE,
  FORM_BUNDLE,
  FORM_MARKER,
  type FormBundle,
  type FormOfBuild,
  serverDir,
  TECHNICAL_PATH,
} from "../../contract/build-manifest.ts";
import type { AnsweredPost, Receipt, SendEmailAnswer } from "../../contract/send-email-answer.ts";
import { inTime } from "../store/model.ts";
import type { Store } from "../store/store.ts";
import { MINUTE_MS } from "../time.ts";
import type { Build, Encoding, ServedFile } from "./build-files.ts";
import { createLimitedServer, type Limits } from "./limits.ts";

const RECEIPT_SHOWN_MS = 10 * MINUTE_MS;

type Refused = SendEmailAnswer & { success: false };
type Values = Readonly<Record<string, string>>;

/** What is there once everything is loaded. */
interface Api {
  listener: RequestListener;
  store: Pick<Store, "messages" | "secret">;
  now(): Date;
  noteDefect(error: unknown): void;
}

export type Site = ReturnType<typeof createSite>;

const API_PATHS: Readonly<Record<string, string>> = {
  "/send-email": "GET, HEAD, OPTIONS, POST",
  "/healthz": "GET, HEAD",
  "/readyz": "GET, HEAD",
};

/** Answers pages at once. Other requests wait for `serveApi`, so that the server can listen while that is loaded. */
export function createSite(build: Build, limits: Limits) {
  const { promise: api, resolve: serveApi } = Promise.withResolvers<Api>();
  const server = createLimitedServer(limits, (request, response) => {
    if (!answer(request, response)) void api.then(({ listener }) => listener(request, response));
  });
  const comingSoon = pageNamed(build, COMING_SOON_PAGE);
  const failure = pageNamed(build, FAILURE_PAGE);
  const contact = pageNamed(build, "contact");
  const renderAnswer = answerRenderer(build.dir, build.manifest.form);
  // These two have no path of their own.
  const files = new Map([...build.files].filter(([, file]) => file !== comingSoon && file !== failure));

  /** Answers the request, unless it is for the API. */
  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = "" } = request;
    const file = files.get(url);
    const [path, query] = file ? [url] : readUrl(url);
    if (!file && Object.hasOwn(API_PATHS, path)) return false;
    try {
      if (method !== "GET" && method !== "HEAD") refuseMethod(response, "GET, HEAD");
      else answerPath(response, file ?? files.get(path), path, query);
    } catch (error) {
      answerFailure(response, error);
    }
    return true;
  }

  function answerPath(response: ServerResponse, file: ServedFile | undefined, path: string, query = ""): void {
    // By content, because the page has aliases.
    if (file && query.includes("reference=") && file.variants.identity.etag === contact.variants.identity.etag) {
      sendConfirmation(response, file, new URLSearchParams(query)).catch((error) => answerFailure(response, error));
    } else if (file) sendFile(response, file);
    else if (TECHNICAL_PATH.test(path)) sendText(response, 404, "Not found\n", build.headers);
    else sendFile(response, comingSoon);
  }

  function refuseMethod(response: ServerResponse, allow: string): void {
    sendText(response, 405, "Method not allowed\n", { ...build.headers, allow });
  }

  function answerFailure(response: ServerResponse, error: unknown): void {
    void api.then(({ noteDefect }) => noteDefect(error));
    if (response.headersSent) response.destroy();
    else sendHtml(response, 500, failure, [failure.variants.identity.body]);
  }

  /** A page for one visitor or moment, which must not be cached. */
  function sendHtml(
    response: ServerResponse,
    status: number,
    page: ServedFile,
    parts: readonly Buffer[],
    headers: ReturnType<FastifyReply["getHeaders"]> | null = null,
  ): void {
    response.writeHead(status, {
      ...build.headers,
      ...(headers as OutgoingHttpHeaders | null),
      "cache-control": "no-store",
      "content-type": page.contentType,
      "content-length": String(parts.reduce((sum, part) => sum + part.length, 0)),
      ...(page.policy && { "content-security-policy": page.policy }),
    });
    if (response.req.method !== "HEAD") for (const part of parts) response.write(part);
    response.end();
  }

  /** The confirmation of a post without script, or the contact page unchanged if the query is not ours. */
  async function sendConfirmation(response: ServerResponse, file: ServedFile, query: URLSearchParams): Promise<void> {
    const { store, now } = await api;
    const reference = readSent(query, store.secret);
    if (reference === null) return sendFile(response, file);
    const receipt = await receiptOf(reference, store, now());
    sendHtml(response, 200, contact, await renderAnswer({ kind: "sent", receipt }));
  }

  /** Answers a post without script with the contact page. `values` stand in its fields; undefined if unreadable. */
  function answerRefusal(reply: FastifyReply, status: number, answer: Refused, values?: Values): void {
    const reason = status === 400 ? "Your message could not be read." : answer.error;
    const rest = values ? "Nothing you typed is lost." : "Go back one page to find what you typed.";
    const { raw } = reply.hijack();
    renderAnswer({ kind: "refused", error: `${reason} ${rest}`, errors: answer.fields ?? {}, values: values ?? {} })
      .then((parts) => sendHtml(raw, status, contact, parts, reply.getHeaders()))
      .catch((error) => answerFailure(raw, error));
  }

  function answerRest(request: IncomingMessage, response: ServerResponse): void {
    if (!answer(request, response)) refuseMethod(response, API_PATHS[readUrl(request.url ?? "")[0]] ?? "");
  }

  return { build, limits, server, serveApi, answerRest, answerFailure, answerRefusal };
}

/** In parts: unread answers share all but the form. Loads React at the first post without script, to save memory. */
function answerRenderer(distDir: string, form: FormOfBuild): (answered: AnsweredPost) => Promise<Buffer[]> {
  const partsOf = (page: string) => page.split(FORM_MARKER).map((part) => Buffer.from(part));
  const pages = { sent: partsOf(form.pages.sent), refused: partsOf(form.pages.refused) };
  let bundle: Promise<FormBundle> | undefined;
  return async (answered) => {
    bundle ??= import(pathToFileURL(join(serverDir(distDir), FORM_BUNDLE)).href);
    const { renderForm } = await bundle;
    const [before = Buffer.of(), ...after] = pages[answered.kind];
    return [before, Buffer.from(renderForm(form, answered)), ...after];
  };
}

/** Only the reference later than ten minutes after the message, and while the store is unavailable. */
async function receiptOf(reference: string, { messages }: Api["store"], now: Date): Promise<Receipt> {
  const message = await inTime(messages.find(reference)).catch(() => null);
  const isShown = message && now.getTime() - message.acceptedAt.getTime() <= RECEIPT_SHOWN_MS;
  if (!isShown) return { reference, sentAt: "", address: "", totalKg: null, estimate: null };
  const { acceptedAt, email: address, footprint: estimate } = message;
  const totalKg = estimate?.totalKg ?? null;
  return { reference, sentAt: acceptedAt.toISOString(), address, totalKg, estimate };
}

function pageNamed(build: Build, name: string): ServedFile {
  const page = build.files.get(`/${name}`);
  if (!page) throw new Error(`The build lacks ${name}; run: npm run build`);
  return page;
}

/** The decoded path without trailing and repeated slashes. A path that cannot be decoded stays as sent. */
function readUrl(url: string): [path: string, query?: string | undefined] {
  // A proxy may send the whole URL.
  const [, sent = "", query] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  let path = sent;
  try {
    path = decodeURI(sent);
  } catch {}
  return [path.replaceAll(/\/{2,}/g, "/").replace(/(.)\/$/, "$1"), query];
}

function sendFile(response: ServerResponse, file: ServedFile): void {
  const { headers: asked } = response.req;
  const encoding = file.isCompressed ? chooseEncoding(asked["accept-encoding"]) : "identity";
  const { body, etag, headers, unchangedHeaders } = file.variants[encoding];
  // A client that has parts of another version gets the whole film.
  const isSame = asked["if-range"] === undefined || asked["if-range"] === etag;
  const range = file.isFilm && isSame ? chooseRange(asked.range, body.length) : null;
  // A list may contain several tags, and a proxy may have made ours weak.
  if (asked["if-none-match"]?.includes(etag)) send(response, 304, unchangedHeaders);
  else if (!range) send(response, 200, headers, body);
  else {
    const part = body.subarray(range.start, range.end + 1);
    const position = ["content-range", `bytes ${range.start}-${range.end}/${body.length}`];
    const content = ["content-type", file.contentType, "content-length", String(part.length)];
    send(response, 206, [...unchangedHeaders, ...position, ...content], part);
  }
}

function sendText(response: ServerResponse, status: number, text: string, headers: Build["headers"]): void {
  const content = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
  send(response, status, { ...headers, ...content }, Buffer.from(text));
}

function send(response: ServerResponse, status: number, headers: string[] | Build["headers"], body?: Buffer): void {
  response.writeHead(status, headers).end(response.req.method === "HEAD" ? undefined : body);
}

/** The name alone or with a weight, unless that is zero. */
const accepts = (encoding: Encoding) =>
  new RegExp(`(?:^|,)\\s*${encoding}\\s*(?!;\\s*q\\s*=\\s*0(?:\\.0*)?\\s*(?:,|$))(?:[,;]|$)`, "i");
const [BR, GZIP] = [accepts("br"), accepts("gzip")];

export function chooseEncoding(accepted = ""): Encoding {
  return BR.test(accepted) ? "br" : GZIP.test(accepted) ? "gzip" : "identity";
}

/** Both ends included. Null for the whole file, also for ranges that the standard allows to ignore. */
export function chooseRange(range = "", sizeBytes: number): { start: number; end: number } | null {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range) ?? [];
  if (first === undefined) return null;
  const [start, end] = [Number(first), last ? Math.min(Number(last), sizeBytes - 1) : sizeBytes - 1];
  return start <= end ? { start, end } : null;
}

/**
 * Proxies log queries, so this contains no visitor input. Only this site's nodes can make the code, so a forged link
 * cannot show a success that never happened.
 */
export function sentQuery(reference: string, key: Uint8Array): string {
  return String(new URLSearchParams({ reference, code: codeOf(reference, key) }));
}

/** Null unless `sentQuery` made the code. */
function readSent(query: URLSearchParams, key: Uint8Array): string | null {
  const reference = query.get("reference") ?? "";
  const [given, expected] = [Buffer.from(query.get("code") ?? ""), Buffer.from(codeOf(reference, key))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? reference : null;
}

function codeOf(reference: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(`sent ${reference}`).digest("base64url").slice(0, 16);
}
