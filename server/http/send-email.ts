import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type FieldErrors, parseContactMessage, TRAP_FIELD } from "../../contract/contact-message.ts";
import { durationInWords } from "../../contract/duration.ts";
import {
  type ElectricityTable,
  estimateFootprint,
  isFootprintField,
  parseFootprint,
} from "../../contract/footprint.ts";
import { FIELD_PREFIX } from "../../contract/footprint-fields.ts";
import { ALERT_ID, problemsOf, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import type { Config } from "../config.ts";
import { type AcceptanceRules, type Store, StoreUnavailable } from "../store/store.ts";
import type { Meter, RefusalReason } from "../watch/meter.ts";
import { networksOf } from "./client-address.ts";
import { problemsQuery, sentQuery } from "./sent-result.ts";

interface SendEmailOptions {
  config: Config;
  store: Pick<Store, "accept" | "clientKey">;
  rules: AcceptanceRules;
  electricity: ElectricityTable;
  meter: Meter;
  now(): Date;
  /** Called after a message is on disk. */
  onStored(state: "queued" | "quarantined"): void;
  /** Called when one could not be stored. */
  onNotStored(): void;
}

const FORM_TYPE = "application/x-www-form-urlencoded";
const RETRY_AFTER_STORE_S = 30;

const CLIENT_ERROR: Readonly<Record<number, [RefusalReason, string]>> = {
  400: ["malformed", "The body is not valid JSON."],
  413: ["too-large", "The message is too long."],
  415: ["wrong-type", "Send the message as application/json."],
};

/** `POST /send-email`: checks, stores, answers. Nothing is mailed here, so a dead mail server delays nobody. */
export function acceptMessages(app: FastifyInstance, options: SendEmailOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const parseJson = scope.getDefaultJsonParser("error", "error");
    scope.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
      if (isUtf8(body)) parseJson(request, body.toString(), done);
      else done(new InvalidUtf8());
    });
    scope.addContentTypeParser<Buffer>(FORM_TYPE, { parseAs: "buffer" }, (_request, body, done) => {
      if (isUtf8(body) && isUtf8(percentDecoded(body))) {
        done(null, Object.fromEntries(new URLSearchParams(body.toString())));
      } else done(new InvalidUtf8());
    });

    scope.addHook("onRequest", (request, reply, next) => {
      const verdict = judgeOrigin(request.headers, options.config.build.siteUrl, options.config.allowedOrigins);
      if (verdict.kind === "foreign") {
        recordRefusal(request, options.meter, "foreign-origin");
        sendError(reply, 403, "Messages from other sites are not accepted.");
        return;
      }
      if (verdict.kind === "allowed") {
        reply.header("access-control-allow-origin", verdict.origin).header("vary", "origin");
        reply.header("access-control-expose-headers", "retry-after");
      }
      next();
    });

    scope.options("/send-email", async (_request, reply) => {
      reply.header("access-control-allow-methods", "POST");
      reply.header("access-control-allow-headers", "content-type, idempotency-key");
      return reply.header("access-control-max-age", "86400").header("allow", "OPTIONS, POST").code(204).send();
    });
    scope.post("/send-email", (request, reply) => acceptMessage(request, reply, options));
    scope.get("/send-email", async (_request, reply) => {
      return sendError(reply.header("allow", "OPTIONS, POST"), 405, "Send a message with POST.");
    });
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
      answerError(error, request, reply, options),
    );
  });
}

/** Decoding such a body would store another character (U+FFFD) in place of what the visitor wrote. */
class InvalidUtf8 extends Error {
  statusCode = 400;
  override message = "The body is not valid UTF-8.";
}

function percentDecoded(body: Buffer): Buffer {
  const bytes = body.toString("latin1");
  const decoded = bytes.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
}

type OriginVerdict = { kind: "own" } | { kind: "allowed"; origin: string } | { kind: "foreign" };

/**
 * Separates a post from our own pages (or from a program that is no browser) from one that another site makes in a
 * visitor's name. Browsers send `Origin` with every cross-site post, and pages cannot forge it.
 */
export function judgeOrigin(headers: IncomingHttpHeaders, siteUrl: string, allowed: readonly string[]): OriginVerdict {
  const { origin, host } = headers;
  if (origin === undefined) return headers["sec-fetch-site"] === "cross-site" ? { kind: "foreign" } : { kind: "own" };
  if (allowed.includes(origin)) return { kind: "allowed", origin };
  if (origin === new URL(siteUrl).origin) return { kind: "own" };
  // Only the host is compared: behind a proxy this server does not see whether the visitor used https.
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase() ? { kind: "own" } : { kind: "foreign" };
}

async function acceptMessage(request: FastifyRequest, reply: FastifyReply, options: SendEmailOptions) {
  const { store, rules, electricity, meter, now, onStored } = options;
  const { body } = request;
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return refuse(request, reply, options, 400, "malformed", "Send the message as a JSON object.");
  }
  const idempotencyKey = request.headers["idempotency-key"]?.toString() ?? null;
  if (idempotencyKey !== null && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    return refuse(request, reply, options, 400, "bad-key", "Idempotency-Key must be 1 to 255 visible characters.");
  }
  const parsed = parseContactMessage(body as Record<string, unknown>);
  const parsedFootprint = parseFootprint(body as Record<string, unknown>);
  if (!parsed.ok || !parsedFootprint.ok) {
    const fields = { ...(!parsed.ok && parsed.fields), ...(!parsedFootprint.ok && parsedFootprint.fields) };
    return refuse(request, reply, options, 422, "invalid", "Please correct the marked fields.", fields);
  }
  const { message } = parsed;
  const { inputs } = parsedFootprint;
  // Never a total that was sent: only what our own factors make of the inputs.
  const footprint = inputs && estimateFootprint(inputs, message.country, electricity);

  const isClientNeeded = rules.rateLimits.length > 0 || idempotencyKey !== null;
  const trap = (body as Record<string, unknown>)[TRAP_FIELD];
  const acceptance = await store.accept(
    {
      message,
      footprint,
      idempotencyKey,
      networks: isClientNeeded ? networksOf(request.ip, store.clientKey) : [],
      isTrapped: trap !== undefined && trap !== "",
    },
    rules,
    now(),
  );
  const succeed = (reference: string) => {
    const body: SendEmailAnswer = { success: true, reference };
    if (footprint) body.footprint = { totalKg: footprint.totalKg };
    return answer(request, reply, store.clientKey, 200, body);
  };
  // One log line and one count for each message: its outcome and nothing else of it.
  switch (acceptance.kind) {
    case "stored": {
      const { reference, state } = acceptance;
      meter.accepted(state);
      request.log.info({ event: "accepted", reference, state }, "message accepted");
      onStored(state);
      return succeed(reference);
    }
    case "repeated": {
      const { reference } = acceptance;
      meter.accepted("repeated");
      request.log.info({ event: "repeated", reference }, "message already stored");
      // The first may have been stored only after its answer was given up on, and so have woken nobody.
      onStored("queued");
      return succeed(reference);
    }
    case "key-reused":
      return refuse(
        request,
        reply,
        options,
        422,
        "key-reused",
        "This Idempotency-Key came with another message before.",
      );
    case "limited": {
      const { retryAfterMs } = acceptance;
      reply.header("retry-after", Math.ceil(retryAfterMs / 1000));
      const error = `You have sent several messages already. Please try again in ${durationInWords(retryAfterMs)}.`;
      return refuse(request, reply, options, 429, "limited", error);
    }
  }
}

/** Counts, logs and answers. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { meter, store }: SendEmailOptions,
  status: number,
  reason: RefusalReason,
  error: string,
  fields?: FieldErrors,
): FastifyReply {
  const logged = fields && { fields: [...new Set(Object.keys(fields).map(loggedName))] };
  recordRefusal(request, meter, reason, logged);
  return answer(request, reply, store.clientKey, status, { success: false, error, ...(fields && { fields }) });
}

/** Nothing that a sender wrote gets into the log, and so no name of a field that does not exist. */
function loggedName(field: string): string {
  const isUnknown = field.startsWith(FIELD_PREFIX) && !isFootprintField(field.slice(FIELD_PREFIX.length));
  return isUnknown ? "footprint" : field;
}

function recordRefusal({ log }: FastifyRequest, meter: Meter, reason: RefusalReason, details = {}): void {
  meter.refused(reason);
  log.info({ event: "refused", reason, ...details }, "message refused");
}

/** A program gets JSON; a form without script is redirected to the contact page and the alert that fits. */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  clientKey: Uint8Array,
  status: number,
  body: SendEmailAnswer,
): FastifyReply {
  reply.header("cache-control", "no-store");
  if (!request.headers["content-type"]?.toLowerCase().startsWith(FORM_TYPE)) return reply.code(status).send(body);
  const alert = body.success ? ALERT_ID.sent : alertFor(status);
  // A body that cannot be read is no visitor's mistake.
  const reason = body.success || status === 400 ? "" : reasonOf(body);
  const query = body.success
    ? `?${sentQuery(body.reference, clientKey)}`
    : reason && `?${problemsQuery(reason, clientKey)}`;
  // Another site's page needs its origin in the redirect; ours must not have one, since a proxy may hide it from us.
  const base = String(reply.getHeader("access-control-allow-origin") ?? "");
  return reply.code(303).header("location", `${base}/contact${query}#${alert}`).send();
}

/** Holds nothing that a sender wrote, not even a number that can be read in two ways. */
function reasonOf({ error, fields }: SendEmailAnswer & { success: false }): string {
  const sentences = fields ? problemsOf(fields).map(([, sentence]) => sentence) : [error];
  const unclear = "The point or comma can be read in two ways: leave it out, or write 1,500 or 12.5.";
  return [...new Set(sentences)].join(" ").replaceAll(/Did you mean [\d.]+ or [\d.]+\?/g, unclear);
}

function alertFor(status: number): string {
  if (status === 429) return ALERT_ID.limited;
  return status >= 500 ? ALERT_ID.broken : ALERT_ID.failed;
}

function answerError(
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
  options: SendEmailOptions,
) {
  const { meter, store } = options;
  const { statusCode = 500 } = error;
  if (statusCode < 500) {
    const [reason, text] = CLIENT_ERROR[statusCode] ?? ["malformed", "The request could not be read."];
    return refuse(request, reply, options, statusCode, reason, error instanceof InvalidUtf8 ? error.message : text);
  }
  if (error instanceof StoreUnavailable) {
    meter.refused("store-unavailable");
    options.onNotStored();
    request.log.error({ event: "store-unavailable", error: error.message }, "message not stored");
    reply.header("retry-after", RETRY_AFTER_STORE_S);
    const text = "We cannot take messages just now. Please try again in a minute.";
    return answer(request, reply, store.clientKey, 503, { success: false, error: text });
  }
  meter.refused("failure");
  request.log.error({ event: "failure", err: error }, "message not stored");
  const text = "Something went wrong on our side. Please try again.";
  return answer(request, reply, store.clientKey, 500, { success: false, error: text });
}

function sendError(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).header("cache-control", "no-store").send({ success: false, error });
}
