import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { networkNames } from "./client-address.ts";

// `import` reads every property of a module of Node. In this one that loads `fetch`, which makes the start slower.
const { createServer, STATUS_CODES }: typeof import("node:http") = createRequire(import.meta.url)("node:http");

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
  refusalsWindowMs: 600_000,
  maxRefusedClients: 10_000,
};
export type Limits = typeof LIMITS;

const IDLE_SWEEP_MS = 100;

/** For the errors of Node's parser; any other error is a bad request. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

type Headers = Readonly<Record<string, string>>;

/** Applies the limits to every connection, except the body length, which `send-email.ts` checks. */
export function createLimitedServer(limits: Limits, listener: RequestListener): Server {
  const mayWait = pipeliningLimiter(limits.maxPipelined);
  const receive: RequestListener = (request, response) => {
    // Ends the connection after this answer if the server is closing or the body was not read.
    if (!server.listening || hasUnreadBody(request)) response.setHeader("connection", "close");
    if (mayWait(request, response)) listener(request, response);
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
    },
    receive,
  );
  server.timeout = limits.stalledTimeoutMs;
  server.maxConnections = limits.maxConnections;
  // Node would answer these requests without our limits.
  server.on("checkExpectation", receive);
  return server;
}

export function answerClientErrors(headers: Headers): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // Browsers open connections that they may never use. No answer may interrupt a response.
    if (!socket.writable || socket.bytesRead === 0 || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const status = STATUS_BY_CODE[error.code ?? ""] ?? 400;
    const reason = STATUS_CODES[status] ?? "";
    const content = { "content-type": "text/plain; charset=utf-8", "content-length": reason.length + 1 };
    const lines = Object.entries({ ...headers, connection: "close", ...content });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.on("error", () => socket.destroy());
    socket.write(`HTTP/1.1 ${status} ${reason}\r\n${head}\r\n${reason}\n`);
    socket.destroySoon();
  };
}

/**
 * Lets requests in progress finish when the app closes, but does not wait for clients that keep an idle connection or
 * half a request. A closing server checks no timeouts, and a busy connection becomes idle only after its last answer.
 */
export function endConnectionsOnClose(app: FastifyInstance, limits: Limits): void {
  app.addHook("preClose", async () => {
    if (!app.server.listening) return;
    const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
    const cut = setTimeout(() => app.server.closeAllConnections(), limits.closeGraceMs);
    app.server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
}

/** Only messages have bodies. The server discards other bodies as they arrive, and does not wait for them. */
function hasUnreadBody({ method, url, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !(method === "POST" && url?.startsWith("/send-email"));
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

/** Counts the refused posts of each client on this node: only programs are refused that often. */
export function limitRefusals({ maxRefusals, refusalsWindowMs, maxRefusedClients }: Limits) {
  const clients = new Map<string, { count: number; endsAtMs: number }>();
  const nameOf = (address: string) => networkNames(address)[0]?.name ?? "";
  return {
    note(address: string, nowMs: number): void {
      const name = nameOf(address);
      const known = clients.get(name);
      if (known && known.endsAtMs > nowMs) {
        known.count += 1;
        return;
      }
      // All windows are equally long, so the first entry is the one that ends first.
      clients.delete(name);
      const [first] = clients.keys();
      if (first !== undefined && clients.size >= maxRefusedClients) clients.delete(first);
      clients.set(name, { count: 1, endsAtMs: nowMs + refusalsWindowMs });
    },
    waitMs(address: string, nowMs: number): number {
      const { count = 0, endsAtMs = nowMs } = clients.get(nameOf(address)) ?? {};
      return count < maxRefusals ? 0 : Math.max(0, endsAtMs - nowMs);
    },
  };
}
