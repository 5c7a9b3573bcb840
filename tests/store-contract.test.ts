import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, onTestFinished } from "vitest";
import { sqliteFile } from "../server/store/sqlite.ts";
import type { StoreOptions } from "../server/store/store.ts";
import { acceptingSuite } from "./store-contract/accepting.ts";
import { changesSuite } from "./store-contract/changes.ts";
import { deliveriesSuite } from "./store-contract/deliveries.ts";
import { listingSuite } from "./store-contract/listing.ts";
import { mailboxSuite } from "./store-contract/mailbox.ts";
import { openingSuite } from "./store-contract/opening.ts";
import { type Place, testOn } from "./store-contract/place.ts";
import { retentionSuite } from "./store-contract/retention.ts";
import { spamSuite } from "./store-contract/spam.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgresForFile } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const server = await sharePostgresForFile();

describe("SQLite", () => runSuites(newSqlitePlace));

describe("PostgreSQL", () => {
  runSuites(async () => {
    const databaseUrl = await server.createDatabase();
    const client = new pg.Client(databaseUrl);
    await client.connect();
    onTestFinished(() => client.end());
    const settings = { dataDir: "", databaseUrl };
    return {
      isShared: true,
      open: (options = {}) => openUntilTheEnd({ ...settings, ...options }, { isServer: true }),
      sql: async (statement) => (await client.query(statement)).rows,
    };
  });
});

/** The first node is the website, with its store in a thread. The others are commands beside it, in this process. */
async function newSqlitePlace(): Promise<Place> {
  const dataDir = await makeScratchFolder();
  let nodes = 0;
  return {
    isShared: false,
    open(settings = {}) {
      nodes += 1;
      // Two stores in one thread would block each other.
      return openUntilTheEnd({ dataDir, databaseUrl: null, ...settings }, { isServer: nodes === 1 });
    },
    async sql<Row>(statement: string) {
      const db = new DatabaseSync(sqliteFile(dataDir), { timeout: 5000 });
      const rows = db.prepare(statement).all();
      db.close();
      return rows as Row[];
    },
  };
}

const openUntilTheEnd = (settings: Parameters<typeof openStoreInProcess>[0], options: StoreOptions) =>
  untilEnd(openStoreInProcess(settings, options));

function runSuites(newPlace: () => Promise<Place>): void {
  const test = testOn(newPlace);
  describe("accepting", () => acceptingSuite(test));
  describe("deliveries", () => deliveriesSuite(test));
  describe("listing", () => listingSuite(test));
  describe("changes", () => changesSuite(test));
  describe("spam", () => spamSuite(test));
  describe("retention", () => retentionSuite(test));
  describe("mailbox", () => mailboxSuite(test));
  describe("opening", () => openingSuite(test));
}
