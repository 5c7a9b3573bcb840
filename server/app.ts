import type { IncomingMessage, ServerResponse } from "node:http";
import Fastify, { type FastifyInstance, LogController } from "fastify";
import { type Readiness, serveHealth } from "./http/health.ts";
import type { Site } from "./http/pages.ts";
import { type SendEmailOptions, serveSendEmail } from "./http/send-email.ts";
import { createDefectLog, plainError } from "./log.ts";
import { channelsOf, rulesOf } from "./store/model.ts";
import type { Store } from "./store/store.ts";
import type { Meter, Route } from "./watch/metrics.ts";

export interface AppOptions extends Omit<SendEmailOptions, "rules" | "noteDefect"> {
  /** May already listen. */
  site: Site;
  store: Pick<Store, "intake" | "messages" | "secret" | "status">;
  logStream: { write(line: string): void };
  readiness: Readiness;
}

/** The whole product without its process, so that a test can create it and inject requests. */
export function createApp(options: AppOptions): FastifyInstance {
  const { config, site, store, logStream, meter, readiness, now = () => new Date() } = options;
  const { build, limits } = site;
  const { rateLimits, hourlyLimit, spamFilter } = config;
  const { referencePrefix } = build.manifest.site;
  const channels = channelsOf(config).filter((channel) => rulesOf(channel).queuedBy === "message");
  const rules = { referencePrefix, rateLimits, hourlyLimit, spamFilter, channels };

  const noteDefect = createDefectLog({ error: (event, text) => app.log.error(event, text) });
  if (meter) site.server.prependListener("request", (...exchange) => countAnswer(...exchange, meter));
  const app: FastifyInstance = Fastify({
    serverFactory: () => site.server,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    logger: { level: config.logLevel, serializers: { err: plainError }, stream: logStream },
    logController: new LogController({ disableRequestLogging: true }),
    // No route has a schema, so the start need not load a compiler.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Requests on open connections get normal answers while the server closes.
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => site.answerRest(request.raw, reply.hijack().raw),
  });

  // Node's own answer to a request that it cannot parse never interrupts another answer.
  app.server.removeAllListeners("clientError");
  app.addHook("onReady", async () => site.serveApi({ listener: app.routing, store, now, noteDefect }));
  // A closing server checks no timeouts, and waits for connections that are idle or hold half a request.
  app.addHook("preClose", async () => {
    setTimeout(() => app.server.closeAllConnections(), limits.closeGraceMs).unref();
    await new Promise((closed) => app.server.close(closed));
  });
  // Runs before the body is read, which may be large, broken or missing.
  app.addHook("onRequest", (request, reply, next) => {
    if (request.is404) site.answerRest(request.raw, reply.hijack().raw);
    else next();
  });
  app.register(async (api) => {
    api.addHook("onRequest", (_request, reply, next) => {
      reply.headers(build.headers);
      next();
    });
    serveHealth(api, store.status, readiness);
    serveSendEmail(api, { ...options, rules, noteDefect });
  });
  app.setErrorHandler((error, _request, reply) => site.answerFailure(reply.hijack().raw, error));
  return app;
}

function noCompiler(): never {
  throw new Error("No route has a schema");
}

/** Counts by kind instead of path, because a path may contain anything. Fastify ignores the same slashes. */
function countAnswer({ url = "" }: IncomingMessage, response: ServerResponse, meter: Meter): void {
  const startedAtMs = performance.now();
  response.once("close", () => meter.answered(routeOf(url), response.statusCode, performance.now() - startedAtMs));
}

function routeOf(url: string): Route {
  if (/^\/+send-email\/*(\?|$)/.test(url)) return "message";
  if (/^\/+(healthz|readyz)\/*(\?|$)/.test(url)) return "health";
  if (url.startsWith("/assets/")) return "asset";
  // The time for a film depends on the visitor's network.
  return url.startsWith("/media/") ? "film" : "page";
}
