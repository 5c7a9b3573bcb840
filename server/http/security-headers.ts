import type { FastifyInstance } from "fastify";

/** On every answer, whatever makes it; a page then puts its own policy in place of the strictest. */
export function sendSecurityHeaders(app: FastifyInstance, headers: Readonly<Record<string, string>>): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}
