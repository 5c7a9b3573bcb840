import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import type { FastifyBodyParser, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FIELD_NAMES, type FieldErrors, parseContactMessage, TRAP_FIELD } from "../../contract/contact-message.ts";
import { durationInWords } from "../../contract/duration.ts";
import { estimateFootprint } from "../../contract/footprint/arithmetic.ts";
import { FIELD_PREFIX, START_TEXTS } from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import { RECEIPT_FIELD, SENT_ALERT_ID, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import type { Config } from "../config.ts";
import { errorName } from "../errors.ts";
import { inTime, StoreUnavailable } from "../store/errors.ts";
import type { Meter, RefusalReason } from "../watch/metrics.ts";
import { networkNames, networksOf } from "./client-address.ts";
import { countPerWindow, type Limits } from "./limits.ts";
import { pageSender, type ReceiptOptions, sentQuery } from "./receipt.ts";

export interface SendEmailOptions extends ReceiptOptions {
  config: Config;
  limits: Limits;
  meter?: Meter | undefined;
  onStored(state: "queued" | "quarantined"): void;
  onNotStored(): void;
  noteDefect(error: unknown): void;
}

const FORM_TYPE = "application/x-www-form-urlencoded";
/** The headers that decide about a message. None is longer than 300 characters in a request that we accept. */
const READ_HEADERS = ["content-type", "host", "idempotency-key", "origin", "sec-fetch-site", "x-forwarded-for"];
const MAX_HEADER_LENGTH = 1000;
const OUR_NAMES: readonly string[] = [
  ...FIELD_NAMES,
  ...[TRAP_FIELD, RECEIPT_FIELD, "footprint"],
  ...Object.keys(START_TEXTS),
];
const OUR_PAIRS = new RegExp(
  `(?:^|&)(${[...OUR_NAMES.map(RegExp.escape), RegExp.escape(FIELD_PREFIX)].join("|")}[^=&]*)(?=[=&]|$)[^&]*`,
  "g",
);
const REPEATED = "This message has arrived, and was sent several times. Please wait before you send it again.";
/** Refusals of this kind have a limit of their own per client. */
const COUNTED_STATUSES: readonly number[] = [400, 413, 415, 422];

interface RefusalDetails {
  fields?: FieldErrors;
  retryAfterMs?: number;
  /** Decided before the body is read: must cost little, so a form gets a short page. */
  isEarly?: boolean;
}

class Refusal extends Error {
  readonly details: RefusalDetails & { status: number; reason: RefusalReason };

  constructor(status: number, reason: RefusalReason, text: string, details: RefusalDetails = {}) {
    super(text);
    this.details = { ...details, status, reason };
  }
}

const TOO_LARGE = new Refusal(413, "too-large", "Please send a shorter message.");
const WRONG_TYPE = new Refusal(415, "wrong-type", "Send the message as application/json.");
const INVALID_JSON = new Refusal(400, "malformed", "The body is not valid JSON.");
const INCOMPLETE = new Refusal(400, "malformed", "The body is not complete.");
/** Decoding such a body would replace the visitor's characters with U+FFFD. */
const INVALID_UTF8 = new Refusal(400, "malformed", "The body is not valid UTF-8.");
const LONG_HEADER = new Refusal(400, "malformed", "A header is too long.", { isEarly: true });
const FOREIGN = new Refusal(403, "foreign-origin", "Messages from other sites are not accepted.", { isEarly: true });
const AWAY = new Refusal(
  503,
  "store-unavailable",
  "We cannot accept messages at the moment. Please try again in a minute.",
  { retryAfterMs: 30_000 },
);

/** Sends no mail, so visitors never wait for the mail server. */
export function serveSendEmail(app: FastifyInstance, options: SendEmailOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const { config, limits } = options;
    const parseJson = scope.getDefaultJsonParser("error", "error") as FastifyBodyParser<string>;
    scope.addContentTypeParser(["application/json", FORM_TYPE], (request, stream: IncomingMessage, done) => {
      const parse = (body: Buffer) => {
        const name = `${clientOf(request)} ${hash("sha256", body, "base64url")}`;
        noted.set(request, name);
        const retryAfterMs = repeats.waitMs(name, nowMs());
        if (retryAfterMs > 0) throw new Refusal(429, "limited", REPEATED, { retryAfterMs, isEarly: true });
        if (!isUtf8(body)) throw INVALID_UTF8;
        if (isForm(request)) done(null, readForm(body.toString()));
        else parseJson(request, body.toString(), done);
      };
      readBody(stream, limits.maxBodyBytes).then(parse).catch(done);
    });

    const nowMs = () => options.now?.().getTime() ?? performance.now();
    const most = (count: number) => (config.rateLimits.length > 0 ? count : Number.POSITIVE_INFINITY);
    const refusals = countPerWindow(most(limits.maxRefusals), limits);
    const repeats = countPerWindow(most(limits.maxRepeats), limits);
    const sendPage = pageSender(options.build, "refused");
    const noted = new WeakMap<FastifyRequest, string>();

    scope.addHook("onRequest", (request, reply, next) => {
      if (READ_HEADERS.some((name) => (request.headers[name]?.length ?? 0) > MAX_HEADER_LENGTH)) {
        return next(LONG_HEADER);
      }
      const verdict = judgeOrigin(request.headers, config.build.siteUrl, config.allowedOrigins);
      if (verdict === "foreign") return next(FOREIGN);
      if (verdict === "allowed") {
        reply.header("access-control-allow-origin", request.headers.origin).header("vary", "origin");
        reply.header("access-control-expose-headers", "retry-after");
      }
      const retryAfterMs = request.method === "POST" ? refusals.waitMs(clientOf(request), nowMs()) : 0;
      if (retryAfterMs === 0) return next();
      const text = `Several of your messages were refused. Please try again in ${durationInWords(retryAfterMs)}.`;
      next(new Refusal(429, "limited", text, { retryAfterMs, isEarly: true }));
    });

    scope.options("/send-email", async (_request, reply) => {
      reply.header("access-control-allow-methods", "POST");
      reply.header("access-control-allow-headers", "content-type, idempotency-key");
      reply.header("access-control-max-age", "86400").header("allow", "GET, HEAD, OPTIONS, POST");
      return reply.code(204).send();
    });
    scope.post("/send-email", async (request, reply) => {
      await acceptMessage(request, reply, options);
      repeats.note(noted.get(request) ?? "", nowMs());
      return reply;
    });
    // The address that a browser shows after a refused post without script.
    scope.get("/send-email", async (_request, reply) => reply.code(303).header("location", "/contact").send());
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const refusal = refusalOf(error);
      const { status, isEarly } = refusal.details;
      if (COUNTED_STATUSES.includes(status) && !isEarly) refusals.note(clientOf(request), nowMs());
      return answerError(error, refusal, request, reply, { ...options, sendPage });
    });
  });
}

/** Without style, because the policy of this answer allows none. */
function shortPage(error: string): string {
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">';
  return `<!doctype html><html lang="en">${head}<title>Not sent</title><h1>Your message was not sent</h1><p>${error}<p>Go back: your text is still in the form.`;
}

/** Most addresses are IPv4, whose name takes no library: it would cost a tenth of a message. */
const clientOf = ({ ip }: FastifyRequest) => (isIPv4(ip) ? `${ip}/32` : (networkNames(ip)[0]?.name ?? ""));

/**
 * Reads each of our own names once, because a body may have thousands of names. Of unknown ones for the estimate, which
 * are refused, the last is enough.
 */
function readForm(body: string): Record<string, string> {
  const known = new Map<string, string>();
  for (const [pair, name = ""] of decodeNames(body).matchAll(OUR_PAIRS)) {
    known.set(OUR_NAMES.includes(name) ? name : FIELD_PREFIX, pair);
  }
  return Object.fromEntries(new URLSearchParams([...known.values()].join("")));
}

/** All at once, which is faster than name by name. Codes of characters that mean something in a form stay codes. */
function decodeNames(body: string): string {
  const withoutLonePercent = body.replaceAll(/%(?![0-9a-f]{2})/gi, "%25");
  try {
    return decodeURIComponent(withoutLonePercent.replaceAll(/%(?=2[56b]|3d)/gi, "%25"));
  } catch {
    throw INVALID_UTF8;
  }
}

function isForm({ headers }: FastifyRequest): boolean {
  return headers["content-type"]?.slice(0, FORM_TYPE.length).toLowerCase() === FORM_TYPE;
}

/** Copies every chunk into one buffer, because a separate chunk of one byte takes hundreds of bytes. */
function readBody(stream: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.allocUnsafeSlow(1024);
    let length = 0;
    stream.on("data", (chunk: Buffer) => {
      const needed = length + chunk.length;
      if (needed > maxBytes) {
        stream.removeAllListeners("data").resume();
        return reject(TOO_LARGE);
      }
      if (needed > buffer.length) {
        // Not from the shared pool, of which each slow body would keep 64 kB in memory.
        const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(needed, 2 * buffer.length)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      length += chunk.copy(buffer, length);
    });
    stream.once("end", () => resolve(buffer.subarray(0, length)));
    stream.once("error", () => reject(INCOMPLETE));
  });
}

/** Browsers send `Origin` with every cross-site post, and pages cannot forge it. */
export function judgeOrigin(
  headers: IncomingHttpHeaders,
  siteUrl: string,
  allowed: readonly string[],
): "own" | "allowed" | "foreign" {
  const { origin, host } = headers;
  if (origin === undefined) return headers["sec-fetch-site"] === "cross-site" ? "foreign" : "own";
  if (allowed.includes(origin)) return "allowed";
  if (origin === new URL(siteUrl).origin) return "own";
  // Compares only the host: behind a proxy this server does not see whether the visitor used https.
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase() ? "own" : "foreign";
}

async function acceptMessage(request: FastifyRequest, reply: FastifyReply, options: SendEmailOptions) {
  const { config, meter, now, onStored } = options;
  const { body } = request;
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refusal(400, "malformed", "Send the message as a JSON object.");
  }
  const idempotencyKey = request.headers["idempotency-key"]?.toString() ?? null;
  if (idempotencyKey !== null && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new Refusal(400, "bad-key", "Idempotency-Key must be 1 to 255 visible characters.");
  }
  const parsed = parseContactMessage(body as Record<string, unknown>);
  const { inputs, errors } = parseFootprint(body as Record<string, unknown>);
  if (!parsed.ok || Object.keys(errors).length > 0) {
    const fields = { ...(!parsed.ok && parsed.fields), ...errors };
    throw new Refusal(422, "invalid", "Please correct the marked fields.", { fields });
  }
  const { message } = parsed;
  const footprint = inputs && estimateFootprint(inputs, message.country);

  const isClientNeeded = config.rateLimits.length > 0 || idempotencyKey !== null;
  const isTrapped = ![undefined, ""].includes((body as Record<string, string>)[TRAP_FIELD]);
  const { secret, acceptance } = await inTime(
    options.openedStore().then(async ({ intake, secret }) => {
      const networks = isClientNeeded ? networksOf(request.ip, secret) : [];
      const submission = { message, footprint, idempotencyKey, networks, isTrapped };
      return { secret, acceptance: await intake.accept(submission, now?.() ?? null) };
    }),
  );
  if (acceptance.kind === "key-reused") {
    throw new Refusal(422, "key-reused", "This Idempotency-Key was already used for another message.");
  }
  if (acceptance.kind === "limited") {
    const { retryAfterMs } = acceptance;
    const error = `You have sent several messages already. Please try again in ${durationInWords(retryAfterMs)}.`;
    throw new Refusal(429, "limited", error, { retryAfterMs });
  }
  const { reference } = acceptance;
  const state = acceptance.kind === "stored" ? acceptance.state : acceptance.kind;
  meter?.accepted(state);
  request.log.info({ event: "accepted", reference, state }, "message accepted");
  if (state !== "repeated") onStored(state);
  const estimate = footprint && { footprint: { totalKg: footprint.totalKg } };
  reply.header("cache-control", "no-store");
  if (!isForm(request)) return reply.send({ success: true, reference, ...estimate } satisfies SendEmailAnswer);
  // To the page beside this address, also for a form on another origin: a static host cannot write the reference.
  const path = request.originalUrl.split(/[?#]/, 1).join("").split("/");
  const slashes = path.reverse().findIndex((part) => part !== "");
  const location = `${"../".repeat(slashes)}contact?${sentQuery(reference, secret)}#${SENT_ALERT_ID}`;
  return reply.code(303).header("location", location).send();
}

async function answerError(
  error: Error,
  { message: text, details }: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
  { sendPage, meter, onNotStored, noteDefect }: SendEmailOptions & { sendPage: ReturnType<typeof pageSender> },
): Promise<FastifyReply> {
  const { status, reason, fields, retryAfterMs, isEarly } = details;
  meter?.refused(reason);
  if (reason === "store-unavailable") {
    onNotStored();
    request.log.error({ event: reason, error: error.message }, "message not stored");
  } else if (reason === "failure") {
    noteDefect(error);
    request.log.error({ event: reason, error: errorName(error) }, "message not stored");
  } else {
    request.log.info({ event: "refused", reason }, "message refused");
  }
  reply.code(status).header("cache-control", "no-store");
  if (retryAfterMs !== undefined) reply.header("retry-after", Math.ceil(retryAfterMs / 1000));
  if (!isForm(request)) return reply.send({ success: false, error: text, ...(fields && { fields }) });
  if (isEarly) return reply.type("text/html; charset=utf-8").send(shortPage(text));
  // Undefined if the body could not be read.
  const values = request.body as Readonly<Record<string, string>> | undefined;
  const cause = status === 400 ? "Your message could not be read." : text;
  const rest = values ? "Nothing you typed is lost." : "Go back one page to find what you typed.";
  const answered = { kind: "refused", error: `${cause} ${rest}`, errors: fields ?? {}, values: values ?? {} } as const;
  return sendPage(reply, answered);
}

function refusalOf(error: Error & { statusCode?: number }): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailable) return AWAY;
  const { statusCode = 500 } = error;
  if (statusCode >= 500) return new Refusal(500, "failure", "Something went wrong on our side. Please try again.");
  return statusCode === 415 ? WRONG_TYPE : INVALID_JSON;
}
