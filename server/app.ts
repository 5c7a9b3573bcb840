import type { RequestListener } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { Config } from "./config.ts";
import { serveHealth } from "./http/health.ts";
import type { HeldSite } from "./http/held-files.ts";
import { createLimitedServer, endConnections, LIMITS, type Limits } from "./http/limits.ts";
import { measured } from "./http/measure-requests.ts";
import { isRead, refuseMethod, refuseOtherMethods } from "./http/methods.ts";
import { heldAnswers, sendFailurePage, servePages } from "./http/pages.ts";
import { answerClientErrors, answerOddRequests, refuseWithoutHost } from "./http/raw-answers.ts";
import { createReadiness, type Readiness } from "./http/readiness.ts";
import { createRequestIds } from "./http/request-ids.ts";
import { sendSecurityHeaders } from "./http/security-headers.ts";
import { acceptMessages } from "./http/send-email.ts";
import { plainError } from "./log.ts";
import type { Store } from "./store/store.ts";
import { type Meter, noMeter } from "./watch/meter.ts";

export interface AppParts {
  config: Config;
  site: HeldSite;
  store: Pick<Store, "accept" | "clientKey" | "ping">;
  /** Where the log's JSON lines go; standard output when not given. */
  logStream?: { write(line: string): void };
  /** Told of every answer; when not given, nobody counts and no request pays for it. */
  meter?: Meter | undefined;
  /** What `/readyz` says. */
  readiness?: Readiness;
  limits?: Limits;
  /** Called after a message to be mailed is on disk. */
  onAccepted(): void;
}

/** The whole product but for the process around it: a test builds it and injects requests. */
export function createApp(parts: AppParts): FastifyInstance {
  const { config, site, store, logStream, meter, readiness = createReadiness(), limits = LIMITS, onAccepted } = parts;
  const answerHeld = heldAnswers(site);
  let isClosing = false;
  const app: FastifyInstance = Fastify({
    serverFactory(answer) {
      const listener: RequestListener = (request, response) => {
        if (refuseWithoutHost(request, response, site.headers)) return;
        // A server that is closing ends its connections, which is Fastify's to do.
        if (isClosing || !answerHeld(request, response)) answer(request, response);
      };
      return createLimitedServer(limits, meter ? measured(listener, meter) : listener);
    },
    logger: { level: config.logLevel, serializers: { err: plainError }, ...(logStream && { stream: logStream }) },
    genReqId: createRequestIds(),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    // What still comes in on an open connection is answered like any other, and the connection then ended.
    return503OnClosing: false,
    // Paths are compared by servePages itself, which must also see those that Fastify cannot decode.
    frameworkErrors: (_error, request, reply) => void sendUndecodable(request, reply.headers(site.headers)),
    clientErrorHandler: answerClientErrors(site.headers),
    bodyLimit: limits.maxBodyBytes,
  });
  const { rateLimits, hourlyLimit } = config;
  const rules = { referencePrefix: site.manifest.site.referencePrefix, rateLimits, hourlyLimit };

  app.addHook("preClose", async () => {
    isClosing = true;
  });
  endConnections(app, limits);
  answerOddRequests(app, site.headers);
  sendSecurityHeaders(app, site.headers);
  refuseOtherMethods(app);
  serveHealth(app, store, readiness);
  acceptMessages(app, { config, store, rules, meter: meter ?? noMeter, onAccepted });
  const sendComingSoon = servePages(app, site);

  const sendUndecodable = (request: FastifyRequest, reply: FastifyReply) =>
    isRead(request) ? sendComingSoon(request, reply) : refuseMethod(request, reply);

  app.setNotFoundHandler(sendComingSoon);
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.code(status).type("text/plain; charset=utf-8").send(`${error.message}\n`);
    request.log.error({ event: "failure", err: error }, "request failed");
    return sendFailurePage(site, reply);
  });
  return app;
}
