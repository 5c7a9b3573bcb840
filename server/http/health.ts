import type { FastifyInstance } from "fastify";
import type { Store } from "../store/store.ts";
import { withinMs } from "../time.ts";
import type { Readiness } from "./readiness.ts";

/** Shorter than those who ask usually wait. */
const STORE_PATIENCE_MS = 2000;

/**
 * `/healthz`: the process answers. `/readyz`: it can also take messages, so a load balancer may send it some. The store
 * was brought up to date before this listens, so one that answers is ready.
 */
export function serveHealth(app: FastifyInstance, store: Pick<Store, "ping">, readiness: Readiness): void {
  app.get("/healthz", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "ok" });
  });

  app.get("/readyz", async (_request, reply) => {
    readiness.noteAsked();
    reply.header("cache-control", "no-store");
    if (readiness.isEnding) return reply.code(503).send({ status: "closing" });
    try {
      await withinMs(STORE_PATIENCE_MS, store.ping());
      return reply.send({ status: "ready" });
    } catch {
      return reply.code(503).send({ status: "store unavailable" });
    }
  });
}
