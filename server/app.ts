import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, LogController } from "fastify";
import type { Config } from "./config.ts";
import { createReadiness, type Readiness, serveHealth } from "./http/health.ts";
import {
  answerClientErrors,
  createLimitedServer,
  endConnectionsOnClose,
  LIMITS,
  type Limits,
  requireHost,
} from "./http/limits.ts";
import { createPages, splitUrl } from "./http/pages.ts";
import { acceptMessages } from "./http/send-email.ts";
import type { Site } from "./http/site-files.ts";
import { plainError } from "./log.ts";
import type { Store } from "./store/store.ts";
import { type Meter, noMeter, type Route } from "./watch/meter.ts";

export interface AppParts {
  config: Config;
  site: Site;
  store: Pick<Store, "accept" | "clientKey" | "ping">;
  /** Receives the log's JSON lines; standard output by default. */
  logStream?: { write(line: string): void };
  /** Counts every answer; without it no request pays for counting. */
  meter?: Meter | undefined;
  /** What `/readyz` says. */
  readiness?: Readiness;
  limits?: Limits;
  /** Called after a message is on disk. */
  onStored(state: "queued" | "quarantined"): void;
}

/** All that Fastify serves; every other path is answered by pages.ts. */
const API_PATHS: ReadonlySet<string> = new Set(["/send-email", "/healthz", "/readyz"]);

/** The whole product but for the process around it: a test creates it and injects requests. */
export function createApp(parts: AppParts): FastifyInstance {
  const { config, site, store, logStream, meter, readiness = createReadiness(), limits = LIMITS, onStored } = parts;
  const { rateLimits, hourlyLimit } = config;
  const { referencePrefix } = site.manifest.site;
  const rules = { referencePrefix, rateLimits, hourlyLimit, postsHook: config.hook !== null };
  const pages = createPages(site);

  const answerPage: RequestListener = (request, response) => {
    try {
      pages.answer(request, response);
    } catch (error) {
      app.log.error({ event: "failure", err: error }, "request failed");
      pages.answerFailure(response);
    }
  };

  /** For requests without a route: another method on an API path, or a page that a test injects into Fastify. */
  function answerAsPage(reply: FastifyReply): void {
    reply.hijack();
    answerPage(reply.request.raw, reply.raw);
  }

  const app: FastifyInstance = Fastify({
    serverFactory(answerApi) {
      const listener: RequestListener = (request, response) => {
        if (!requireHost(request, response, site.headers)) return;
        const { path } = splitUrl(request.url ?? "/");
        if (API_PATHS.has(path)) answerApi(request, response);
        else answerPage(request, response);
      };
      return createLimitedServer(limits, site.headers, meter ? measured(listener, meter) : listener);
    },
    clientErrorHandler: answerClientErrors(site.headers),
    bodyLimit: limits.maxBodyBytes,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    logger: { level: config.logLevel, serializers: { err: plainError }, ...(logStream && { stream: logStream }) },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    // Requests on connections that are still open are answered like any other while the server closes.
    return503OnClosing: false,
    // Called for paths that cannot be decoded.
    frameworkErrors: (_error, _request, reply) => answerAsPage(reply),
  });

  endConnectionsOnClose(app, limits);
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) {
      // Here rather than in a handler, which is called only after the body is read.
      answerAsPage(reply);
    } else {
      reply.headers(site.headers);
      done();
    }
  });
  serveHealth(app, store, readiness);
  const { electricity } = site.manifest;
  acceptMessages(app, { config, store, rules, electricity, meter: meter ?? noMeter, onStored });
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ event: "failure", err: error }, "request failed");
    reply.hijack();
    pages.answerFailure(reply.raw);
  });
  return app;
}

/** The same listener, but every answer is counted once it is sent, by kind: a path may contain anything. */
function measured(listener: RequestListener, meter: Meter): RequestListener {
  return (request, response) => {
    const startMs = performance.now();
    response.once("finish", () => {
      // A page that pages.ts refuses to load ahead of a visit is no failure.
      if (response.statusCode === 503 && request.headers["sec-purpose"] !== undefined) return;
      meter.answered(routeOf(request.url ?? ""), response.statusCode, performance.now() - startMs);
    });
    listener(request, response);
  };
}

function routeOf(url: string): Route {
  if (/^\/send-email(\?|$)/.test(url)) return "message";
  if (/^\/(healthz|readyz)(\?|$)/.test(url)) return "health";
  if (url.startsWith("/assets/")) return "asset";
  // A film takes as long as the visitor's network: its times would hide those of the pages.
  return url.startsWith("/media/") ? "film" : "page";
}

/** Ids of requests in the log, unique across restarts and nodes. Clients cannot choose them. */
function createRequestIds(): () => string {
  const run = randomBytes(6).toString("base64url");
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count}`;
  };
}
