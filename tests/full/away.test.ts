import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sentQuery } from "../../server/http/receipt.ts";
import { sqliteFile } from "../../server/store/sqlite.ts";
import { openStore } from "../../server/store/store.ts";
import { postMessage } from "../support/load.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { startReceiver } from "../support/receiver.ts";
import { findFreePort, type RunningServer, startProgram } from "../support/run-server.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

let postgres: Awaited<ReturnType<typeof sharePostgres>>;
beforeAll(async () => {
  postgres = await sharePostgres();
});
afterAll(() => postgres.stop());

const BODY = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Hello" };

/** A server that may be without its store: it is ready once its port is open. */
async function startAway(env: Readonly<Record<string, string>>) {
  const port = await findFreePort();
  const settings = { PORT: String(port), RATE_LIMIT: "off", HOURLY_LIMIT: "off", ...env };
  const server = await untilEnd(startProgram(["node", "server/main.ts"], { env: settings, port }));
  const ask = (path: string) => fetch(server.url + path, { signal: AbortSignal.timeout(15_000) });
  const post = () =>
    fetch(`${server.url}/send-email`, {
      method: "POST",
      body: JSON.stringify(BODY),
      headers: { "content-type": "application/json" },
    });
  return { server: server as RunningServer, ask, post };
}

async function expectAwayAndBack(
  { server, ask, post }: Awaited<ReturnType<typeof startAway>>,
  receiver: Awaited<ReturnType<typeof startReceiver<{ text: string; troubles: string[]; resolved?: string[] }>>>,
  startedAtMs: number,
  comeBack: () => void,
) {
  const refused = await post();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  for (const [path, status] of [
    ["/", 200],
    ["/contact", 200],
    ["/healthz", 200],
    ["/readyz", 503],
  ] as const)
    expect([path, (await ask(path)).status]).toEqual([path, status]);
  const query = sentQuery("BC-7K3Q-9M", "00");
  expect(await (await ask(`/contact?${query}`)).text()).toBe(await (await ask("/contact")).text());
  await expect.poll(() => receiver.posts.length, { timeout: 30_000 }).toBe(1);
  expect(performance.now() - startedAtMs).toBeLessThan(30_000);
  const [{ body } = { body: { text: "", troubles: [] } }] = receiver.posts;
  expect(body.troubles).toEqual(["store-away"]);
  expect(body.text).toContain(`:${server.port}, and visitors are asked to try again. The message database`);
  comeBack();
  await expect.poll(() => ask("/readyz").then(({ status }) => status), { timeout: 40_000 }).toBe(200);
  expect(await postMessage(server.url, "after the outage")).toMatch(/^BC-/);
  await expect.poll(() => receiver.posts.at(-1)?.body.resolved, { timeout: 40_000 }).toEqual(["store-away"]);
  expect(receiver.posts).toHaveLength(2);
  const exited = once(server.process, "exit");
  server.process.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
}

const LONG = { timeout: 150_000 };

test(
  "without PostgreSQL, a website starts, answers pages, refuses posts for now, tells it, and recovers",
  LONG,
  async () => {
    const url = new URL(await postgres.createDatabase());
    const network: Network = await startNetwork(Number(url.port));
    url.port = String(network.port);
    network.become({ kind: "refused" });
    const receiver = await startReceiver<{ text: string; troubles: string[]; resolved?: string[] }>();
    const startedAtMs = performance.now();
    const env = { DATABASE_URL: String(url), DATA_DIR: await makeScratchFolder(), ALERT_URL: receiver.url };
    await expectAwayAndBack(await startAway(env), receiver, startedAtMs, () => network.become({ kind: "open" }));
  },
);

test(
  "without SQLite's lock, a website starts, answers pages, refuses posts for now, tells it, and recovers",
  LONG,
  async () => {
    const dataDir = await makeScratchFolder();
    await (await openStore({ dataDir, databaseUrl: null }, { isServer: true })).close();
    const other = new DatabaseSync(sqliteFile(dataDir));
    other.exec("BEGIN IMMEDIATE");
    const receiver = await startReceiver<{ text: string; troubles: string[]; resolved?: string[] }>();
    const startedAtMs = performance.now();
    const started = await startAway({ DATA_DIR: dataDir, ALERT_URL: receiver.url });
    await expectAwayAndBack(started, receiver, startedAtMs, () => other.close());
  },
);

test("posts wait until the store has answered for the first time, and a stop does not wait for it", LONG, async () => {
  const url = new URL(await postgres.createDatabase());
  const network: Network = await startNetwork(Number(url.port));
  url.port = String(network.port);
  network.become({ kind: "refused" });
  const { ask, post, server } = await startAway({ DATABASE_URL: String(url), DATA_DIR: await makeScratchFolder() });
  const waiting = post();
  // The first attempt has failed.
  await expect.poll(server.output).toContain("store-away");
  expect((await ask("/contact")).status).toBe(200);
  network.become({ kind: "open" });
  expect((await waiting).status).toBe(200);

  network.become({ kind: "refused" });
  const without = await startAway({ DATABASE_URL: String(url), DATA_DIR: await makeScratchFolder() });
  await expect.poll(without.server.output).toContain("store-away");
  const exited = once(without.server.process, "exit");
  without.server.process.kill("SIGTERM");
  expect(await Promise.race([exited, setTimeout(9000, "waits", { ref: false })])).toEqual([0, null]);
});
