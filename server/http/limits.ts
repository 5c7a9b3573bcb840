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

/** How much of this process one client, or all of them, can use. Tests pass smaller ones. */
export const LIMITS = {
  /** For the request line and headers to arrive, from the moment of connecting. */
  headersTimeoutMs: 10_000,
  /** For the whole request, body included. */
  requestTimeoutMs: 15_000,
  /** Between requests. A proxy must keep idle connections for less than this, or it may reuse one that is closed. */
  keepAliveTimeoutMs: 5_000,
  /** For a client that reads nothing of its answer; it is disconnected after one to two times this. */
  stalledTimeoutMs: 60_000,
  /** How often the first two are checked. */
  checkIntervalMs: 1_000,
  /** For connections in use when the server is asked to stop. */
  closeGraceMs: 3_500,
  maxHeaderBytes: 16 * 1024,
  /** The longest message, every character escaped, fits twice. */
  maxBodyBytes: 64 * 1024,
  /** Further ones are closed at once, unless one client has a large share: then one of that client's is closed instead. */
  maxConnections: 5_000,
  /**
   * Requests of one connection that may wait for the answers before them. One more, and it is closed. Browsers and proxies
   * send one request at a time; the few programs that pipeline send up to ten.
   */
  maxPipelined: 10,
  /** The same of all connections together. Each takes about 9 KB, without what it shares with others: 18 MB. */
  maxWaitingAnswers: 2_000,
};
export type Limits = typeof LIMITS;

const IDLE_SWEEP_MS = 100;
const JUST_NOW_MS = 1000;
/** More than a company behind one address, or one visitor, should need. */
const LARGE_SHARE = 0.1;
const TEXT = "text/plain; charset=utf-8";

/** Statuses for what Node's parser rejects; anything else is a bad request. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

type Headers = Readonly<Record<string, string>>;

/** Applies the limits to every connection, but for the length of a body, which Fastify counts. */
export function createLimitedServer(limits: Limits, headers: Headers, listener: RequestListener): Server {
  const limitPipelining = pipeliningLimiter(limits);
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Refused below with our headers; Node would send none.
      requireHostHeader: false,
    },
    (request, response) => {
      // While the server closes, every connection ends with its next answer; and where a body is not read, it is not kept.
      if (!server.listening || hasUnreadBody(request)) response.setHeader("connection", "close");
      if (!limitPipelining(request, response)) return;
      if (!hasValidHost(request)) {
        const content = { "content-type": TEXT, "content-length": "12" };
        response.writeHead(400, { ...headers, connection: "close", ...content }).end("Bad Request\n");
      } else listener(request, response);
    },
  );
  // One more than are kept, so that a new client can take the place of another.
  server.maxConnections = limits.maxConnections + 1;
  watchConnections(server, limits);
  // This is no proxy, and knows no expectation but `100-continue`; Node would answer bare or not at all.
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
    // Browsers open connections that they may never use. Nothing may be written into the middle of a response.
    if (!socket.writable || socket.bytesRead === 0 || socket.bytesWritten > 0) socket.destroy();
    else sendLast(socket, rawAnswer(STATUS_BY_CODE[error.code ?? ""] ?? 400, headers));
  };
}

/**
 * Lets requests in progress finish when the app closes, but does not wait for clients that keep an idle connection or half a
 * request: a closing server checks no timeouts, and a connection that was busy becomes idle only after its last answer.
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

/** Only messages have bodies. The body of any other request is discarded as it arrives, without waiting for it. */
function hasUnreadBody({ method, url, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !(method === "POST" && url?.startsWith("/send-email"));
}

/** HTTP/1.1 requires one `Host`; with two, a proxy may have looked at the other one. */
function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count === 1 || (count === 0 && httpVersion !== "1.1");
}

/** Answers of one connection that wait for those before them. */
interface Waiting {
  count: number;
  sinceMs: number;
  /** What the client had read by then. */
  readBytes: number;
}

/**
 * Returns a function that closes the connection of a request which is one too many, and says whether to answer it. Node
 * does stop reading from a client that reads no answers, but only after it has parsed the 64 KiB that it has read: up to
 * 2,000 requests, each with an answer in memory. Beyond the limit of all connections the slowest ones are closed: with one
 * answer under way on each, and the bodies of files shared, that bounds what clients who do not read can take.
 */
function pipeliningLimiter({
  maxPipelined,
  maxWaitingAnswers,
}: Limits): (request: IncomingMessage, response: ServerResponse) => boolean {
  const waiting = new Map<Socket, Waiting>();
  let total = 0;

  function forget(socket: Socket): void {
    total -= waiting.get(socket)?.count ?? 0;
    waiting.delete(socket);
  }

  function waitingOf(socket: Socket): Waiting {
    let entry = waiting.get(socket);
    if (!entry) {
      entry = { count: 0, sinceMs: 0, readBytes: 0 };
      waiting.set(socket, entry);
      socket.once("close", () => forget(socket));
    }
    if (entry.count === 0) Object.assign(entry, { sinceMs: performance.now(), readBytes: bytesRead(socket) });
    return entry;
  }

  /** Down to somewhat below the limit, so that this is not done for each request. */
  function closeSlowest(): void {
    const nowMs = performance.now();
    // A new client is not slow yet, so it is closed last.
    const speed = ([socket, { sinceMs, readBytes }]: [Socket, Waiting]) =>
      nowMs - sinceMs < JUST_NOW_MS ? Number.MAX_VALUE : (bytesRead(socket) - readBytes) / (nowMs - sinceMs);
    const slowestFirst = [...waiting].filter(([, { count }]) => count > 0).sort((a, b) => speed(a) - speed(b));
    for (const [socket] of slowestFirst) {
      if (total <= maxWaitingAnswers * 0.9) break;
      forget(socket);
      socket.destroy();
    }
  }

  return ({ socket }, response) => {
    // Only an answer that has to wait for another has no socket yet: the usual request is not even counted.
    if (response.socket) return true;
    if (socket.destroyed) return false;
    const entry = waitingOf(socket);
    if (entry.count === maxPipelined) {
      socket.destroy();
      return false;
    }
    entry.count += 1;
    total += 1;
    response.once("close", () => {
      if (waiting.get(socket) !== entry) return;
      entry.count -= 1;
      total -= 1;
    });
    if (total > maxWaitingAnswers) closeSlowest();
    return !socket.destroyed;
  };
}

/** By the client, or at least taken by the system to be sent. */
function bytesRead(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/**
 * When all connections are in use, a client that has a large share of them gives one up for another client. Those whose
 * client reads nothing are ended, all at once from time to time: Node's own timer for each would slow every answer down.
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
    // Closes the oldest connection of another client with too large a share; where there is none, the new one.
    const isUnfair = most !== own && most.size > maxConnections * LARGE_SHARE;
    const [oldest = socket] = isUnfair ? most : [];
    oldest.destroy();
  });
  const check = setInterval(() => {
    for (const [socket, readBefore] of readBytes) {
      const read = bytesRead(socket);
      if (socket.writableLength > 0 && read === readBefore) socket.destroy();
      else readBytes.set(socket, read);
    }
  }, stalledTimeoutMs);
  check.unref();
  server.once("close", () => clearInterval(check));
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
