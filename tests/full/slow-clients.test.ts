import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../scripts/run-server.ts";
import { LIMITS } from "../../server/http/limits.ts";
import { type AppUnderTest, openApp } from "../support/app.ts";
import { MEASURABLE, measureMemory } from "../support/live-memory.ts";
import { postMessage } from "../support/load.ts";
import { ask, drain, drip, exchange, filmPath, listen, openSocket, parseAnswer, request } from "../support/raw-http.ts";
import { stopAsking } from "../support/scene.ts";

test("the server is given the limits", async () => {
  const subject = await openApp();
  onTestFinished(() => subject.close());
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = subject.app.server;
  expect({ headersTimeout, requestTimeout, keepAliveTimeout, maxConnections }).toEqual({
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 5_000,
    // One more than are kept.
    maxConnections: 5_001,
  });
});

const SHORT_HEADERS = { ...LIMITS, headersTimeoutMs: 300, requestTimeoutMs: 60_000, checkIntervalMs: 50 };
const SHORT_REQUEST = { ...SHORT_HEADERS, requestTimeoutMs: 600 };
const SLOW_HEADERS = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const SLOW_BODY = request("POST /send-email", ["Content-Type: application/json", "Content-Length: 60000"]);

test.each([
  ["headers", SLOW_HEADERS, SHORT_HEADERS],
  ["a body", SLOW_BODY, SHORT_REQUEST],
])("a client that drips %s is cut off with 408", async (_part, start, limits) => {
  const app = await openApp({}, {}, { limits });
  onTestFinished(() => app.close());
  const socket = await openSocket(await listen(app));
  socket.write(start);
  drip(socket, 20);
  const answer = parseAnswer(await drain(socket));
  expect(answer.status).toBe(408);
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
});

test("a client that says nothing at all is cut off in silence", async () => {
  const app = await openApp({}, {}, { limits: SHORT_HEADERS });
  onTestFinished(() => app.close());
  expect(await drain(await openSocket(await listen(app)))).toBe("");
});

test("a client that keeps its connection for later loses it after the keep-alive time", async () => {
  const app = await openApp({}, {}, { limits: { ...LIMITS, keepAliveTimeoutMs: 200 } });
  onTestFinished(() => app.close());
  const received = await exchange(await listen(app), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(parseAnswer(received).headers.connection).toBe("keep-alive");
});

test("a client that takes nothing of its answer loses it", async () => {
  const limits = { ...LIMITS, stalledTimeoutMs: 300, keepAliveTimeoutMs: 60_000, maxPipelined: 20 };
  const app = await openApp({}, {}, { limits });
  onTestFinished(() => app.close());
  const socket = await openSocket(await listen(app));
  socket.pause();
  // Twenty films are more than the system holds for a client that does not read.
  socket.write(`GET ${filmPath()} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(20));
  await expect.poll(() => connectionsOf(app), { timeout: 15_000 }).toBe(1);
  await expect.poll(() => connectionsOf(app), { timeout: 15_000 }).toBe(0);
  socket.destroy();
});

/** A request on a connection that stays open. */
const pipelined = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "Host: localhost", ...headers, "", ""].join("\r\n");

test("a client that pipelines ten requests behind another, again and again, gets every answer in order", async () => {
  const app = await openApp();
  onTestFinished(() => app.close());
  const paths = Array.from({ length: 110 }, (_, index) => ["/", "/healthz", "/assets/none"][index % 3] ?? "");
  const socket = await openSocket(await listen(app));
  const received = drain(socket);
  let [sent, answered] = [0, 0];
  const sendNext = () => {
    const next = paths.slice(sent, answered + 11);
    sent += next.length;
    socket.write(next.map((path) => pipelined(`HEAD ${path}`)).join(""));
  };
  socket.on("data", (chunk) => {
    answered += String(chunk).match(/\r\n\r\n/g)?.length ?? 0;
    if (sent < paths.length) sendNext();
    else if (answered === paths.length) socket.end();
  });
  sendNext();
  const types = [...(await received).matchAll(/^content-type: (\S+?);/gim)].map(([, type]) => type);
  const TYPES: Record<string, string> = { "/": "text/html", "/healthz": "application/json" };
  expect(types).toEqual(paths.map((path) => TYPES[path] ?? "text/plain"));
});

const MESSAGE = JSON.stringify({ name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Hello" });
const PIPELINED_MESSAGE =
  pipelined("POST /send-email", "Content-Type: application/json", `Content-Length: ${MESSAGE.length}`) + MESSAGE;

test.each([
  ["pages", pipelined("GET /")],
  ["expectations", pipelined("GET /", "Expect: the-unexpected")],
  ["messages that the store is slow to take", PIPELINED_MESSAGE],
])("a client that pipelines a hundred %s loses its connection at once", async (_kind, text) => {
  const slowStore = { accept: () => new Promise<never>(() => {}) };
  const app = await openApp({}, slowStore, { limits: { ...LIMITS, keepAliveTimeoutMs: 60_000 } });
  onTestFinished(() => app.close());
  const received = await exchange(await listen(app), text.repeat(100));
  expect((received.match(/HTTP\/1\.1 /g) ?? []).length).toBeLessThanOrEqual(11);
});

test("beyond a number of waiting answers of all clients the slowest are cut off, and who reads gets all answers", async () => {
  const limits = { ...LIMITS, maxPipelined: 100, maxWaitingAnswers: 200 };
  const app = await openApp({}, {}, { limits });
  onTestFinished(() => app.close());
  const port = await listen(app);
  // Far more than the system holds for a client that does not read.
  const films = pipelined(`GET ${filmPath()}`).repeat(80);
  const stalled = await Promise.all(Array.from({ length: 3 }, () => openSocket(port)));
  onTestFinished(() => {
    for (const socket of stalled) socket.destroy();
  });
  for (const socket of stalled)
    socket
      .on("error", () => {})
      .pause()
      .write(films);
  // Answered after their requests are read.
  expect((await ask(port, request("GET /healthz"))).status).toBe(200);
  const reader = await openSocket(port);
  const received = drain(reader);
  reader.write(films.replace(/(.*)\r\n\r\n$/s, "$1\r\nConnection: close\r\n\r\n"));
  expect((await received).match(/HTTP\/1\.1 200 /g)).toHaveLength(80);
  await expect.poll(() => connectionsOf(app)).toBeLessThan(3);
});

test("a message whose connection ends before it is parsed is stored like any other", async () => {
  const app = await openApp({ RATE_LIMIT: "5/10m" });
  onTestFinished(() => app.close());
  // What is not HTTP, after an answer has begun, ends the connection while the message is still being parsed.
  await exchange(await listen(app), `${pipelined("HEAD /")}${PIPELINED_MESSAGE}GARBAGE\r\n\r\n`);
  await expect.poll(() => app.log()).toContain('"event":"accepted"');
  expect(app.log()).not.toContain('"event":"failure"');
});

test.each([
  ["films", 250, filmPath()],
  ["pages made for one visitor", 1200, null],
])("%s that 20 clients pipeline and never read take no memory, and stop nobody", async (_kind, count, path) => {
  const server = await startServer(MEASURABLE);
  onTestFinished(async () => void (await server.stop()));
  const text = pipelined(`GET ${path ?? (await pathAfterPost(server.url))}`).repeat(count);
  const before = await measureMemory(server);
  const clients = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.port)));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });
  const flood = clients.map((client) => {
    client.on("error", () => {});
    client.pause();
    return new Promise((resolve) => client.write(text, resolve));
  });
  await Promise.all(flood);
  // Requests that come after the flood are answered, and by then the server has read it.
  for (const page of ["/", "/contact"])
    expect((await fetch(server.url + page, { signal: AbortSignal.timeout(5000) })).status).toBe(200);
  expect(await postMessage(server.url, "Past a flood of pipelined requests")).toMatch(/^BC-/);
  const after = await measureMemory(server);
  const MB = 1024 ** 2;
  expect((after.heldBytes - before.heldBytes) / MB).toBeLessThan(10);
  expect((after.processBytes - before.processBytes) / MB).toBeLessThan(100);
});

const CHUNKED = ["Content-Type: application/json", "Transfer-Encoding: chunked"];

test.each([
  ["a message of unknown length", request("POST /send-email", CHUNKED), "1\r\nx\r\n"],
  ["a message of known length", request("POST /send-email", [CHUNKED[0] ?? "", "Content-Length: 60000"]), "x"],
  ["a post to another path", request("POST /nothing", CHUNKED), "1\r\nx\r\n"],
  ["a page with a body", request("GET /", CHUNKED), "1\r\nx\r\n"],
])(
  "%s, in pieces of one byte that 20 clients never end, takes no memory",
  { timeout: 60_000 },
  async (_what, head, piece) => {
    const server = await startServer(MEASURABLE);
    onTestFinished(async () => void (await server.stop()));
    const before = await measureMemory(server);
    const clients = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.port)));
    onTestFinished(() => {
      for (const client of clients) client.destroy();
    });
    for (const client of clients)
      client
        .setNoDelay()
        .on("error", () => {})
        .resume()
        .write(head);
    for (let count = 0; count < 1500; count += 1) {
      for (const client of clients) if (client.writable) client.write(piece);
      // Each is sent as a packet of its own.
      if (count % 10 === 0) await setImmediate();
    }
    expect((await fetch(`${server.url}/contact`)).status).toBe(200);
    const after = await measureMemory(server);
    expect((after.heldBytes - before.heldBytes) / 1024 ** 2).toBeLessThan(4);
    expect((after.processBytes - before.processBytes) / 1024 ** 2).toBeLessThan(100);
  },
);

async function pathAfterPost(url: string): Promise<string> {
  const body = new URLSearchParams({ name: "Ada", email: "ada@example.com", phone: "1", message: "By form" });
  const answer = await fetch(`${url}/send-email`, { method: "POST", body, redirect: "manual" });
  return (answer.headers.get("location") ?? "").split("#")[0] ?? "";
}

test("clients beyond the number of connections are turned away, until others leave", async () => {
  const app = await openApp({}, {}, { limits: { ...LIMITS, maxConnections: 2 } });
  onTestFinished(() => app.close());
  const port = await listen(app);
  const held = [await openSocket(port), await openSocket(port)];
  await expect.poll(() => connectionsOf(app)).toBe(2);
  expect(await exchange(port, request("GET /healthz"))).toBe("");
  for (const socket of held) socket.destroy();
  await expect.poll(() => connectionsOf(app)).toBe(0);
  expect((await ask(port, request("GET /healthz"))).status).toBe(200);
});

test("a client that holds all connections loses its oldest to somebody else, and not to itself", async () => {
  const app = await openApp({}, {}, { limits: { ...LIMITS, maxConnections: 20 } });
  onTestFinished(() => app.close());
  const port = await listen(app);
  const greedy = { port, host: "127.0.0.1", localAddress: "127.0.0.2" };
  const held = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(greedy);
      await once(socket, "connect");
      return socket;
    }),
  );
  onTestFinished(() => {
    for (const socket of held) socket.destroy();
  });
  await expect.poll(() => connectionsOf(app)).toBe(20);
  const oneMore = connect(greedy).on("error", () => {});
  await once(oneMore.resume(), "close");
  expect(await connectionsOf(app)).toBe(20);
  expect((await ask(port, request("GET /healthz"))).status).toBe(200);
  await expect.poll(() => connectionsOf(app)).toBe(19);
});

test("a thousand slow clients stop nobody", { timeout: 60_000 }, async () => {
  const server = await startServer();
  onTestFinished(async () => void (await stopAsking(server)));
  const serverPort = Number(new URL(server.url).port);
  const slow = await Promise.all(
    Array.from({ length: 1000 }, async (_, index) => {
      const socket = await openSocket(serverPort);
      socket.on("error", () => {});
      socket.write(index % 2 === 0 ? SLOW_HEADERS : SLOW_BODY);
      drip(socket, 500);
      return socket;
    }),
  );
  onTestFinished(() => {
    for (const socket of slow) socket.destroy();
  });
  for (const path of ["/", "/contact", "/healthz", "/readyz"])
    expect((await fetch(server.url + path, { signal: AbortSignal.timeout(5000) })).status).toBe(200);
  expect(await postMessage(server.url, "Past a thousand slow clients")).toMatch(/^BC-/);
  expect(slow.filter(({ destroyed }) => destroyed)).toEqual([]);
});

function connectionsOf({ app }: AppUnderTest): Promise<number> {
  return new Promise((resolve, reject) =>
    app.server.getConnections((error, connections) => (error ? reject(error) : resolve(connections))),
  );
}
