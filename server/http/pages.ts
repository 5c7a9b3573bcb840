import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { errorSlot, FAILURE_PAGE, NOT_FOUND_PAGE, TECHNICAL_PATH } from "../../contract/build-manifest.ts";
import { countryName } from "../../contract/country-name.ts";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import { reportHtml } from "../../contract/footprint/report.ts";
import { problemsOf, problemsTitle, type SendEmailAnswer } from "../../contract/send-email-answer.ts";
import type { Store } from "../store/open-store.ts";
import { MINUTE_MS } from "../time.ts";
import { loadAnswerPages } from "./answer-pages.ts";
import type { Build, ServedFile } from "./build-files.ts";
import { chooseEncoding, chooseRange, isUnchanged } from "./negotiate.ts";
import { readSent } from "./sent-result.ts";

/** How long the page shows the estimate after a post without script. */
const ESTIMATE_SHOWN_MS = 10 * MINUTE_MS;

type Refused = SendEmailAnswer & { success: false };
type Values = Readonly<Record<string, string>>;

interface PagesOptions {
  build: Build;
  store: Pick<Store, "messages" | "secret">;
  now(): Date;
}

/** Adds a route for each page and file of the build. Returns the responses for unknown paths and for failures. */
export function servePages(app: FastifyInstance, options: PagesOptions) {
  const { build, store } = options;
  const comingSoon = pageNamed(build, NOT_FOUND_PAGE);
  const failure = pageNamed(build, FAILURE_PAGE);
  const contact = pageNamed(build, "contact");
  const answers = loadAnswerPages(build.manifest.answers);

  /** Coming Soon, a missing file, or a method that is not allowed. */
  function answerUnknown(request: FastifyRequest, reply: FastifyReply): void {
    const path = pathOf(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      const allow = path === "/send-email" ? "OPTIONS, POST" : "GET, HEAD";
      sendText(reply.raw, 405, "Method not allowed\n", { ...build.headers, allow });
    } else if (TECHNICAL_PATH.test(path)) {
      sendText(reply.raw, 404, "Not found\n", build.headers);
    } else {
      sendFile(reply.raw, comingSoon, build.headers);
    }
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
  async function sendConfirmation(reply: FastifyReply, file: ServedFile, query: URLSearchParams): Promise<void> {
    const reference = readSent(query, store.secret);
    if (reference === null) return sendFile(reply.raw, file, build.headers);
    const estimate = await findEstimate(reference, options);
    const answer: SendEmailAnswer = {
      success: true,
      reference,
      ...(estimate && { footprint: { totalKg: estimate.totalKg } }),
    };
    const slots = {
      answer: JSON.stringify(answer),
      reference,
      total: estimate ? unbroken(formatTotal(estimate.totalKg)) : "",
      report: estimate?.html ?? "",
    };
    sendHtml(reply.raw, 200, contact, answers(estimate ? "estimated" : "sent", slots));
  }

  /**
   * The contact page as the answer to a refused post without script. `values` stand in its fields; undefined if the
   * body could not be read.
   */
  function answerRefusal(reply: FastifyReply, status: number, answer: Refused, values?: Values): void {
    const { start } = build.manifest.answers;
    const errors = Object.entries(answer.fields ?? {}).filter(([name]) => name in start);
    const others = problemsOf(answer.fields ?? {}).flatMap(([name, sentence]) => (name in start ? [] : sentence));
    const reason = status === 400 ? "Your message could not be read." : [answer.error, ...others].join(" ");
    const rest = values ? "Nothing you typed is lost." : "Go back one page to find what you typed.";
    const error = `${reason} ${rest}`;
    const typed = Object.entries(values ?? {}).filter(([name]) => name in start);
    const slots = {
      ...Object.fromEntries(typed),
      ...Object.fromEntries(errors.map(([name, sentence]) => [errorSlot(name), sentence])),
      error,
      problems: problemsTitle(errors.length),
      answer: JSON.stringify({ success: false, error, fields: Object.fromEntries(errors) }),
    };
    const page = errors.length > 0 ? "invalid" : "failed";
    sendHtml(reply.hijack().raw, status, contact, answers(page, slots), reply.getHeaders());
  }

  app.register(async (scope) => {
    // No logger per request: pages log nothing, and creating a logger takes longer than finding the route.
    scope.setChildLoggerFactory((logger) => logger);
    for (const file of build.files.values()) {
      // These two replace other paths and have no path of their own.
      if (file === comingSoon || file === failure) continue;
      const isContact = file.variants.identity.etag === contact.variants.identity.etag;
      scope.get(file.url, (request, reply) => {
        const query = isContact && request.url.split("?")[1];
        if (query) return sendConfirmation(reply, file, new URLSearchParams(query));
        return sendFile(reply.raw, file, build.headers);
      });
    }
    // Runs before the body is read, which may be large, broken or missing.
    scope.addHook("onRequest", (request, reply, next) => {
      if (request.method === "GET" || request.method === "HEAD") next();
      else answerUnknown(request, reply);
    });
    scope.setNotFoundHandler(answerUnknown);
  });

  return {
    answerUnknown,
    answerFailure: (reply: FastifyReply) => sendHtml(reply.raw, 500, failure, [failure.variants.identity.body]),
    answerRefusal,
  };
}

/** Null if there is no estimate, more than ten minutes after the message, and while the store is unavailable. */
async function findEstimate(reference: string, { build, store, now }: PagesOptions) {
  const message = await store.messages.find(reference).catch(() => null);
  if (!message?.footprint || now().getTime() - message.acceptedAt.getTime() > ESTIMATE_SHOWN_MS) return null;
  const { country, acceptedAt: date, footprint } = message;
  const sent = { inputs: footprint.inputs, country, countryName: countryName(country), reference, date };
  const { electricity, site } = build.manifest;
  return { totalKg: footprint.totalKg, html: reportHtml(sent, electricity, site.pricePerTonne) };
}

function pageNamed(build: Build, name: string): ServedFile {
  const page = build.files.get(`/${name}`);
  if (!page) throw new Error(`The build lacks ${name}; run: npm run build`);
  return page;
}

/** The decoded path without its trailing slash. A path that cannot be decoded has no parameters and stays as sent. */
function pathOf({ params, url }: FastifyRequest): string {
  const rest = (params as { "*"?: string } | null)?.["*"];
  return (rest === undefined ? (url.split("?")[0] ?? "") : `/${rest}`).replace(/(.)\/$/, "$1");
}

function sendFile(response: ServerResponse, file: ServedFile, sharedHeaders: Build["headers"]): void {
  const { headers: asked } = response.req;
  const savesData = asked["save-data"] === "on";
  const encoding = file.isCompressed ? chooseEncoding(asked["accept-encoding"]) : "identity";
  const { body, etag, headers, unchangedHeaders } = ((savesData && file.saveData) || file).variants[encoding];
  if (savesData && asked["sec-purpose"] !== undefined) {
    // Refuses prefetching for visitors who save data. Browsers discard a failed prefetch.
    send(response, 503, { ...sharedHeaders, "cache-control": "no-store", "content-length": "0" });
  } else if (isUnchanged(asked["if-none-match"], etag)) send(response, 304, unchangedHeaders);
  else if (file.isFilm && asked.range !== undefined) sendRange(response, file, asked.range);
  else send(response, 200, headers, body);
}

/** Sends the requested part of a film, or all of it if the client has parts of another version. */
function sendRange(response: ServerResponse, film: ServedFile, rangeHeader: string): void {
  const { body, etag, headers, unchangedHeaders } = film.variants.identity;
  const ifRange = response.req.headers["if-range"];
  const range = chooseRange(ifRange === undefined || ifRange === etag ? rangeHeader : undefined, body.length);
  if (range.kind === "all") {
    send(response, 200, headers, body);
  } else if (range.kind === "unsatisfiable") {
    send(response, 416, [...unchangedHeaders, "content-range", `bytes */${body.length}`, "content-length", "0"]);
  } else {
    const part = body.subarray(range.start, range.end + 1);
    const position = ["content-range", `bytes ${range.start}-${range.end}/${body.length}`];
    const content = ["content-type", film.contentType, "content-length", String(part.length)];
    send(response, 206, [...unchangedHeaders, ...position, ...content], part);
  }
}

function sendText(response: ServerResponse, status: number, text: string, headers: Build["headers"]): void {
  const content = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
  send(response, status, { ...headers, ...content }, Buffer.from(text));
}

/**
 * Writes to Node's own response, because the headers of a file are ready to send. Fastify's reply would copy them one
 * by one, which costs a tenth of the pages per second.
 */
function send(response: ServerResponse, status: number, headers: string[] | Build["headers"], body?: Buffer): void {
  response.writeHead(status, headers).end(response.req.method === "HEAD" ? undefined : body);
}
