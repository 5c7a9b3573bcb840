import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, LogController } from "fastify";
import type { Build } from "./http/build-files.ts";
import { createReadiness, type Readiness, serveHealth } from "./http/health.ts";
import { answerClientErrors, createLimitedServer, endConnectionsOnClose, LIMITS, type Limits } from "./http/limits.ts";
import { servePages } from "./http/pages.ts";
import { acceptMessages, type SendEmailOptions } from "./http/send-email.ts";
import { plainError } from "./log.ts";
import type { Store } from "./store/open-store.ts";
import { channelsOf, rulesOf } from "./store/store.ts";
import type { Meter, Route } from "./watch/metrics.ts";

export interface AppOptions
  extends Pick<SendEmailOptions, "config" | "onStored">,
    Partial<Pick<SendEmailOptions, "meter" | "now" | "onNotStored">> {
  build: Build;
  store: Pick<Store, "intake" | "messages" | "secret" | "status">;
  /** Receives the log's JSON lines; standard output by default. */
  logStream?: { write(line: string): void };
  /** The state behind `/readyz`. */
  readiness?: Readiness;
  limits?: Limits;
}

/** The whole product without its process, so that a test can create it and inject requests. */
export function createApp(options: AppOptions): FastifyInstance {
  const { config, build, store, logStream, meter, readiness = createReadiness(), limits = LIMITS, onStored } = options;
  const { now = () => new Date(), onNotStored = () => {} } = options;
  const { rateLimits, hourlyLimit, spamFilter } = config;
  const { referencePrefix } = build.manifest.site;
  const channels = channelsOf(config).filter((channel) => rulesOf(channel).queuedBy === "message");
  const rules = { referencePrefix, rateLimits, hourlyLimit, spamFilter, channels };

  const app: FastifyInstance = Fastify({
    serverFactory: (listener) => createLimitedServer(limits, build.headers, listener),
    clientErrorHandler: answerClientErrors(build.headers),
    bodyLimit: limits.maxBodyBytes,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    logger: { level: config.logLevel, serializers: { err: plainError }, ...(logStream && { stream: logStream }) },
    logController: new LogController({ disableRequestLogging: true }),
    // Request ids for the log, which clients cannot choose.
    genReqId: () => randomUUID(),
    // While the server closes, requests on open connections get normal answers.
    return503OnClosing: false,
    // Called for paths that cannot be decoded.
    frameworkErrors: (_error, request, reply) => pages.answerUnknown(request, reply),
  });

  endConnectionsOnClose(app, limits);
  if (meter) countAnswers(app, meter);
  const pages = servePages(app, { build, store, now });
  app.register(async (api) => {
    api.addHook("onRequest", (_request, reply, next) => {
      reply.headers(build.headers);
      next();
    });
    serveHealth(api, store.status, readiness);
    const { electricity } = build.manifest;
    const { answerRefusal } = pages;
    acceptMessages(api, {
      config,
      store,
      rules,
      electricity,
      limits,
      meter,
      now,
      onStored,
      onNotStored,
      answerRefusal,
    });
  });
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ event: "failure", err: error }, "request failed");
    pages.answerFailure(reply);
  });
  return app;
}

/** Counts every answer once it is sent, by kind instead of path, because a path may contain anything. */
function countAnswers(app: FastifyInstance, meter: Meter): void {
  app.addHook("onResponse", (request, { statusCode, elapsedTime }, next) => {
    // A prefetch that pages.ts refuses is not a failure.
    const isRefusedAhead = statusCode === 503 && request.headers["sec-purpose"] !== undefined;
    if (!isRefusedAhead) meter.answered(routeOf(request.url), statusCode, elapsedTime);
    next();
  });
}

function routeOf(url: string): Route {
  if (/^\/send-email(\?|$)/.test(url)) return "message";
  if (/^\/(healthz|readyz)(\?|$)/.test(url)) return "health";
  if (url.startsWith("/assets/")) return "asset";
  // The time for a film depends on the visitor's network and would distort the figures for pages.
  return url.startsWith("/media/") ? "film" : "page";
}
