import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "../scripts/run-server.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import type { PostgresConnection } from "./support/postgres.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const MESSAGES = 1000;
const CLIENTS = 20;

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
});
afterAll(() => postgres.stop());

test(`two servers on one PostgreSQL: ${MESSAGES} messages, ${MESSAGES} mails`, async () => {
  const mailServer = await startMailServer();
  const env = {
    DATABASE_URL: await postgres.createDatabase(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    LOG_LEVEL: "error",
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

  await expect.poll(() => mailServer.mails.length, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(MESSAGES);
  for (const node of nodes) expect(await node.stop()).toBe(0);
  const ids = mailServer.mails.map(({ raw }) => parseMail(raw).header("Message-ID"));
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
