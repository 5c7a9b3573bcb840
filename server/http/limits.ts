import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** How much of this process one client, or all of them, can take up. Tests inject smaller ones. */
export interface Limits {
  /** For the request line and headers to arrive, from the moment of connecting. */
  headersTimeoutMs: number;
  /** For the whole request, body included. */
  requestTimeoutMs: number;
  /** Between requests. A proxy must let its own connections to this server rest for less, or it may use a dead one. */
  keepAliveTimeoutMs: number;
  /** For a client that takes nothing of its answer; it is cut off after once to twice as long. */
  stalledTimeoutMs: number;
  /** How often the first two are looked at. */
  checkIntervalMs: number;
  /** For connections under way when the server is told to stop. */
  closeGraceMs: number;
  maxHeaderBytes: number;
  /** The longest message, every character escaped, fits twice. */
  maxBodyBytes: number;
  /** Further ones are closed at once, before they cost anything. */
  maxConnections: number;
}

const SWEEP_MS = 100;

export const LIMITS: Limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 5_000,
  stalledTimeoutMs: 60_000,
  checkIntervalMs: 1_000,
  closeGraceMs: 3_500,
  maxHeaderBytes: 16 * 1024,
  maxBodyBytes: 64 * 1024,
  maxConnections: 5_000,
};

/** Holds every connection to the limits but for the body's length, which is Fastify's to count. */
export function createLimitedServer(limits: Limits, listener: RequestListener): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Refused by refuseWithoutHost, in words and with headers of our own.
      requireHostHeader: false,
    },
    listener,
  );
  endStalledConnections(server, limits.stalledTimeoutMs);
  server.maxConnections = limits.maxConnections;
  return server;
}

/** Looks at all connections now and then: Node's own timer for each of them would slow every answer down. */
function endStalledConnections(server: Server, stalledTimeoutMs: number): void {
  const takenBytes = new Map<Socket, number>();
  server.on("connection", (socket) => {
    takenBytes.set(socket, 0);
    socket.once("close", () => takenBytes.delete(socket));
  });
  const look = setInterval(() => {
    for (const [socket, takenBefore] of takenBytes) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength > 0 && taken === takenBefore) socket.destroy();
      else takenBytes.set(socket, taken);
    }
  }, stalledTimeoutMs);
  look.unref();
  server.once("close", () => clearInterval(look));
}

/**
 * Lets requests under way finish, but waits for nobody who keeps a connection or half a request to himself: a closing
 * server looks at no timeouts any more, and a connection that was busy then falls idle only after its last answer.
 */
export function endConnections(app: FastifyInstance, limits: Limits): void {
  app.addHook("preClose", async () => {
    if (!app.server.listening) return;
    const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
    const cut = setTimeout(() => app.server.closeAllConnections(), limits.closeGraceMs);
    app.server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
}
