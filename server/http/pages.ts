import type { IncomingMessage, ServerResponse } from "node:http";
import { FAILURE_PAGE, NOT_FOUND_PAGE } from "../../contract/build-manifest.ts";
import { formatTotal } from "../../contract/footprint-fields.ts";
import {
  FOOTPRINT_PARAMETER,
  FOOTPRINT_PATTERN,
  REFERENCE_PARAMETER,
  REFERENCE_PATTERN,
  REFERENCE_SLOT_ID,
} from "../../contract/send-email-answer.ts";
import { chooseEncoding, chooseRange, isUnchanged } from "./negotiate.ts";
import type { Site, SiteFile } from "./site-files.ts";

/** Where a missing file is a plain 404: a program asked for it, not a person. */
const TECHNICAL_PATH =
  /^\/(assets|media)\/|^\/favicon\.[^/]*$|^\/(robots\.txt|sitemap\.xml|carbon\.txt|countries\.json|site\.webmanifest|\.well-known\/security\.txt)$/;

/** Nothing to decode or cut off. Nearly all requests are like this, and need no parsing. */
const PLAIN_PATH = /^\/(?:[^?#%]*[^?#%/])?$/;

export interface Pages {
  /** Answers any request: with a page, a file, a film, Coming Soon, or a refusal. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  /** Answers with the page that says that the server itself failed. */
  answerFailure(response: ServerResponse): void;
}

/**
 * The one place that answers everything but the API. It works on Node's own request and response because it stands
 * before the framework, whose routing and reply would cost more than the response itself.
 */
export function createPages(site: Site): Pages {
  const comingSoon = pageNamed(site, NOT_FOUND_PAGE);
  const failure = pageNamed(site, FAILURE_PAGE);
  // These two stand in for other paths and have none of their own.
  const files = new Map(site.files);
  for (const { url } of [comingSoon, failure]) files.delete(url);

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = "/" } = request;
    const { path, query } = splitUrl(url);
    const file = files.get(path);
    if (method !== "GET" && method !== "HEAD") {
      // The body is not read, be it large, broken or never sent.
      const allow = url.split("?")[0] === "/send-email" ? "OPTIONS, POST" : "GET, HEAD";
      sendText(response, 405, "Method not allowed\n", { allow });
    } else if (file) {
      const html = query === "" ? null : withReference(file, query);
      if (html) sendHtml(response, 200, file, html);
      else sendFile(response, file);
    } else if (TECHNICAL_PATH.test(path)) {
      sendText(response, 404, "Not found\n");
    } else {
      sendFile(response, comingSoon);
    }
  }

  function answerFailure(response: ServerResponse): void {
    if (response.headersSent) response.destroy();
    else sendHtml(response, 500, failure, failure.variants.identity.body);
  }

  function sendFile(response: ServerResponse, file: SiteFile): void {
    const { headers: asked } = response.req;
    const savesData = asked["save-data"] === "on";
    const encoding = file.isCompressed ? chooseEncoding(asked["accept-encoding"]) : "identity";
    const { body, etag, headers, unchangedHeaders } = ((savesData && file.saveData) || file).variants[encoding];
    if (savesData && asked["sec-purpose"] !== undefined) {
      // Loaded ahead of a visit that may never happen, for somebody who saves data. Browsers drop what failed.
      send(response, 503, { ...site.headers, "cache-control": "no-store", "content-length": "0" });
    } else if (isUnchanged(asked["if-none-match"], etag)) send(response, 304, unchangedHeaders);
    else if (file.isFilm && asked.range !== undefined) sendRange(response, file, asked.range);
    else send(response, 200, headers, body);
  }

  /** A page for this one visitor or moment, which nobody may keep. */
  function sendHtml(response: ServerResponse, status: number, page: SiteFile, html: Buffer): void {
    const headers = {
      ...site.headers,
      ...(page.policy && { "content-security-policy": page.policy }),
      "cache-control": "no-store",
      "content-type": page.contentType,
      "content-length": String(html.length),
    };
    send(response, status, headers, html);
  }

  function sendText(
    response: ServerResponse,
    status: number,
    text: string,
    headers: Record<string, string> = {},
  ): void {
    const type = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
    send(response, status, { ...site.headers, ...type, ...headers }, Buffer.from(text));
  }

  return { answer, answerFailure };
}

function pageNamed(site: Site, name: string): SiteFile {
  const page = site.files.get(`/${name}`);
  if (!page) throw new Error(`The build lacks ${name}; run: npm run build`);
  return page;
}

/** The decoded path without trailing slashes; unchanged if it cannot be decoded, and then it is no file's. */
export function splitUrl(url: string): { path: string; query: string } {
  if (PLAIN_PATH.test(url)) return { path: url, query: "" };
  const [, raw = "/", query = ""] = /^(?:[a-z]+:\/\/[^/?]*)?([^?#]*)\??([^#]*)/i.exec(url) ?? [];
  const trimmed = raw.replace(/\/+$/, "") || "/";
  try {
    return { path: trimmed.includes("%") ? decodeURIComponent(trimmed) : trimmed, query };
  } catch {
    return { path: trimmed, query };
  }
}

/** After a post without script: the contact page with reference and estimate filled in. Null for any other request. */
function withReference(file: SiteFile, query: string): Buffer | null {
  if (file.kind !== "page") return null;
  const parameters = new URLSearchParams(query);
  const reference = parameters.get(REFERENCE_PARAMETER) ?? "";
  if (!REFERENCE_PATTERN.test(reference)) return null;
  const totalKg = parameters.get(FOOTPRINT_PARAMETER) ?? "";
  const estimate = FOOTPRINT_PATTERN.test(totalKg) ? ` Your estimate: ${formatTotal(Number(totalKg))}.` : "";
  const html = file.variants.identity.body.toString();
  const slot = `<span id="${REFERENCE_SLOT_ID}">`;
  const words = `Your reference is <b>${reference}</b>.${estimate}`;
  return html.includes(slot) ? Buffer.from(html.replace(slot, `${slot}${words}`)) : null;
}

/** Sends the part of a film that was asked for; all of it if the client has the rest of another version. */
function sendRange(response: ServerResponse, film: SiteFile, rangeHeader: string): void {
  const { body, etag, headers, unchangedHeaders } = film.variants.identity;
  const ifRange = response.req.headers["if-range"];
  const range = chooseRange(ifRange === undefined || ifRange === etag ? rangeHeader : undefined, body.length);
  if (range.kind === "all") {
    send(response, 200, headers, body);
  } else if (range.kind === "unsatisfiable") {
    const place = ["content-range", `bytes */${body.length}`, "content-length", "0"];
    send(response, 416, [...unchangedHeaders, ...place]);
  } else {
    const part = body.subarray(range.start, range.end + 1);
    const place = ["content-range", `bytes ${range.start}-${range.end}/${body.length}`];
    const content = ["content-type", film.contentType, "content-length", String(part.length)];
    send(response, 206, [...unchangedHeaders, ...place, ...content], part);
  }
}

function send(
  response: ServerResponse,
  status: number,
  headers: string[] | Record<string, string>,
  body?: Buffer,
): void {
  response.writeHead(status, headers).end(response.req.method === "HEAD" ? undefined : body);
}
