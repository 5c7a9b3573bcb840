import type { FastifyInstance } from "fastify";
import type { Store } from "../store/store.ts";

/** `/healthz`: the process answers. `/readyz`: it can also take messages, so a load balancer may send it some. */
export function serveHealth(app: FastifyInstance, store: Pick<Store, "ping">): void {
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });

  app.get("/healthz", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "ok" });
  });

  app.get("/readyz", async (_request, reply) => {
    reply.header("cache-control", "no-store");
    if (isClosing) return reply.code(503).send({ status: "closing" });
    try {
      await store.ping();
      return reply.send({ status: "ready" });
    } catch {
      return reply.code(503).send({ status: "store unavailable" });
    }
  });
}
