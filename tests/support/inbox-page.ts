import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test as base } from "@playwright/test";
import { findFreePort } from "../../scripts/run-server.ts";
import { sqliteFile } from "../../server/store/sqlite.ts";
import type { Store } from "../../server/store/store.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { startInboxCommand } from "./inbox-command.ts";
import { collectTrouble } from "./site.ts";
import { collectViolations } from "./violations.ts";

export interface OpenInbox {
  /** `http://localhost:PORT`. */
  readonly origin: string;
  /** What the command printed: the address with the token of this run. */
  readonly address: string;
  /** The same database, as another program has it open. */
  store: Store;
  stop(): Promise<number | null>;
  /** Another run of the command on the same port. */
  restart(): Promise<void>;
}

interface InboxFixtures {
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
  command: RunningCommand;
}

/**
 * Every test gets the real command on an empty store, and fails on any trouble that the browser reports. A worker's tests
 * share the command and its database.
 */
export const test = base.extend<InboxFixtures, WorkerFixtures>({
  expectedTrouble: [null, { option: true }],
  command: [
    async ({ browserName: _ }, use) => {
      const command = await startCommand();
      await use(command);
      await command.close();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  inbox: async ({ command }, use) => {
    await command.empty();
    await use(command);
  },
  page: async ({ page, inbox, expectedTrouble }, use) => {
    const trouble = collectTrouble(page, inbox.origin);
    const violations = await collectViolations(page);
    await use(page);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // A download is a request for something that the page itself made.
    const isExpected = (line: string) => expectedTrouble?.test(line) || line.includes(`blob:${inbox.origin}`);
    const unexpected = [...trouble, ...violations].filter((line) => !isExpected(line));
    if (unexpected.length > 0) throw new Error(`The browser reported:\n${unexpected.join("\n")}`);
  },
});

async function startCommand(): Promise<RunningCommand> {
  const dataDir = await mkdtemp(join(tmpdir(), "inbox-"));
  const env = { DATA_DIR: dataDir };
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  // Not the default one, which another worker's command could take while this one is stopped.
  let run = await startInboxCommand(env, "--port", String(await findFreePort()));
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
    stop() {
      isRunning = false;
      return run.stop();
    },
    restart,
    async empty() {
      // The test before may have ended while it was stopped.
      if (!isRunning) await restart();
      emptyDatabase(sqliteFile(dataDir));
    },
    async close() {
      await run.stop();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

// The tables come from the database, so that a new one is emptied too. The open stores need what is left.
function emptyDatabase(file: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  const tables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta' AND name NOT LIKE 'sqlite_%'",
  );
  const statements = tables.all().map(({ name }) => `DELETE FROM ${name}`);
  statements.push("DELETE FROM meta WHERE name NOT IN ('schema_version', 'client_key')");
  database.exec("PRAGMA busy_timeout = 10000");
  database.exec(["BEGIN IMMEDIATE", ...statements, "COMMIT"].join(";"));
  database.close();
}
