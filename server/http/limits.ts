import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";

// `import` reads every property of a module of Node. In this one that loads `fetch`, which makes the start slower.
const { createServer }: typeof import("node:http") = createRequire(import.meta.url)("node:http");

/** The resources of this process that one client, or all clients together, can use. Tests pass smaller limits. */
export const LIMITS = {
  /** For the request line and headers, counted from the start of the connection. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  /** A proxy must close idle connections sooner, or it may reuse one that is already closed. */
  keepAliveTimeoutMs: 5_000,
  /** For a client that does not read its answer. */
  stalledTimeoutMs: 60_000,
  checkIntervalMs: 1_000,
  /** For connections that are in use when the server stops. */
  closeGraceMs: 3_500,
  maxHeaderBytes: 16 * 1024,
  /** Twice the size of the longest message with every character escaped. */
  maxBodyBytes: 64 * 1024,
  maxConnections: 5_000,
  /** Requests of one connection that may wait for earlier answers; one more closes the connection. */
  maxPipelined: 10,
  maxRefusals: 60,
  /** Of one body, if this node has stored it: a visitor presses again, a program goes on. */
  maxRepeats: 10,
  windowMs: 600_000,
  maxCounted: 10_000,
};
export type Limits = typeof LIMITS;

/** Applies the limits to every connection, except the body length, which `send-email.ts` checks. */
export function createLimitedServer(limits: Limits, listener: RequestListener): Server {
  const mayWait = pipeliningLimiter(limits.maxPipelined);
  const receive: RequestListener = (request, response) => {
    if (!server.listening) response.setHeader("connection", "close");
    if (!mayWait(request, response)) return;
    // A load balancer may ask with HTTP/1.0, which has no host.
    if (request.headers.host === undefined && request.httpVersion === "1.1")
      response.writeHead(400, { connection: "close" }).end();
    else listener(request, response);
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Node would answer requests without a host, and those with an unknown `Expect`, without our limits.
      requireHostHeader: false,
    },
    receive,
  );
  server.timeout = limits.stalledTimeoutMs;
  server.maxConnections = limits.maxConnections;
  server.on("checkExpectation", receive);
  return server;
}

/** Node stops reading from a client that reads no answers, but first parses and answers all that it has read. */
function pipeliningLimiter(maxPipelined: number) {
  const waiting = new WeakMap<Socket, number>();
  const add = (socket: Socket, count: number) => waiting.set(socket, (waiting.get(socket) ?? 0) + count);
  return ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    // Only an answer that waits for another has no socket yet.
    if (response.socket) return true;
    if (waiting.get(socket) === maxPipelined) socket.destroy();
    if (socket.destroyed) return false;
    add(socket, 1);
    response.once("close", () => add(socket, -1));
    return true;
  };
}

/** Counts names on this node, in windows of ten minutes. A window ends sooner if it has too many names. */
export function countPerWindow(most: number, { windowMs, maxCounted }: Limits) {
  const counts = new Map<string, number>();
  let endsAtMs = Number.NEGATIVE_INFINITY;
  return {
    note(name: string, nowMs: number): void {
      if (nowMs >= endsAtMs || counts.size >= maxCounted) {
        counts.clear();
        endsAtMs = nowMs + windowMs;
      }
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    waitMs: (name: string, nowMs: number) => ((counts.get(name) ?? 0) < most ? 0 : Math.max(0, endsAtMs - nowMs)),
  };
}
