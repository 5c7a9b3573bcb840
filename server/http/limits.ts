import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { networkNames } from "./client-address.ts";

/** The resources of this process that one client, or all clients together, can use. Tests pass smaller limits. */
export const LIMITS = {
  /** For the request line and headers, counted from the start of the connection. */
  headersTimeoutMs: 10_000,
  /** For the whole request, body included. */
  requestTimeoutMs: 15_000,
  /** Between requests. A proxy must close idle connections sooner, or it may reuse one that is already closed. */
  keepAliveTimeoutMs: 5_000,
  /** For a client that does not read its answer. It is disconnected after one to two times this period. */
  stalledTimeoutMs: 60_000,
  /** How often the first two limits are checked. */
  checkIntervalMs: 1_000,
  /** For connections that are in use when the server stops. */
  closeGraceMs: 3_500,
  maxHeaderBytes: 16 * 1024,
  /** Twice the size of the longest message with every character escaped. */
  maxBodyBytes: 64 * 1024,
  /** Closes further connections at once. If one client has a large share, closes one of that client's instead. */
  maxConnections: 5_000,
  /**
   * Requests of one connection that may wait for earlier answers. One more closes the connection. Browsers and proxies
   * send one request at a time; the few programs that pipeline send up to ten.
   */
  maxPipelined: 10,
  /** The same for all connections together. Each takes about 9 KB besides shared memory: 18 MB in total. */
  maxWaitingAnswers: 2_000,
  /** Refused posts of one client, within the window. */
  maxRefusals: 60,
  refusalsWindowMs: 600_000,
  /** Clients with refused posts that are remembered. */
  maxRefusedClients: 10_000,
};
export type Limits = typeof LIMITS;

const IDLE_SWEEP_MS = 100;
/** More than one visitor, or a company behind one address, should need. */
const LARGE_SHARE = 0.1;
const TEXT = "text/plain; charset=utf-8";

/** Statuses for the errors of Node's parser; any other error is a bad request. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

type Headers = Readonly<Record<string, string>>;

/** Applies the limits to every connection, except the body length, which Fastify checks. */
export function createLimitedServer(limits: Limits, headers: Headers, listener: RequestListener): Server {
  const limitPipelining = pipeliningLimiter(limits);
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Our own check below answers with our headers; Node's answer would have none.
      requireHostHeader: false,
    },
    (request, response) => {
      // Ends the connection after this answer if the server is closing or the body was not read.
      if (!server.listening || hasUnreadBody(request)) response.setHeader("connection", "close");
      if (!limitPipelining(request, response)) return;
      if (!hasValidHost(request)) {
        const content = { "content-type": TEXT, "content-length": "12" };
        response.writeHead(400, { ...headers, connection: "close", ...content }).end("Bad Request\n");
      } else listener(request, response);
    },
  );
  // One more than the limit, so that a new client can replace another.
  server.maxConnections = limits.maxConnections + 1;
  watchConnections(server, limits);
  // The server is not a proxy and supports no expectation except `100-continue`. Node would answer without our headers
  // or not at all.
  const notAllowed = rawAnswer(405, { ...headers, allow: "GET, HEAD" });
  server.on("connect", (_request, socket: Socket) => sendLast(socket, notAllowed));
  server.on("checkExpectation", (request, response) => {
    if (limitPipelining(request, response)) response.writeHead(417, headers).end();
  });
  return server;
}

/** Answers input that is too slow, too large or not HTTP, and closes the connection. */
export function answerClientErrors(headers: Headers): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // Browsers open connections that they may never use; these get no answer. Nor may an answer interrupt a response.
    if (!socket.writable || socket.bytesRead === 0 || socket.bytesWritten > 0) socket.destroy();
    else sendLast(socket, rawAnswer(STATUS_BY_CODE[error.code ?? ""] ?? 400, headers));
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

/** HTTP/1.1 requires exactly one `Host`. With two, a proxy may have used the other one. */
function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count === 1 || (count === 0 && httpVersion !== "1.1");
}

/**
 * Returns a function that decides whether to answer a request, and closes the connection of a request above a limit.
 * Node also stops reading from a client that reads no answers, but only after it has parsed the 64 KiB that it has
 * read: up to 2,000 requests, each with an answer in memory. Each connection has one answer in progress besides the
 * waiting ones, and file bodies are shared, so the memory is bounded.
 */
function pipeliningLimiter({ maxPipelined, maxWaitingAnswers }: Limits) {
  /** The number of answers of each connection that wait for earlier ones. */
  const waiting = new Map<Socket, number>();
  let total = 0;
  const add = (socket: Socket, count: number) => {
    total += count;
    waiting.set(socket, (waiting.get(socket) ?? 0) + count);
  };
  return ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    // Only an answer that waits for another has no socket yet. An ordinary request is not even counted.
    if (response.socket) return true;
    if (waiting.get(socket) === maxPipelined || total === maxWaitingAnswers) socket.destroy();
    if (socket.destroyed) return false;
    if (!waiting.has(socket)) {
      socket.once("close", () => {
        total -= waiting.get(socket) ?? 0;
        waiting.delete(socket);
      });
    }
    add(socket, 1);
    response.once("close", () => waiting.has(socket) && add(socket, -1));
    return true;
  };
}

/**
 * When all connections are in use, a client with a large share gives one up for another client. A periodic check also
 * ends connections whose client reads nothing. Node's own timer per connection would slow down every answer.
 */
function watchConnections(server: Server, { maxConnections, stalledTimeoutMs }: Limits): void {
  const byClient = new Map<string, Set<Socket>>();
  const readBytes = new Map<Socket, number>();
  server.on("connection", (socket) => {
    const client = networkNames(socket.remoteAddress ?? "")[0]?.name ?? "";
    const own = byClient.get(client) ?? new Set();
    byClient.set(client, own.add(socket));
    readBytes.set(socket, 0);
    socket.once("close", () => {
      own.delete(socket);
      if (own.size === 0) byClient.delete(client);
      readBytes.delete(socket);
    });
    if (readBytes.size <= maxConnections) return;
    let most = own;
    for (const sockets of byClient.values()) if (sockets.size > most.size) most = sockets;
    // Closes the oldest connection of another client with too large a share; if there is none, the new connection.
    const isUnfair = most !== own && most.size > maxConnections * LARGE_SHARE;
    const [oldest = socket] = isUnfair ? most : [];
    oldest.destroy();
  });
  const check = setInterval(() => {
    for (const [socket, readBefore] of readBytes) {
      // Also counts what the system has accepted for sending.
      const read = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength > 0 && read === readBefore) socket.destroy();
      else readBytes.set(socket, read);
    }
  }, stalledTimeoutMs);
  check.unref();
  server.once("close", () => clearInterval(check));
}

/**
 * Counts the refused posts of each client, and returns how long a client above the limit must wait. People correct a
 * few fields; only programs are refused this often. In memory, so it counts for this node only.
 */
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
    /** 0 for a client below the limit. */
    waitMs(address: string, nowMs: number): number {
      const { count = 0, endsAtMs = nowMs } = clients.get(nameOf(address)) ?? {};
      return count < maxRefusals ? 0 : Math.max(0, endsAtMs - nowMs);
    },
  };
}

/** Closes the connection after the answer, whether or not the client reads it. */
function sendLast(socket: Socket, answer: string): void {
  socket.on("error", () => socket.destroy());
  socket.write(answer);
  socket.destroySoon();
}

function rawAnswer(status: number, headers: Headers): string {
  const reason = STATUS_CODES[status] ?? "";
  const body = `${reason}\n`;
  const lines = Object.entries({
    ...headers,
    connection: "close",
    "content-type": TEXT,
    "content-length": String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`;
}
