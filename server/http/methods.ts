import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Refuses a method that no route knows, before a byte of the body is read. */
export function refuseOtherMethods(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 && !isRead(request)) refuseMethod(request, reply);
    else done();
  });
}

export function isRead({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

export function refuseMethod(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allow = request.url.split("?")[0] === "/send-email" ? "OPTIONS, POST" : "GET, HEAD";
  return reply.code(405).header("allow", allow).type("text/plain; charset=utf-8").send("Method not allowed\n");
}
