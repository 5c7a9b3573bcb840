import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import type { InboxError } from "../../contract/inbox.ts";
import { securityHeaders } from "../../contract/response-headers.ts";
import { FilesLeft } from "../operator/actions.ts";
import { EstimateFailed } from "../operator/person.ts";
import { StoreUnavailable } from "../store/store.ts";
import { type Clock, systemClock } from "../time.ts";
import { type ApiParts, createApi, InvalidCall, NotFound } from "./api.ts";
import { createGuard, type Guard, type Refusal } from "./guard.ts";

export interface InboxOptions extends Omit<ApiParts, "clock"> {
  /** The built page. */
  filesDir: string;
  /** `null`: the default port, or the next one that is free. */
  port: number | null;
  clock?: Clock;
  /** Called once for an error that is a defect of ours, so that somebody can see it. */
  onDefect?(error: unknown): void;
}

export interface Inbox {
  port: number;
  /** Where a browser finds it, with the token of this run. */
  url: string;
  /** Resolves when nobody has used it for eight hours. */
  idle: Promise<void>;
  close(): Promise<void>;
}

/** The inbox cannot be opened; the message is one line that says what to do. */
export class InboxRefused extends Error {
  override readonly name = "InboxRefused";
}

export const DEFAULT_PORT = 3001;
const PORTS_TRIED = 100;
const IDLE_MS = 8 * 60 * 60_000;
const MAX_BODY_BYTES = 128 * 1024;

/**
 * Nothing but the page's own files, and no inline script or style. Should a visitor's words ever get into the page as
 * markup, the browser runs, loads and sends nothing for them.
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src"].map((kind) => `${kind} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  ...securityHeaders("http:"),
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Serves the inbox to this machine until it is closed. Rejects with InboxRefused. */
export async function startInbox(options: InboxOptions): Promise<Inbox> {
  const { filesDir, clock = systemClock, onDefect = () => {} } = options;
  const files = loadFiles(filesDir);
  const api = createApi({ ...options, clock });
  const idle = Promise.withResolvers<void>();
  let cancelIdle = clock.setTimer(idle.resolve, IDLE_MS);

  async function answer(request: IncomingMessage, response: ServerResponse, guard: Guard): Promise<void> {
    const [path = "/", query = ""] = (request.url ?? "/").split("?", 2);
    const refusal = guard.checkOrigin(request) ?? (isApi(path) ? await guard.checkToken(request) : null);
    if (refusal) refuse(response, refusal);
    else if (isApi(path)) await answerApi(response, path, new URLSearchParams(query));
    else sendFile(response, path);
  }

  async function answerApi(response: ServerResponse, path: string, query: URLSearchParams): Promise<void> {
    const { req: request } = response;
    const method = request.method === "POST" ? "POST" : "GET";
    if (request.method !== method) throw new InvalidCall("Only GET and POST are understood.");
    if (path !== "/api/changes" && query.get("background") !== "1") {
      cancelIdle();
      cancelIdle = clock.setTimer(idle.resolve, IDLE_MS);
    }
    const body = method === "POST" ? await readJson(request) : undefined;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    sendJson(response, 200, await api({ method, path: path.slice("/api".length), query, body, signal: gone.signal }));
  }

  function sendFile(response: ServerResponse, path: string): void {
    const { method } = response.req;
    if (method !== "GET" && method !== "HEAD") throw new InvalidCall("Only GET and HEAD are understood.");
    // Every screen of the page has a path of its own.
    const file = files.get(path) ?? (path.startsWith("/assets/") ? undefined : files.get("/index.html"));
    if (!file) throw new NotFound("There is no such file.");
    send(response, 200, file.type, file.body);
  }

  function fail(response: ServerResponse, error: unknown): void {
    if (error instanceof InvalidCall) sendError(response, 400, "invalid", error.message);
    else if (error instanceof NotFound) sendError(response, 404, "not-found", error.message);
    else if (error instanceof TooLarge) sendError(response, 413, "too-large", "That is more than one call may carry.");
    else if (error instanceof StoreUnavailable) sendError(response, 503, "unavailable", error.message);
    else if (error instanceof FilesLeft || error instanceof EstimateFailed)
      sendError(response, 500, "failed", error.message);
    else {
      onDefect(error);
      sendError(response, 500, "failed", "Something went wrong; the terminal says what.");
    }
  }

  const listen = async (port: number) => {
    const guard = createGuard(port, clock);
    const servers = await listenOnLoopback(port, (request, response) => {
      answer(request, response, guard).catch((error) => fail(response, error));
    });
    return servers && { port, servers, token: guard.token };
  };
  try {
    const { port, servers, token } = await listenOnFreePort(options.port, listen);
    return {
      port,
      url: `http://localhost:${port}/#${token}`,
      idle: idle.promise,
      async close() {
        cancelIdle();
        await closeAll(servers);
      },
    };
  } catch (error) {
    cancelIdle();
    throw error;
  }
}

function isApi(path: string): boolean {
  return path.startsWith("/api/");
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** `listen` resolves to `null` for a port that is in use. */
async function listenOnFreePort<Listening>(
  wanted: number | null,
  listen: (port: number) => Promise<Listening | null>,
): Promise<Listening> {
  const first = wanted ?? DEFAULT_PORT;
  const last = wanted ?? DEFAULT_PORT + PORTS_TRIED - 1;
  for (let port = first; port <= last; port += 1) {
    const listening = await listen(port);
    if (listening) return listening;
  }
  throw new InboxRefused(
    wanted === null
      ? `Ports ${first} to ${last} are all in use; choose another with --port`
      : `Port ${wanted} is in use; choose another with --port, or leave --port out`,
  );
}

/**
 * Both of the machine's own addresses, because a browser may use either for `localhost`: on one that was left to another
 * program, that program's page would get the token. `null` when the port is in use on one of them.
 */
async function listenOnLoopback(port: number, listener: Listener): Promise<Server[] | null> {
  const servers: Server[] = [];
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createServer(
      { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 1000, maxHeaderSize: 16 * 1024 },
      listener,
    );
    try {
      server.listen({ port, host, exclusive: true });
      await once(server, "listening");
      servers.push(server);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // This machine has no IPv6.
      if (host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) continue;
      await closeAll(servers);
      if (code === "EADDRINUSE") return null;
      if (code === "EACCES")
        throw new InboxRefused(`Port ${port} needs more rights; choose one above 1023 with --port`);
      throw new InboxRefused(`The inbox cannot be opened on ${host}: ${message}`);
    }
  }
  return servers;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

interface PageFile {
  type: string;
  body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** All files of the page, by their path. Nothing else of the disk is ever read for a request. */
function loadFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  try {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const type = TYPES[extname(name)];
      if (type) files.set(`/${name.replaceAll("\\", "/")}`, { type, body: readFileSync(join(folder, name)) });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  if (!files.has("/index.html")) {
    throw new InboxRefused("The inbox is not built; run it with: npm run inbox, or build it with: npm run build");
  }
  return files;
}

/** The body is longer than any call's. */
class TooLarge extends Error {
  override readonly name = "TooLarge";
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  // A form of another site cannot have this type.
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) throw new InvalidCall("Send JSON.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new TooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new InvalidCall("The body is not JSON.");
  }
}

function refuse(response: ServerResponse, { status, error, message }: Refusal): void {
  if (status === 401) response.setHeader("www-authenticate", "Bearer");
  if (status === 429) response.setHeader("retry-after", "60");
  sendError(response, status, error, message);
}

function sendError(response: ServerResponse, status: number, error: InboxError["error"], message: string): void {
  sendJson(response, status, { error, message } satisfies InboxError);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, "application/json; charset=utf-8", Buffer.from(JSON.stringify(value)));
}

function send(response: ServerResponse, status: number, type: string, body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  // What is left of a body that was not read must not be taken for the next request.
  if (!response.req.complete) response.setHeader("connection", "close");
  response.writeHead(status, { ...HEADERS, "content-type": type, "content-length": String(body.length) });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
