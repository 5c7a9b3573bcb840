import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { createStore, openStore } from "../server/store/open-store.ts";
import { openPostgres } from "../server/store/postgres.ts";
import type { Store } from "../server/store/store.ts";
import { acceptingSuite } from "./store-contract/accepting.ts";
import { acknowledgingSuite } from "./store-contract/acknowledging.ts";
import { keepingSuite } from "./store-contract/keeping.ts";
import { operatorSuite } from "./store-contract/operator.ts";
import { queueSuite } from "./store-contract/queue.ts";
import type { NewPlace } from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

describe("SQLite", () => {
  runSuites(async () => {
    const folder = await mkdtemp(join(tmpdir(), "store-contract-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const settings = { dataDir: folder, databaseUrl: null };
    let nodes = 0;
    return {
      isShared: false,
      async open(options) {
        nodes += 1;
        return closedAfterTest(await (nodes === 1 ? openStoreInProcess(settings, options) : openStore(settings)));
      },
      async sql(statement) {
        const db = new DatabaseSync(join(folder, "messages.db"));
        const rows = db.prepare(statement).all();
        db.close();
        return rows;
      },
      async loadSchema(version) {
        const db = new DatabaseSync(join(folder, "messages.db"));
        db.exec(await readFile(`tests/fixtures/schema-${version}.sqlite.sql`, "utf8"));
        db.close();
      },
    };
  });
});

describe("PostgreSQL", () => {
  let server: PostgresConnection;
  beforeAll(async () => {
    server = await sharePostgres();
  }, 120_000);
  afterAll(() => server?.stop(), 120_000);

  runSuites(async () => {
    const url = await server.createDatabase();
    return {
      isShared: true,
      open: async (options) => closedAfterTest(createStore(await openPostgres(url, options))),
      async sql(statement) {
        const client = new pg.Client(url);
        await client.connect();
        const { rows } = await client.query(statement);
        await client.end();
        return rows;
      },
      async loadSchema(version) {
        const client = new pg.Client(url);
        await client.connect();
        await client.query(await readFile(`tests/fixtures/schema-${version}.postgres.sql`, "utf8"));
        await client.end();
      },
    };
  });
});

function runSuites(newPlace: NewPlace): void {
  describe("accepting", () => acceptingSuite(newPlace));
  describe("the queue", () => queueSuite(newPlace));
  describe("acknowledging", () => acknowledgingSuite(newPlace));
  describe("keeping", () => keepingSuite(newPlace));
  describe("the operator", () => operatorSuite(newPlace));
}

function closedAfterTest(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}
