import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FAILURE_PAGE, NOT_FOUND_PAGE } from "../../contract/build-manifest.ts";
import { CACHE_CONTROL } from "../../contract/response-headers.ts";
import { REFERENCE_PARAMETER, REFERENCE_PATTERN, REFERENCE_SLOT_ID } from "../../contract/send-email-answer.ts";
import type { HeldFile, HeldSite, MediaFile } from "./held-files.ts";
import { chooseEncoding, chooseRange, isUnchanged } from "./negotiate.ts";

/** Where a missing file is a plain 404: a program asked for it, not a person. */
const TECHNICAL_PATH =
  /^\/(assets|media)\/|^\/favicon\.[^/]*$|^\/(robots\.txt|sitemap\.xml|carbon\.txt|countries\.json|site\.webmanifest|\.well-known\/security\.txt)$/;

/** Pages for where there is none: they are answers, not addresses. */
const STAND_INS: readonly string[] = [`/${NOT_FOUND_PAGE}`, `/${FAILURE_PAGE}`];

type Send = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/**
 * Answers a GET or HEAD for a file that is held, and says whether it did. It stands before the framework, whose routing
 * and reply would cost more than the answer itself. Any other way of writing a path is left to servePages.
 */
export function heldAnswers(site: HeldSite): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const file = addressed(site, request.url ?? "");
    if (!file) return false;
    sendHeld(site, file, request, response);
    return true;
  };
}

/**
 * Answers every GET and HEAD that nothing else answers: a page, a file, a film, or Coming Soon. Gives what sends the
 * latter, for requests that reach no route.
 */
export function servePages(app: FastifyInstance, site: HeldSite): Send {
  const comingSoon = pageOf(site, NOT_FOUND_PAGE);

  app.get("/*", (request, reply) => {
    const { path, query } = splitUrl(request.raw.url ?? "/");
    const file = addressed(site, path);
    if (file)
      return sentPage(file, query, reply) ?? hijacked(reply, () => sendHeld(site, file, request.raw, reply.raw));
    const film = site.media.get(path);
    if (film) return sendMedia(film, request, reply);
    if (TECHNICAL_PATH.test(path)) return reply.code(404).type("text/plain; charset=utf-8").send("Not found\n");
    return sendComingSoon(request, reply);
  });

  /** The screen for every path that has none. */
  function sendComingSoon(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return hijacked(reply, () => sendHeld(site, comingSoon, request.raw, reply.raw));
  }

  return sendComingSoon;
}

function hijacked(reply: FastifyReply, send: () => void): FastifyReply {
  reply.hijack();
  send();
  return reply;
}

function addressed(site: HeldSite, path: string): HeldFile | undefined {
  return STAND_INS.includes(path) ? undefined : site.files.get(path);
}

/** The page that says that the server itself failed. */
export function sendFailurePage(site: HeldSite, reply: FastifyReply): FastifyReply {
  const { contentType, variants, policy } = pageOf(site, FAILURE_PAGE);
  return reply
    .code(500)
    .header("content-security-policy", policy)
    .header("cache-control", "no-store")
    .type(contentType)
    .send(variants.identity.body);
}

function pageOf(site: HeldSite, name: string): HeldFile {
  const page = site.files.get(`/${name}`);
  if (!page) throw new Error(`The build lacks ${name}; run: npm run build`);
  return page;
}

/** The decoded path without trailing slashes; as it came when it cannot be decoded, and so no file's. */
export function splitUrl(url: string): { path: string; query: string } {
  const [, raw = "/", query = ""] = /^(?:[a-z]+:\/\/[^/?]*)?([^?#]*)\??([^#]*)/i.exec(url) ?? [];
  const trimmed = raw.replace(/\/+$/, "") || "/";
  try {
    return { path: trimmed.includes("%") ? decodeURIComponent(trimmed) : trimmed, query };
  } catch {
    return { path: trimmed, query };
  }
}

function sendHeld(site: HeldSite, file: HeldFile, request: IncomingMessage, response: ServerResponse): void {
  if (isUnwantedSpeculation(request)) {
    response.writeHead(503, { ...site.headers, "cache-control": "no-store", "content-length": 0 }).end();
    return;
  }
  const encoding = file.isCompressed ? chooseEncoding(request.headers["accept-encoding"]) : "identity";
  const chosen = (savesData(request) && file.savingData) || file;
  const { body, etag, headers, unchangedHeaders } = chosen.variants[encoding];
  if (isUnchanged(request.headers["if-none-match"], etag)) response.writeHead(304, unchangedHeaders).end();
  else response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : body);
}

/** Fetched ahead of a visit that may never be, for somebody who saves data. A failure makes browsers forget it. */
function isUnwantedSpeculation(request: IncomingMessage): boolean {
  return request.headers["sec-purpose"] !== undefined && savesData(request);
}

function savesData({ headers }: IncomingMessage): boolean {
  return headers["save-data"] === "on";
}

/** After a post without script: the contact page with its reference written in. Undefined for any other request. */
function sentPage(file: HeldFile, query: string, reply: FastifyReply): FastifyReply | undefined {
  if (file.kind !== "page" || query === "") return undefined;
  const reference = new URLSearchParams(query).get(REFERENCE_PARAMETER) ?? "";
  const slot = `<span id="${REFERENCE_SLOT_ID}">`;
  const html = REFERENCE_PATTERN.test(reference) ? file.variants.identity.body.toString() : "";
  if (!html.includes(slot)) return undefined;
  return reply
    .header("cache-control", "no-store")
    .header("content-type", file.contentType)
    .header("content-security-policy", file.policy)
    .send(html.replace(slot, `${slot}Your reference is <b>${reference}</b>.`));
}

function sendMedia(file: MediaFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { path, sizeBytes, etag, contentType } = file;
  reply.header("accept-ranges", "bytes").header("cache-control", CACHE_CONTROL[file.cache]).header("etag", etag);
  if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const ifRange = request.headers["if-range"];
  const range = chooseRange(ifRange === undefined || ifRange === etag ? request.headers.range : undefined, sizeBytes);
  if (range.kind === "unsatisfiable") return reply.code(416).header("content-range", `bytes */${sizeBytes}`).send();
  const { start, end } = range.kind === "part" ? range : { start: 0, end: sizeBytes - 1 };
  if (range.kind === "part") reply.code(206).header("content-range", `bytes ${start}-${end}/${sizeBytes}`);
  reply.header("content-type", contentType).header("content-length", end - start + 1);
  return reply.send(createReadStream(path, { start, end }));
}
