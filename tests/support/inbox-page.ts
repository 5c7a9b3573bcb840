import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test as base } from "@playwright/test";
import pg from "pg";
import { startPostgres } from "../../scripts/run-postgres.ts";
import { openStore } from "../../server/store/open-store.ts";
import { sqliteFile } from "../../server/store/sqlite.ts";
import type { Store } from "../../server/store/store.ts";
import { startInboxCommand } from "./inbox-command.ts";
import { type Outcome, runCli } from "./run-cli.ts";
import { collectTrouble } from "./site.ts";
import { collectViolations } from "./violations.ts";

export interface OpenInbox {
  /** `http://localhost:PORT`. */
  readonly origin: string;
  /** What the command printed: the address with the token of this run. */
  readonly address: string;
  /** The same database, as another program has it open. */
  store: Store;
  cli(...args: string[]): Promise<Outcome>;
  stop(): Promise<number | null>;
  /** Another run of the command on the same port. */
  restart(): Promise<void>;
}

type DatabaseKind = "SQLite" | "PostgreSQL";

interface InboxFixtures {
  database: DatabaseKind;
  inbox: OpenInbox;
  /** What a test means to provoke: console errors or failed requests that match are no failure of it. */
  expectedTrouble: RegExp | null;
}

interface RunningCommand extends OpenInbox {
  /** Deletes every row that a test may have left. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

interface WorkerFixtures {
  /** The command on each kind of database; started by the first test that needs it. */
  commands: (kind: DatabaseKind) => Promise<RunningCommand>;
}

/**
 * Every test gets the real command on an empty store, and fails on any trouble that the browser reports. A worker's tests
 * share the command and its database.
 */
export const test = base.extend<InboxFixtures, WorkerFixtures>({
  database: ["SQLite", { option: true }],
  expectedTrouble: [null, { option: true }],
  commands: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from it
    async ({}, use) => {
      const running = new Map<DatabaseKind, Promise<RunningCommand>>();
      await use((kind) => {
        const command = running.get(kind) ?? startCommand(kind);
        running.set(kind, command);
        return command;
      });
      for (const command of await Promise.allSettled(running.values())) {
        if (command.status === "fulfilled") await command.value.close();
      }
    },
    { scope: "worker", timeout: 60_000 },
  ],
  inbox: async ({ database, commands }, use) => {
    const command = await commands(database);
    await command.empty();
    await use(command);
  },
  page: async ({ page, inbox, expectedTrouble }, use) => {
    const trouble = collectTrouble(page, inbox.origin);
    const violations = await collectViolations(page);
    await use(page);
    // A download is a request for something that the page itself made.
    const isExpected = (line: string) => expectedTrouble?.test(line) || line.includes(`blob:${inbox.origin}`);
    const unexpected = [...trouble, ...violations].filter((line) => !isExpected(line));
    if (unexpected.length > 0) throw new Error(`The browser reported:\n${unexpected.join("\n")}`);
  },
});

async function startCommand(kind: DatabaseKind): Promise<RunningCommand> {
  const dataDir = await mkdtemp(join(tmpdir(), "inbox-"));
  const postgres = kind === "PostgreSQL" ? await startPostgres() : null;
  const databaseUrl = (await postgres?.createDatabase()) ?? null;
  const env = { DATA_DIR: dataDir, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) };
  const store = await openStore({ dataDir, databaseUrl });
  let run = await startInboxCommand(env);
  let isRunning = true;
  const restart = async () => {
    await run.stop();
    run = await startInboxCommand(env, "--port", String(run.port));
    isRunning = true;
  };
  return {
    store,
    get origin() {
      return `http://localhost:${run.port}`;
    },
    get address() {
      return run.url;
    },
    cli: (...args) => runCli(env, ...args),
    stop() {
      isRunning = false;
      return run.stop();
    },
    restart,
    async empty() {
      // The test before may have ended while it was stopped.
      if (!isRunning) await restart();
      if (databaseUrl === null) emptySqlite(sqliteFile(dataDir));
      else await emptyPostgres(databaseUrl);
    },
    async close() {
      await run.stop();
      await store.close();
      await postgres?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

// The tables come from the database, so that a new one is emptied too. What the store knows of itself stays.
function emptySqlite(file: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  const tables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'store_meta' AND name NOT LIKE 'sqlite_%'",
  );
  database.exec("PRAGMA busy_timeout = 10000");
  database.exec(["BEGIN IMMEDIATE", ...tables.all().map(({ name }) => `DELETE FROM ${name}`), "COMMIT"].join(";"));
  database.close();
}

async function emptyPostgres(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const tables = await client.query(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'store_meta'",
  );
  await client.query(`TRUNCATE ${tables.rows.map(({ name }) => name).join(", ")}`);
  await client.end();
}
