import type { IncomingMessage, ServerResponse } from "node:http";
import Fastify, { type FastifyInstance, LogController } from "fastify";
import type { Build } from "./http/build-files.ts";
import { type Readiness, serveHealth } from "./http/health.ts";
import { createLimitedServer } from "./http/limits.ts";
import { createPages, readUrl } from "./http/pages.ts";
import { forOneVisitor, serveReceipt } from "./http/receipt.ts";
import { type SendEmailOptions, serveSendEmail } from "./http/send-email.ts";
import { createDefectLog, plainError } from "./log.ts";
import type { Meter, Route } from "./watch/metrics.ts";

export interface AppOptions extends Omit<SendEmailOptions, "noteDefect"> {
  logStream: { write(line: string): void };
  readiness: Readiness;
}

/** All paths that are not pages: their kind, and their methods if those are not the methods of a page. */
const ROUTES: ReadonlyMap<string, { kind: Route; allow?: string }> = new Map([
  ["/send-email", { kind: "message", allow: "GET, HEAD, OPTIONS, POST" }],
  ["/healthz", { kind: "health" }],
  ["/readyz", { kind: "health" }],
]);

/** The whole website without its process. Pages stand before Fastify, so an injected request does not see them. */
export function createApp(options: AppOptions): FastifyInstance {
  const { config, build, limits, logStream, meter } = options;
  const findRoute = routeFinder(build);
  const answerPage = createPages(build, findRoute);
  const failures = new WeakMap<IncomingMessage, Error>();
  const app: FastifyInstance = Fastify({
    serverFactory: (route) =>
      createLimitedServer(limits, (request, response) => {
        if (meter) countAnswer(request, response, meter);
        try {
          if (answerPage(request, response)) return;
        } catch (error) {
          failures.set(request, error as Error);
        }
        route(request, response);
      }),
    // One reading of an address for pages and routes. No other path has a route.
    rewriteUrl: ({ url = "" }) => findRoute(...readUrl(url)) ?? "/",
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    logger: { level: config.logLevel, serializers: { err: plainError }, stream: logStream },
    logController: new LogController({ disableRequestLogging: true }),
    // No route has a schema, so the start need not load a compiler.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Requests on open connections get normal answers while the server closes.
    return503OnClosing: false,
  });
  const noteDefect = createDefectLog(app.log);

  // Node's own answer to a request that it cannot parse never interrupts another answer.
  app.server.removeAllListeners("clientError");
  // A closing server checks no timeouts, and waits for connections that are idle or hold half a request.
  app.addHook("preClose", async () => {
    setTimeout(() => app.server.closeAllConnections(), limits.closeGraceMs).unref();
    await new Promise((closed) => app.server.close(closed));
  });
  // Runs before the body is read, which may be large, broken or missing.
  app.addHook("onRequest", (request, reply, next) => {
    reply.headers(build.headers);
    const failure = failures.get(request.raw);
    if (failure || !request.is404) return next(failure);
    const [path = ""] = request.url.split("?");
    reply
      .code(405)
      .header("allow", ROUTES.get(path)?.allow ?? "GET, HEAD")
      .type("text/plain; charset=utf-8");
    reply.send("Method not allowed\n");
  });
  app.setErrorHandler((error, _request, reply) => {
    noteDefect(error);
    return forOneVisitor(reply.code(500), build.failure).send(build.failure.variants.identity.body);
  });

  serveHealth(app, options);
  serveReceipt(app, options);
  serveSendEmail(app, { ...options, noteDefect });
  return app;
}

function noCompiler(): never {
  throw new Error("No route has a schema");
}

function routeFinder({ files, contact }: Build) {
  const contactTag = contact.variants.identity.etag;
  return (path: string, query = ""): string | null => {
    if (ROUTES.has(path)) return `${path}?${query}`;
    // By content, because the page has aliases.
    const isReceipt = query.includes("reference=") && files.get(path)?.variants.identity.etag === contactTag;
    return isReceipt ? `/contact?${query}` : null;
  };
}

/** Counts by kind instead of path, because a path may contain anything. */
function countAnswer({ url = "" }: IncomingMessage, response: ServerResponse, meter: Meter): void {
  const startedAtMs = performance.now();
  response.once("close", () => meter.answered(kindOf(url), response.statusCode, performance.now() - startedAtMs));
}

function kindOf(url: string): Route {
  const route = ROUTES.get(readUrl(url)[0]);
  if (route) return route.kind;
  if (url.startsWith("/assets/")) return "asset";
  // The time for a film depends on the visitor's network.
  return url.startsWith("/media/") ? "film" : "page";
}
