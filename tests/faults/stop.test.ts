import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { messageWith } from "../store-contract/samples.ts";
import { lockDatabase } from "../support/lock-database.ts";
import { drain, openSocket, parseAnswer } from "../support/raw-http.ts";
import type { RunningServer } from "../support/run-server.ts";
import { openScene } from "../support/scene.ts";

const SOON = { timeout: 20_000 };

/** Asks the server to stop, and expects it to exit with code 0. After ten seconds it would kill itself instead. */
async function expectStop({ process }: RunningServer): Promise<void> {
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
}

test("after SIGTERM, requests that wait for the database finish with their references", async () => {
  const scene = await openScene();
  const server = await scene.start();
  // The server also waits for mails in flight, so none is sent twice.
  scene.mailServer.behave({ kind: "accept", afterMs: 2000 });
  await scene.visitors.post(server.url, 5);
  await expect.poll(() => scene.mailServer.mails.length, SOON).toBe(5);
  const unlock = lockDatabase(scene.dataDir);
  const underWay = scene.visitors.post(server.url, 20);
  await hasArrived(server);
  const stopped = expectStop(server);
  await expectRefusal(server);
  unlock();
  for (const answer of await underWay) expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
  await stopped;
  scene.mailServer.behave({ kind: "accept" });
  await scene.expectNothingLost(await scene.start());
});

test("after SIGTERM, the server reads half-sent requests, answers them and closes their connections", async () => {
  const scene = await openScene();
  const server = await scene.start();
  const body = JSON.stringify(messageWith());
  const heads = [
    `POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`,
    ...["/", "/about", "/healthz"].map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\nx-half: sent`),
  ];
  const sockets = await Promise.all(heads.map((head) => sendHalf(server, head)));
  const received = sockets.map(drain);
  const stopped = expectStop(server);
  await expectRefusal(server);
  for (const [index, socket] of sockets.entries()) socket.write(`\r\n\r\n${index === 0 ? body : ""}`);
  const answers = (await Promise.all(received)).map(parseAnswer);
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, headers: { connection: "close" } });
  expect(await scene.store.messages.list({})).toMatchObject([
    { reference: JSON.parse(answers[0]?.body ?? "").reference },
  ]);
  await stopped;
});

test.each(["hold-after-data", "hang-before-greeting"] as const)(
  "neither a silent mail server (%s) nor unfinished requests delay the exit",
  async (kind) => {
    const scene = await openScene();
    scene.mailServer.behave({ kind });
    const server = await scene.start();
    await scene.visitors.post(server.url, 8);
    for (const words of ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", "POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-le"])
      await sendHalf(server, words);
    await expectStop(server);
    expect((await scene.store.messages.list({ state: "queued" })).length).toBe(8);
  },
  60_000,
);

/** The server handles connections in order, so later answers show that it has received everything sent before. */
async function hasArrived({ url }: RunningServer): Promise<void> {
  for (let count = 0; count < 3; count += 1) await fetch(`${url}/healthz`);
}

/** A client that sends only this part of a request. */
async function sendHalf(server: RunningServer, words: string): Promise<Socket> {
  const socket = await openSocket(server.port);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(words);
  await hasArrived(server);
  return socket;
}

async function expectRefusal({ url }: RunningServer): Promise<void> {
  const isRefused = () => fetch(`${url}/healthz`).then(Boolean, () => "refused");
  await expect.poll(isRefused, SOON).toBe("refused");
}
