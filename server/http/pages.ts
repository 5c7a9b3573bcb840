import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { FAILURE_PAGE, TECHNICAL_PATH } from "../../contract/build-manifest.ts";
import type { Build, Encoding, ServedFile } from "./build-files.ts";

/**
 * Answers every GET and HEAD except those for a route, and returns whether it did. It stands before Fastify, because
 * pages are most of the requests and need nothing of it. `findRoute`: the URL as the router knows it, if it has a route.
 */
export function createPages(build: Build, findRoute: (path: string, query?: string) => string | null) {
  const files = new Map(build.files);
  files.delete(`/${FAILURE_PAGE}`);
  const body = Buffer.from("Not found\n");
  const content = { "content-type": "text/plain; charset=utf-8", "content-length": String(body.length) };
  const missing = { status: 404, headers: Object.entries({ ...build.headers, ...content }).flat(), body };

  return ({ method, url = "", headers }: IncomingMessage, response: ServerResponse): boolean => {
    if (method !== "GET" && method !== "HEAD") return false;
    let file = files.get(url);
    if (!file) {
      const [path, query] = readUrl(url);
      if (findRoute(path, query) !== null) return false;
      file = files.get(path) ?? (TECHNICAL_PATH.test(path) ? undefined : build.comingSoon);
    }
    const answer = file ? chooseAnswer(file, headers) : missing;
    response.writeHead(answer.status, answer.headers).end(method === "HEAD" ? undefined : answer.body);
    return true;
  };
}

/** The decoded path without trailing and repeated slashes. A path that cannot be decoded stays as sent. */
export function readUrl(url: string): [path: string, query?: string | undefined] {
  // A proxy may send the whole URL.
  const [, sent = "", query] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  let path = sent;
  try {
    path = decodeURI(sent);
  } catch {}
  return [path.replaceAll(/\/{2,}/g, "/").replace(/(.)\/$/, "$1"), query];
}

/** The variant, the range and the status that the client asks for. */
export function chooseAnswer(file: ServedFile, asked: IncomingHttpHeaders) {
  const encoding = file.isCompressed ? chooseEncoding(asked["accept-encoding"]) : "identity";
  const { body, etag, headers, unchangedHeaders } = file.variants[encoding];
  // A list may contain several tags, and a proxy may have made ours weak.
  if (asked["if-none-match"]?.includes(etag)) return { status: 304, headers: unchangedHeaders };
  // A client that has parts of another version gets the whole film.
  const isSame = asked["if-range"] === undefined || asked["if-range"] === etag;
  const range = file.isFilm && isSame ? chooseRange(asked.range, body.length) : null;
  if (!range) return { status: 200, headers, body };
  const part = body.subarray(range.start, range.end + 1);
  const position = ["content-range", `bytes ${range.start}-${range.end}/${body.length}`];
  const content = ["content-type", file.contentType, "content-length", String(part.length)];
  return { status: 206, headers: [...unchangedHeaders, ...position, ...content], body: part };
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
