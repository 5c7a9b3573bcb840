import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { RunningServer } from "../../scripts/run-server.ts";
import { messageWith } from "../store-contract/samples.ts";
import { lockDatabase } from "../support/lock-database.ts";
import { openSocket } from "../support/raw-http.ts";
import { openScene } from "../support/scene.ts";

const LIMIT_MS = 10_000;
const SOON = { timeout: 20_000 };

/** Asks the server to stop; it leaves in time and with 0. */
async function expectStop({ process }: RunningServer): Promise<void> {
  const startMs = performance.now();
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(performance.now() - startMs).toBeLessThan(LIMIT_MS);
}

test("SIGTERM under load: it leaves with 0 in time, and nothing acknowledged is lost", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const stop = new AbortController();
  const load = scene.visitors.postUntil(stop.signal, server.url, 12);
  await expect.poll(() => scene.visitors.acknowledged.length, SOON).toBeGreaterThan(100);
  await expectStop(server);
  stop.abort();
  await load;
  for (const answer of scene.visitors.answers) expect(answer).toMatchObject({ status: 200 });
  // Marked before it left, so nothing is mailed twice.
  await scene.expectNothingLost(await scene.start());
}, 60_000);

test("SIGTERM lets requests under way finish, each with its reference", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const unlock = lockDatabase(scene.dataDir);
  const underWay = scene.visitors.post(server.url, 20);
  // They wait for the lock. Connections are served in turn, so answers to later ones show that they have arrived.
  for (let count = 0; count < 3; count += 1) await fetch(`${server.url}/healthz`);
  const stopped = expectStop(server);
  await expectRefusal(server);
  unlock();
  for (const answer of await underWay) expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
  await stopped;
  await scene.expectNothingLost(await scene.start());
}, 60_000);

test("SIGTERM while a request is half sent: the rest of it is awaited, and it is answered like any other", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const body = JSON.stringify(messageWith());
  const head = `POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  const socket = await sendHalf(server, head);
  const stopped = expectStop(server);
  await expectRefusal(server);
  socket.write(`\r\n\r\n${body}`);
  const answer = (await socket.toArray()).join("");
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(await scene.store.list({})).toMatchObject([{ reference: /BC-[\w-]+/.exec(answer)?.[0] }]);
  await stopped;
}, 60_000);

test.each([
  ["a mail server that does not answer", "hold-after-data"],
  ["a mail server that is silent from the start", "hang-before-greeting"],
] as const)(
  "SIGTERM is not held up by %s",
  async (_what, kind) => {
    const scene = await openScene();
    scene.mailServer.behave({ kind });
    const server = await scene.start();
    await scene.visitors.post(server.url, 8);
    await expectStop(server);
    expect((await scene.store.list({ state: "queued" })).length).toBe(8);
  },
  60_000,
);

test("SIGTERM is not held up by clients that keep a connection open or have sent half a request", async () => {
  const scene = await openScene();
  const server = await scene.start();
  await sendHalf(server, "");
  await sendHalf(server, "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await sendHalf(server, "POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-le");
  await expectStop(server);
}, 60_000);

/** A client that has sent this much and no more; it has arrived when this resolves. */
async function sendHalf(server: RunningServer, words: string): Promise<Socket> {
  const socket = await openSocket(server.port);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(words);
  for (let count = 0; count < 3; count += 1) await fetch(`${server.url}/healthz`);
  return socket;
}

async function expectRefusal({ url }: RunningServer): Promise<void> {
  const isRefused = () => fetch(`${url}/healthz`).then(Boolean, () => "refused");
  await expect.poll(isRefused, SOON).toBe("refused");
}
