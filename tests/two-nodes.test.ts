import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "../scripts/run-server.ts";
import { openStore } from "../server/store/open-store.ts";
import { acknowledgementIdsOf, messageIdsOf } from "./support/invariant.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import type { PostgresConnection } from "./support/postgres.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const MESSAGES = 1000;
const CLIENTS = 20;

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
});
afterAll(() => postgres.stop());

test(`two servers on one PostgreSQL: ${MESSAGES} messages, ${MESSAGES} mails, and one to their only sender`, async () => {
  const mailServer = await startMailServer();
  const env = {
    DATABASE_URL: await postgres.createDatabase(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    LOG_LEVEL: "error",
    ACKNOWLEDGE: "on",
  };
  const nodes = await Promise.all([startServer(env), startServer(env)]);
  const references = new Set<string | null>();
  const client = async (first: number) => {
    for (let count = first; count < MESSAGES; count += CLIENTS) {
      references.add(await postMessage(nodes[count % 2]?.url ?? "", `message ${count}`));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, first) => client(first)));
  expect(references.size).toBe(MESSAGES);
  expect(references).not.toContain(null);

  const soon = { timeout: 60_000, interval: 100 };
  await expect.poll(() => mailServer.mails.length, soon).toBeGreaterThanOrEqual(MESSAGES);
  const store = await openStore({ dataDir: "", databaseUrl: env.DATABASE_URL });
  const told = { queued: 0, sending: 0, sent: 1, skipped: MESSAGES - 1, failed: 0 };
  await expect.poll(() => store.countAcknowledgements(new Date(0)), soon).toEqual(told);
  await store.close();
  for (const node of nodes) expect(await node.stop()).toBe(0);
  const ids = messageIdsOf(mailServer.mails);
  expect(acknowledgementIdsOf(mailServer.mails)).toHaveLength(1);
  expect(ids).toHaveLength(MESSAGES);
  expect(new Set(ids).size).toBe(MESSAGES);
  await mailServer.close();
}, 120_000);

test("limits are shared by the nodes", async () => {
  const env = { DATABASE_URL: await postgres.createDatabase(), RATE_LIMIT: "5/10m" };
  const nodes = await Promise.all([startServer(env), startServer(env)]);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, count) => postMessage(nodes[count % 2]?.url ?? "", `limit ${count}`)),
  );
  expect(answers.filter((reference) => reference !== null)).toHaveLength(5);
  for (const node of nodes) await node.stop();
}, 60_000);
