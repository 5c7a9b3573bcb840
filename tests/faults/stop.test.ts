import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { lockDatabase } from "../support/lock-database.ts";
import { SCALE } from "../support/scale.ts";
import { openScene } from "../support/scene.ts";
import type { RunningServer } from "../support/server.ts";

const LIMIT_MS = 10_000;

/** Asks the server to stop; resolves once it has, to its exit code and the time it took. */
async function terminate({ process }: RunningServer): Promise<{ code: number | null; tookMs: number }> {
  const startMs = performance.now();
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  const [code] = await ended;
  return { code, tookMs: performance.now() - startMs };
}

test("SIGTERM under load: it leaves with 0 in time, and nothing acknowledged is lost", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const stop = new AbortController();
  const load = scene.visitors.postUntil(stop.signal, server.url, 12);
  await expect.poll(() => scene.visitors.acknowledged.length).toBeGreaterThan(100);
  const { code, tookMs } = await terminate(server);
  stop.abort();
  await load;
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(LIMIT_MS);
  // Marked before it left, so nothing is mailed twice.
  await scene.expectNothingLost(await scene.start());
}, 60_000);

test("SIGTERM lets requests under way finish, each with its reference", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const unlock = lockDatabase(scene.dataDir);
  const underWay = scene.visitors.post(server.url, 20);
  // They wait for the lock. Connections are served in turn, so an answer to a later one shows that they have arrived.
  await fetch(`${server.url}/healthz`);
  const stopped = terminate(server);
  await expect
    .poll(() => fetch(`${server.url}/healthz`).catch(() => "no longer listening"))
    .toBe("no longer listening");
  unlock();
  for (const answer of await underWay) expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
  const { code, tookMs } = await stopped;
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(LIMIT_MS);
  await scene.expectNothingLost(await scene.start());
}, 60_000);

test.runIf(SCALE.isFull).each([
  ["a mail server that does not answer", "hold-after-data"],
  ["a mail server that is silent from the start", "hang-before-greeting"],
] as const)(
  "SIGTERM is not held up by %s",
  async (_title, kind) => {
    const scene = await openScene();
    scene.mailServer.behave({ kind });
    const server = await scene.start();
    await scene.visitors.post(server.url, 8);
    const { code, tookMs } = await terminate(server);
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(LIMIT_MS);
    expect((await scene.store.list({ state: "queued" })).length).toBe(8);
  },
  60_000,
);

test("SIGTERM is not held up by clients that keep a connection open or have sent half a request", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const port = Number(new URL(server.url).port);
  for (const words of ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", "POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-le"]) {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(words);
  }
  await fetch(`${server.url}/healthz`);
  const { code, tookMs } = await terminate(server);
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(LIMIT_MS);
}, 60_000);
