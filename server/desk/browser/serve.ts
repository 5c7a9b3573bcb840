import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { CONTENT_TYPE } from "../../../contract/response-headers.ts";
import { createLimitedServer, LIMITS } from "../../http/limits.ts";
import { OperatorError } from "../../operator-error.ts";
import { type Clock, systemClock } from "../../time.ts";
import type { Desk } from "../desk.ts";
import { createInboxApp, type PageFile } from "./app.ts";
import { createGuard, isForThisMachine } from "./guard.ts";

export interface InboxOptions {
  desk: Desk;
  filesDir: string;
  /** `null`: `firstPort`, or the next free port. */
  port: number | null;
  firstPort?: number;
  /** The inbox never uses these, even if nothing listens there now. */
  sitePorts?: readonly (number | null)[];
  clock?: Clock;
  onDefect?(error: unknown): void;
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>;

/** Far from the ports that deploy/ and docs/ use for the site, its metrics and other services. */
export const DEFAULT_PORT = 4620;
const PORTS_TRIED = 100;
const OTHER_PORT = "choose another with --port, or leave --port out";
const IDLE_MS = 8 * 60 * 60_000;

export async function startInbox(options: InboxOptions) {
  const { desk, clock = systemClock, onDefect = () => {} } = options;
  const files = loadFiles(options.filesDir);
  const guard = createGuard();
  const idle = Promise.withResolvers<void>();
  let cancelIdle = () => {};
  const onUsed = () => {
    cancelIdle();
    cancelIdle = clock.setTimer(idle.resolve, IDLE_MS);
  };
  const app = createInboxApp({ desk, files, guard, onUsed, onDefect });
  await app.ready();
  const { port, servers } = await listenOnFreePort(options, app);
  onUsed();
  return {
    port,
    addresses: servers.map((server) => (server.address() as AddressInfo).address),
    url: `http://${guard.host}:${port}/#${guard.token}`,
    idle: idle.promise,
    async close() {
      cancelIdle();
      await closeAll(servers);
      await app.close();
    },
  };
}

async function listenOnFreePort(
  { port: wanted, firstPort = DEFAULT_PORT, sitePorts = [] }: InboxOptions,
  app: FastifyInstance,
): Promise<{ port: number; servers: Server[] }> {
  if (wanted !== null && sitePorts.includes(wanted)) {
    throw new OperatorError({ problem: `Port ${wanted} is the site's`, remedy: OTHER_PORT });
  }
  const [first, last] = wanted === null ? [firstPort, firstPort + PORTS_TRIED - 1] : [wanted, wanted];
  for (let port = first; port <= last; port += 1) {
    if (sitePorts.includes(port)) continue;
    const servers = await listenOnLoopback(port, app);
    if (servers) return { port, servers };
  }
  throw new OperatorError(
    wanted === null
      ? { problem: `Ports ${first} to ${last} are all in use`, remedy: "choose another with --port" }
      : { problem: `Port ${wanted} is in use`, remedy: OTHER_PORT },
  );
}

/** On both addresses, because a browser may use either: another program on one of them could get the token. */
async function listenOnLoopback(port: number, app: FastifyInstance): Promise<Server[] | null> {
  const servers: Server[] = [];
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createLimitedServer(LIMITS, (request, response) => {
      // A proxy that mistakes this port for a node of the site must not get an answer that looks like the site's.
      if (isForThisMachine(request)) app.routing(request, response);
      else request.socket.destroy();
    });
    server.on("clientError", (_error, socket) => socket.destroy());
    try {
      server.listen({ port, host, exclusive: true });
      await once(server, "listening");
      servers.push(server);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The machine has no IPv6.
      if (host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) continue;
      await closeAll(servers);
      if (code === "EADDRINUSE") return null;
      if (code === "EACCES")
        throw new OperatorError({
          problem: `Port ${port} needs more rights`,
          remedy: "choose one above 1023 with --port",
        });
      throw new OperatorError({ problem: `The inbox cannot be opened on ${host}: ${message}` });
    }
  }
  return servers;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

function loadFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of globSync("**/*", { cwd: folder })) {
    const type = CONTENT_TYPE[extname(name)];
    if (type) files.set(`/${name}`, { type, body: readFileSync(join(folder, name)) });
  }
  if (!files.has("/index.html")) throw new OperatorError({ problem: "The inbox is not built", command: "build" });
  return files;
}
