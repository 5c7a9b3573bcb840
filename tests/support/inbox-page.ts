import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "@playwright/test";
import { findFreePort } from "../../scripts/run-server.ts";
import { openStore } from "../../server/store/open-store.ts";
import type { Store } from "../../server/store/store.ts";
import { startInboxCommand } from "./inbox-command.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type Outcome, runCli } from "./run-cli.ts";
import { collectTrouble } from "./site.ts";
import { collectViolations } from "./violations.ts";

export interface OpenInbox {
  /** `http://localhost:PORT`. */
  origin: string;
  /** What the command printed: the address with the token of this run. */
  readonly address: string;
  /** The same database, as another program has it open. */
  store: Store;
  cli(...args: string[]): Promise<Outcome>;
  stop(): Promise<number | null>;
  /** Another run of the command on the same port. */
  restart(): Promise<void>;
}

interface InboxFixtures {
  database: "SQLite" | "PostgreSQL";
  inbox: OpenInbox;
  /** What a test means to provoke: console errors or failed requests that match are no failure of it. */
  expectedTrouble: RegExp | null;
}

interface WorkerFixtures {
  /** Resolves to the address of an empty PostgreSQL database; the first call starts the server. */
  createDatabase: () => Promise<string>;
}

/** Every test gets the real command on a store of its own, and fails on any trouble that the browser reports. */
export const test = base.extend<InboxFixtures, WorkerFixtures>({
  database: ["SQLite", { option: true }],
  expectedTrouble: [null, { option: true }],
  createDatabase: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from it
    async ({}, use) => {
      const servers: PostgresServer[] = [];
      await use(async () => {
        const server = servers[0] ?? (await startPostgres());
        servers[0] = server;
        return server.createDatabase();
      });
      for (const server of servers) await server.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  inbox: async ({ database, createDatabase }, use) => {
    const dataDir = await mkdtemp(join(tmpdir(), "inbox-"));
    const databaseUrl = database === "SQLite" ? null : await createDatabase();
    const env = { DATA_DIR: dataDir, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) };
    const store = await openStore({ dataDir, databaseUrl });
    const port = await findFreePort();
    let run = await startInboxCommand(env, "--port", String(port));
    await use({
      origin: `http://localhost:${port}`,
      get address() {
        return run.url;
      },
      store,
      cli: (...args) => runCli(env, ...args),
      stop: () => run.stop(),
      async restart() {
        await run.stop();
        run = await startInboxCommand(env, "--port", String(port));
      },
    });
    await run.stop();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
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
