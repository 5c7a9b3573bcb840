import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "../../server/http/limits.ts";
import { type AppUnderTest, openApp } from "../support/app.ts";
import { MEASURABLE, measureMemory } from "../support/live-memory.ts";
import { postMessage } from "../support/load.ts";
import type { ChangedStore } from "../support/post-office.ts";
import { drain, drip, exchange, filmPath, listen, openSocket, parseAnswer, request } from "../support/raw-http.ts";
import { startServer } from "../support/run-server.ts";
import { untilEnd } from "../support/until-end.ts";

const SHORT_HEADERS = { headersTimeoutMs: 300, requestTimeoutMs: 60_000, checkIntervalMs: 50 };
const SHORT_REQUEST = { ...SHORT_HEADERS, requestTimeoutMs: 600 };
const SLOW_HEADERS = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const SLOW_BODY = request("POST /send-email", ["Content-Type: application/json", "Content-Length: 60000"]);

async function openLimited(limits: Partial<typeof LIMITS>, store: ChangedStore = {}) {
  const app = await untilEnd(openApp({}, store, { limits: { ...LIMITS, ...limits } }));
  return { app, port: await listen(app) };
}

/** A request on a connection that stays open. */
const pipelined = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "Host: localhost", ...headers, "", ""].join("\r\n");

test.each([
  ["headers", SLOW_HEADERS, SHORT_HEADERS],
  ["a body", SLOW_BODY, SHORT_REQUEST],
])("a client that sends %s byte by byte is disconnected with 408", async (_part, start, limits) => {
  const { port } = await openLimited(limits);
  const socket = await openSocket(port);
  socket.write(start);
  drip(socket, 20);
  expect(parseAnswer(await drain(socket)).status).toBe(408);
});

const MESSAGE = JSON.stringify({ name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Hello" });
const PIPELINED_MESSAGE =
  pipelined("POST /send-email", "Content-Type: application/json", `Content-Length: ${MESSAGE.length}`) + MESSAGE;

test.each([
  ["pages", pipelined("GET /")],
  ["expectations", pipelined("GET /", "Expect: the-unexpected")],
  ["messages that the store is slow to take", PIPELINED_MESSAGE],
])("a client that pipelines a hundred %s is disconnected at once", async (_kind, text) => {
  const slowStore = { intake: { accept: () => new Promise<never>(() => {}) } };
  const { port } = await openLimited({ keepAliveTimeoutMs: 60_000 }, slowStore);
  const received = await exchange(port, text.repeat(100));
  expect((received.match(/HTTP\/1\.1 /g) ?? []).length).toBeLessThanOrEqual(11);
});

/** Each client sends all requests at once, and reads no answer. */
const neverRead = (count: number, path?: string) => async (clients: readonly Socket[], url: string) => {
  const text = pipelined(`GET ${path ?? (await pathAfterPost(url))}`).repeat(count);
  await Promise.all(clients.map((client) => new Promise((resolve) => client.pause().write(text, resolve))));
};
/** Each client sends one piece after another in separate packets, and never finishes. */
const neverEnd = (line: string, length: string, piece: string) => async (clients: readonly Socket[]) => {
  const head = request(line, ["Content-Type: application/json", length]);
  for (const client of clients) client.setNoDelay().resume().write(head);
  for (let count = 0; count < 1500; count += 1) {
    for (const client of clients) if (client.writable) client.write(piece);
    if (count % 10 === 0) await setImmediate();
  }
};
const CHUNKED = "Transfer-Encoding: chunked";

test.each([
  ["films that are never read", 10, neverRead(250, filmPath())],
  ["pages made for one visitor that are never read", 10, neverRead(1200)],
  ["messages of unknown length in pieces of a byte", 4, neverEnd("POST /send-email", CHUNKED, "1\r\nx\r\n")],
  ["posts to another path in pieces of a byte", 4, neverEnd("POST /nothing", CHUNKED, "1\r\nx\r\n")],
])("%s by 20 clients take little memory and do not affect other clients", async (_what, mostHeldMb, flood) => {
  const server = await untilEnd(startServer(MEASURABLE));
  const clients = await openMany(20, server.port);
  const before = await measureMemory(server);
  await flood(clients, server.url);
  // When these requests are answered, the server has read the flood.
  await expectServing(server.url);
  const after = await measureMemory(server);
  expect((after.heldBytes - before.heldBytes) / 1024 ** 2).toBeLessThan(mostHeldMb);
  expect((after.processBytes - before.processBytes) / 1024 ** 2).toBeLessThan(100);
});

/** The sockets end with the test. Ignores errors if the server closes them first. */
async function openMany(count: number, port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1" }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return Promise.all(
    sockets.map(async (socket) => {
      await once(socket, "connect");
      return socket.on("error", () => {});
    }),
  );
}

async function expectServing(url: string): Promise<void> {
  for (const path of ["/", "/contact", "/healthz"]) expect((await fetch(url + path)).status).toBe(200);
  expect(await postMessage(url, "Past all the others")).toMatch(/^BC-/);
}

async function pathAfterPost(url: string): Promise<string> {
  const body = new URLSearchParams({ name: "Ada", email: "ada@example.com", phone: "1", message: "By form" });
  const answer = await fetch(`${url}/send-email`, { method: "POST", body, redirect: "manual" });
  return (answer.headers.get("location") ?? "").split("#")[0] ?? "";
}

test("a thousand slow clients do not affect others", async () => {
  // With the usual limits, the server could disconnect the first clients before the last ones have connected.
  const { app, port } = await openLimited({ headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 });
  for (const [index, socket] of (await openMany(1000, port)).entries()) {
    socket.write(index % 2 === 0 ? SLOW_HEADERS : SLOW_BODY);
    drip(socket, 500);
  }
  await expectServing(`http://127.0.0.1:${port}`);
  expect(await connectionsOf(app)).toBeGreaterThanOrEqual(1000);
});

function connectionsOf({ app }: AppUnderTest): Promise<number> {
  return promisify(app.server.getConnections.bind(app.server))();
}
