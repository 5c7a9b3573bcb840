import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Status } from "../store/status.ts";
import { withinMs } from "../time.ts";

/** Load balancers usually wait longer than this for an answer. */
const STORE_TIMEOUT_MS = 2000;
/** A client that asked within this time is a load balancer and will ask again soon. */
const RECENTLY_ASKED_MS = 15_000;
/** Time for every load balancer to ask again, and for the requests that it forwarded before. */
const NOTICE_MS = 3000;

export type Readiness = ReturnType<typeof createReadiness>;

export function createReadiness() {
  let isStopping = false;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return {
    get isStopping(): boolean {
      return isStopping;
    },
    noteAsked(): void {
      askedAtMs = performance.now();
    },
    /** Makes `/readyz` fail. Resolves once regular callers had time to notice; at once if there are none. */
    async end(): Promise<void> {
      isStopping = true;
      if (performance.now() - askedAtMs < RECENTLY_ASKED_MS) await wait(NOTICE_MS);
    },
  };
}

/** `/healthz`: the process answers. `/readyz`: it can also accept messages. */
export function serveHealth(app: FastifyInstance, status: Pick<Status, "ping">, readiness: Readiness): void {
  app.get("/healthz", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "ok" });
  });

  app.get("/readyz", async (_request, reply) => {
    readiness.noteAsked();
    reply.header("cache-control", "no-store");
    if (readiness.isStopping) return reply.code(503).send({ status: "closing" });
    try {
      await withinMs(STORE_TIMEOUT_MS, status.ping(), () => new Error("no answer"));
      return reply.send({ status: "ready" });
    } catch {
      return reply.code(503).send({ status: "store unavailable" });
    }
  });
}
