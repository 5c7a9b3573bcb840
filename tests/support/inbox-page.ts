import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test as base } from "@playwright/test";
import { type Inbox, startInbox } from "../../server/desk/browser/serve.ts";
import type { Store } from "../../server/store/open-store.ts";
import { sqliteFile } from "../../server/store/sqlite.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { deskOf } from "./inbox-command.ts";
import { findFreePort } from "./run-server.ts";
import { SCRATCH_PARENT } from "./scratch-parent.ts";
import { collectTrouble } from "./site.ts";

type RunningInbox = Awaited<ReturnType<typeof start>>;

interface OpenInbox extends RunningInbox {
  /** Opens a path of it with the token of this run. */
  open(path?: string): Promise<unknown>;
  /** Matching console errors and failed requests do not fail the test. */
  expectTrouble(pattern: RegExp): void;
}

/**
 * Every test gets the inbox with an empty store, and fails on any error that the browser reports. The tests of a worker
 * share the inbox and its database.
 */
export const test = base.extend<{ inbox: OpenInbox }, { running: RunningInbox }>({
  running: [
    async ({ browserName: _ }, use) => {
      const running = await start();
      await use(running);
      await running.close();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  baseURL: ({ running }, use) => use(running.origin),
  inbox: async ({ page, running }, use) => {
    await running.empty();
    const trouble = collectTrouble(page, running.origin);
    // A download is a request for a blob that the page itself made.
    const expected = [new RegExp(`blob:${running.origin}`)];
    await use({
      ...running,
      open: (path = "/?tab=all") => page.goto(`${path}#${running.token()}`),
      expectTrouble: (pattern) => void expected.push(pattern),
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const unexpected = trouble.filter((line) => !expected.some((one) => one.test(line)));
    if (unexpected.length > 0) throw new Error(`The browser reported:\n${unexpected.join("\n")}`);
  },
});

async function start() {
  const dataDir = await mkdtemp(join(SCRATCH_PARENT, "inbox-"));
  const store = await openStoreInProcess({ dataDir, databaseUrl: null, account: "anna" });
  // Not the default port, which another worker could use while this inbox is stopped.
  const port = await findFreePort();
  let run: { inbox: Inbox; store: Store } | null = null;
  const stop = async () => {
    await run?.inbox.close();
    await run?.store.close();
    run = null;
  };
  let token = "";
  /** Starts a new run on the same port. */
  const restart = async () => {
    await stop();
    const store = await openStoreInProcess({ dataDir, databaseUrl: null, account: "operator" });
    const desk = deskOf({ store, dataDir, account: "operator" });
    const inbox = await startInbox({ desk, filesDir: "dist-inbox", port, onDefect: console.error });
    run = { inbox, store };
    token = new URL(inbox.url).hash.slice(1);
  };
  await restart();
  return {
    /** The same database, opened by a colleague's command. */
    store,
    origin: `http://localhost:${port}`,
    /** Of the present run. */
    token: () => token,
    url: () => run?.inbox.url ?? "",
    stop,
    restart,
    /** Deletes all rows of the previous test. */
    async empty() {
      // The previous test may have ended while the inbox was stopped.
      if (!run) await restart();
      emptyDatabase(sqliteFile(dataDir));
    },
    async close() {
      await stop();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

// Reads the tables from the database, so that new ones are emptied too. Open stores need the kept rows of `meta`, and
// RETENTION, which a store writes when it opens.
function emptyDatabase(file: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  const tables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meta', 'retention') AND name NOT LIKE 'sqlite_%'",
  );
  const statements = tables.all().map(({ name }) => `DELETE FROM ${name}`);
  statements.push("DELETE FROM meta WHERE name NOT IN ('schema_version', 'client_key')");
  database.exec("PRAGMA busy_timeout = 10000");
  database.exec(["BEGIN IMMEDIATE", ...statements, "COMMIT"].join(";"));
  database.close();
}
