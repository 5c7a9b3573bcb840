import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { openStore } from "../server/store/open-store.ts";
import { postUntil } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { startServer } from "./support/server.ts";

const KILLS = 20;
const CLIENTS = 6;

test(`what was acknowledged survives ${KILLS} kills at odd moments, and is mailed once or with the same Message-ID`, async () => {
  const dataDir = await makeScratchFolder();
  const mailServer = await startMailServer();
  const env = { DATA_DIR: dataDir, SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, LOG_LEVEL: "error" };
  const acknowledged: string[] = [];

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const server = await startServer(env);
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      postUntil(stop.signal, server.url, `kill ${kill} client ${client}`),
    );
    // Odd but repeatable moments, from the middle of the first request to well under way.
    await wait(10 + ((kill * 67) % 190));
    server.process.kill("SIGKILL");
    await once(server.process, "exit");
    stop.abort();
    acknowledged.push(...(await Promise.all(clients)).flat());
  }
  expect(acknowledged.length).toBeGreaterThan(KILLS);

  endLeases(dataDir);
  const server = await startServer(env);
  const mailed = () => mailServer.mails.map(({ raw }) => parseMail(raw).header("Message-ID"));
  const store = await openStore({ dataDir, databaseUrl: null });
  await expect.poll(async () => (await store.queueDepth()).queued, { timeout: 60_000, interval: 100 }).toBe(0);
  expect(await server.stop()).toBe(0);

  const stored = await store.list({ limit: 1_000_000 });
  await store.close();
  await mailServer.close();
  const storedReferences = new Set(stored.map(({ reference }) => reference));
  expect(acknowledged.filter((reference) => !storedReferences.has(reference))).toEqual([]);
  expect(stored.filter(({ state }) => state !== "delivered")).toEqual([]);

  const times = new Map<string, number>();
  for (const id of mailed()) times.set(id, (times.get(id) ?? 0) + 1);
  expect(times.size).toBe(stored.length);
  // A mail is repeated only where a kill fell between sending it and marking it.
  expect(Math.max(...times.values())).toBeLessThanOrEqual(2);
  for (const reference of storedReferences) {
    expect([...times.keys()].filter((id) => id.includes(reference))).toHaveLength(1);
  }
}, 180_000);

/** As if the five minutes had passed for which a dead worker's messages stay its own. */
function endLeases(dataDir: string): void {
  const db = new DatabaseSync(join(dataDir, "messages.db"));
  db.exec("UPDATE messages SET leased_until = 0 WHERE leased_until IS NOT NULL");
  db.close();
}
