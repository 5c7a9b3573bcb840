import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Browser, chromium } from "@playwright/test";
import { createTRPCClient, httpLink } from "@trpc/client";
import pg from "pg";
import superjson from "superjson";
import type { Router } from "../../desk/operations.ts";
import { sqliteFile } from "../../server/store/sqlite.ts";
import { chromiumOptions } from "../../tests/support/programs.ts";
import { startPostgres } from "../../tests/support/run-postgres.ts";
import { acceptMessage, openSampleStore, startInbox } from "../sample-inbox.ts";
import { type BenchTable, median } from "./report.ts";

const MESSAGES = 100_000;
const AT_ONCE = 2_000;
const RUNS = 9;
const PERIOD_MS = 90 * 86_400_000;
const WORDS =
  "we would like to offset the emissions of our office in the valley and ask about wind solar credits prices per tonne delivery certificates registry audit invoice thank you kind regards please call me next week about your offer Größe naïve façade".split(
    " ",
  );

export async function benchInbox(): Promise<BenchTable[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-inbox-"));
  const postgres = await startPostgres();
  const browser = await chromium.launch(chromiumOptions());
  try {
    const onSqlite = await measureOn(browser, "SQLite", dataDir, null);
    const onPostgres = await measureOn(browser, "PostgreSQL", dataDir, await postgres.createDatabase());
    const title = `The inbox with ${MESSAGES.toLocaleString("en-GB")} messages`;
    const notes = [
      "The first screen may take 300 ms, or a second in a browser, and a search 500 ms. Nine in ten messages are delivered, half of these answered.",
      "A message has 70 words on average. The rare word is in one message, the common one in nearly all.",
    ];
    return [{ title, rows: [...onSqlite, ...onPostgres], notes }];
  } finally {
    await browser.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureOn(
  browser: Browser,
  database: string,
  dataDir: string,
  databaseUrl: string | null,
): Promise<BenchTable["rows"]> {
  await fill(dataDir, databaseUrl);
  const inbox = await startInbox({ DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) });
  const headers = { authorization: `Bearer ${inbox.token}` };
  const url = `${inbox.origin}/api/operations`;
  const { list, status } = createTRPCClient<Router>({ links: [httpLink({ url, transformer: superjson, headers })] });
  const steps: Record<string, () => Promise<unknown>> = {
    "list and counts": () => Promise.all([list.query({}), status.query()]),
    "tab: unanswered": () => list.query({ tab: "unanswered" }),
    "page in the middle": () => list.query({ offset: MESSAGES / 2 }),
    "search: rare word": () => list.query({ search: "zebrafish" }),
    "search: common word": () => list.query({ search: "OFFER" }),
    "first row in a browser with an empty cache": async () => {
      const context = await browser.newContext();
      const tab = await context.newPage();
      await tab.goto(`${inbox.origin}/#${inbox.token}`);
      await tab.locator(".row").first().waitFor();
      await context.close();
    },
  };
  try {
    const rows: BenchTable["rows"] = [];
    for (const [what, step] of Object.entries(steps)) rows.push({ database, what, ...(await timed(step)) });
    return rows;
  } finally {
    await inbox.stop();
  }
}

async function timed(step: () => Promise<unknown>) {
  const times: number[] = [];
  while (times.length < RUNS) {
    const startedAt = performance.now();
    await step();
    times.push(performance.now() - startedAt);
  }
  return {
    "first ms": times[0]?.toFixed(0) ?? "",
    "median ms": median(times).toFixed(0),
    "max ms": Math.max(...times).toFixed(0),
  };
}

async function fill(dataDir: string, databaseUrl: string | null): Promise<void> {
  const store = await openSampleStore(dataDir, databaseUrl);
  const startMs = Date.now() - PERIOD_MS;
  for (let from = 0; from < MESSAGES; from += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, index) => {
      const number = from + index;
      const acceptedAt = new Date(startMs + (number / MESSAGES) * PERIOD_MS);
      return acceptMessage(store, messageOf(number), { isTrapped: number % 20 === 3, acceptedAt });
    });
    await Promise.all(batch);
  }
  await store.close();
  await runSql(dataDir, databaseUrl, [
    `UPDATE deliveries SET state = 'delivered', due_at = NULL, changed_at = changed_at + message_id % 30000, attempts = 1
     WHERE state = 'queued' AND message_id % 20 <> 5 AND message_id < ${MESSAGES - 20}`,
    `UPDATE deliveries SET state = 'failed', due_at = NULL, error = 'the mail server refused it (550)', attempts = 1
     WHERE state = 'queued' AND message_id < ${MESSAGES - 20}`,
    `UPDATE messages SET answered_at = accepted_at + 3600000
     WHERE id % 2 = 0 AND id IN (SELECT message_id FROM deliveries WHERE state = 'delivered')`,
    `INSERT INTO events (message_id, at, kind, channel, detail)
     SELECT message_id, changed_at, state, channel, error FROM deliveries WHERE state IN ('delivered', 'failed')`,
  ]);
}

async function runSql(dataDir: string, databaseUrl: string | null, statements: readonly string[]): Promise<void> {
  if (databaseUrl === null) {
    const db = new DatabaseSync(sqliteFile(dataDir));
    for (const statement of statements) db.exec(statement);
    db.close();
    return;
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  // Autovacuum would do this within a minute.
  for (const statement of [...statements, "VACUUM ANALYZE messages, deliveries, events"]) await client.query(statement);
  await client.end();
}

function messageOf(number: number) {
  const length = 20 + ((number * 7919) % 100);
  const words = Array.from({ length }, (_, index) => WORDS[(number * 31 + index * index * 7 + index) % WORDS.length]);
  return {
    name: number % 5000 === 7 ? "Émile Zola" : `Ada Lovelace ${number}`,
    email: `ada${number % 30_000}@example.com`,
    phone: `+44 20 7946 ${number % 10_000}`,
    country: ["GB", "DE", "FR", "", "US"][number % 5] ?? "",
    message: `No. ${number}: ${words.join(" ")}${number === 777 ? " zebrafish" : ""}`,
  };
}
