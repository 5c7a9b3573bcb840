import { createHmac } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { CONTENT_TYPE } from "../../contract/response-headers.ts";
import { OperatorError } from "../../server/errors.ts";
import { createLimitedServer, LIMITS } from "../../server/http/limits.ts";
import { StoreReplaced } from "../../server/store/errors.ts";
import type { Desk } from "../desk.ts";
import { createInboxApp, type PageFile } from "./app.ts";
import { createGuard } from "./guard.ts";

const REPORT_INTERVAL_MS = 50_000;

export interface InboxOptions {
  desk: Desk;
  filesDir: string;
  /** 0: any free port. */
  port: number;
  onDefect?(error: unknown): void;
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>;

export async function startInbox({ desk, filesDir, port: wanted, onDefect = () => {} }: InboxOptions) {
  const files = loadFiles(filesDir);
  const nameOfPort = () => createHmac("sha256", desk.store.secret).update(`inbox ${wanted}`).digest("hex").slice(0, 20);
  const guard = createGuard(wanted === 0 ? undefined : nameOfPort());
  const presence = await openPresence(desk);
  const { requireSameDatabase } = presence;
  const app = createInboxApp({ desk: { ...desk, requireSameDatabase }, files, guard, onDefect });
  await app.ready();
  const servers = await listenOnLoopback(wanted, app);
  const addresses = servers.map((server) => server.address() as AddressInfo);
  const port = addresses[0]?.port ?? wanted;
  return {
    port,
    addresses: addresses.map(({ address }) => address),
    url: `http://${guard.host}:${port}/#${guard.token}`,
    async close() {
      await closeAll(servers);
      await app.close();
      await presence.close();
    },
  };
}

/** So that a restore refuses while this inbox is open, and this inbox notices one that did not. */
async function openPresence({ store: { status }, account }: Desk) {
  let isSame = true;
  await status.reportInbox(account, true);
  const timer = setInterval(() => void status.reportInbox(account, false).catch(() => {}), REPORT_INTERVAL_MS);
  return {
    async requireSameDatabase() {
      isSame &&= await status.isInboxKnown();
      if (isSame) return;
      const problem = "The database of this inbox was moved, replaced or restored";
      throw new StoreReplaced({ problem, remedy: "stop this inbox and start it again" });
    },
    async close() {
      clearInterval(timer);
      await status.closeInbox().catch(() => {});
    },
  };
}

/** On both addresses, because a browser may use either: another program on one of them could get the token. */
async function listenOnLoopback(wanted: number, app: FastifyInstance): Promise<Server[]> {
  const servers: Server[] = [];
  let port = wanted;
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createLimitedServer(LIMITS, (request, response) => app.routing(request, response));
    server.on("clientError", (_error, socket) => socket.destroy());
    try {
      server.listen({ port, host, exclusive: true });
      await once(server, "listening");
      servers.push(server);
      ({ port } = server.address() as AddressInfo);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The machine has no IPv6.
      if (host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) continue;
      await closeAll(servers);
      // Another program has this port on the second address only.
      if (code === "EADDRINUSE" && wanted === 0) return listenOnLoopback(wanted, app);
      const problem = code === "EADDRINUSE" ? `Port ${port} is in use` : `The inbox cannot be opened: ${message}`;
      throw new OperatorError({ problem, remedy: "choose another with --port, or leave --port out" });
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
