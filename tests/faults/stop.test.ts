import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqliteFile } from "../../server/store/sqlite.ts";
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

test("after SIGTERM, half-sent requests and those that wait for the database get their answers", async () => {
  const scene = await openScene();
  const server = await scene.start();
  // The server also waits for mails in flight, so none is sent twice.
  scene.mailServer.behave({ kind: "accept", afterMs: 2000 });
  await scene.visitors.post(server.url, 5);
  await expect.poll(() => scene.mailServer.mails.length, SOON).toBe(5);
  // Another program keeps the database's write lock.
  const other = new DatabaseSync(sqliteFile(scene.dataDir), { timeout: 5000 });
  other.exec("BEGIN IMMEDIATE");
  const underWay = scene.visitors.post(server.url, 20);
  const sockets = [await openSocket(server.port), await openSocket(server.port)] as const;
  const received = sockets.map(drain);
  sockets[0].write("GET / HTTP/1.1\r\n");
  sockets[1].write("GET /healthz HTTP/1.1\r\n");
  await hasArrived(server);
  const stopped = expectStop(server);
  await expectRefusal(server);
  for (const socket of sockets) socket.write("host: x\r\n\r\n");
  for (const answer of (await Promise.all(received)).map(parseAnswer))
    expect(answer).toMatchObject({ status: 200, headers: { connection: "close" } });
  other.close();
  for (const answer of await underWay) expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
  await stopped;
  scene.mailServer.behave({ kind: "accept" });
  await scene.expectNothingLost(await scene.start());
});

test.each(["hold-after-data", "hang-before-greeting"] as const)(
  "neither a silent mail server (%s) nor unfinished requests delay the exit",
  async (kind) => {
    const scene = await openScene();
    scene.mailServer.behave({ kind });
    const server = await scene.start();
    await scene.visitors.post(server.url, 8);
    for (const words of ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", "POST /send-email HTTP/1.1\r\nhost: x\r\ncontent-le"])
      (await openSocket(server.port)).on("error", () => {}).write(words);
    await hasArrived(server);
    await expectStop(server);
    expect((await scene.store.messages.list({ state: "queued" })).length).toBe(8);
  },
  60_000,
);

/** The server handles connections in order, so later answers show that it has received everything sent before. */
async function hasArrived({ url }: RunningServer): Promise<void> {
  for (let count = 0; count < 3; count += 1) await fetch(`${url}/healthz`);
}

async function expectRefusal({ url }: RunningServer): Promise<void> {
  const isRefused = () => fetch(`${url}/healthz`).then(Boolean, () => "refused");
  await expect.poll(isRefused, SOON).toBe("refused");
}
