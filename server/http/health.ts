import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { withinMs } from "../time.ts";
import type { ReceiptOptions } from "./receipt.ts";

/** Load balancers usually wait longer than this for an answer. */
const STORE_TIMEOUT_MS = 2000;
/** A client that asked within this time is a load balancer and will ask again soon. */
const RECENTLY_ASKED_MS = 15_000;
/** Time for every load balancer to ask again, and for the requests that it forwarded before. */
const NOTICE_MS = 3000;

export class Readiness {
  isStopping = false;
  askedAtMs = Number.NEGATIVE_INFINITY;

  /** Makes `/readyz` fail. Resolves once regular callers had time to notice; at once if there are none. */
  async end(): Promise<void> {
    this.isStopping = true;
    if (performance.now() - this.askedAtMs < RECENTLY_ASKED_MS) await wait(NOTICE_MS);
  }
}

/** `/healthz`: the process answers. `/readyz`: it can also accept messages. */
export function serveHealth(app: FastifyInstance, options: ReceiptOptions & { readiness: Readiness }): void {
  const { openedStore, readiness } = options;
  app.get("/healthz", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "ok" });
  });

  app.get("/readyz", async (_request, reply) => {
    readiness.askedAtMs = performance.now();
    reply.header("cache-control", "no-store");
    if (readiness.isStopping) return reply.code(503).send({ status: "closing" });
    try {
      const ping = openedStore().then(({ status }) => status.ping());
      await withinMs(STORE_TIMEOUT_MS, ping, () => new Error("no answer"));
      return reply.send({ status: "ready" });
    } catch {
      return reply.code(503).send({ status: "store unavailable" });
    }
  });
}
