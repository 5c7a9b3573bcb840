import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { PostgresConnection } from "../../scripts/run-postgres.ts";
import { messageWith, NO_LIMITS, submissionOf } from "../../tests/store-contract/samples.ts";
import { startNetwork } from "../../tests/support/network.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { schemaOf, sharePostgres } from "../../tests/support/shared-postgres.ts";
import { createStore, openStore } from "./open-store.ts";
import { COPIED_TABLES, openPostgres } from "./postgres.ts";
import { openSqliteFile, sqliteFile } from "./sqlite.ts";
import { type Store, StoreUnavailable } from "./store.ts";

let server: PostgresConnection;

beforeAll(async () => {
  server = await sharePostgres();
}, 120_000);
afterAll(() => server?.stop(), 120_000);

/** Checks at every ping whether it can be written. */
async function open(url: string): Promise<Store> {
  const store = createStore(await openPostgres(url), 0);
  onTestFinished(() => store.close());
  return store;
}

test("reports no success when the connection is cut during the commit, and the same key finds the message", async () => {
  const network = await startNetwork(server.port);
  const url = await server.createDatabase();
  const store = await open(url.replace(`:${server.port}/`, `:${network.port}/`));
  const unsure = submissionOf(messageWith(), { idempotencyKey: "key" });
  await network.become({ kind: "cut-after", word: "COMMIT" });
  await expect(store.accept(unsure, NO_LIMITS, new Date())).rejects.toThrow(StoreUnavailable);
  await network.become({ kind: "open" });
  expect(await store.accept(unsure, NO_LIMITS, new Date())).toMatchObject({
    kind: expect.stringMatching(/stored|repeated/),
  });
  expect(await store.list({})).toHaveLength(1);
});

test("has changed nothing when the connection is cut before the commit, and recovers by itself", async () => {
  const network = await startNetwork(server.port);
  const url = await server.createDatabase();
  const store = await open(url.replace(`:${server.port}/`, `:${network.port}/`));
  await network.become({ kind: "cut-after", word: "INSERT INTO messages" });
  await expect(store.accept(submissionOf(), NO_LIMITS, new Date())).rejects.toThrow(StoreUnavailable);
  await network.become({ kind: "open" });
  expect(await (await open(url)).list({})).toEqual([]);
  expect(await store.accept(submissionOf(), NO_LIMITS, new Date())).toMatchObject({ kind: "stored" });
});

test("survives that the server ends its idle connections", async () => {
  const store = await open(await server.createDatabase());
  await store.ping();
  await server.administer(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'messages' AND datname = current_database()",
  );
  await expect.poll(() => store.ping().then(() => "up"), { timeout: 5000 }).toBe("up");
});

test("says what to check when there is no server, without the password", async () => {
  const failure = openStore({ databaseUrl: "postgres://user:hunter2@127.0.0.1:1/none", dataDir: "" });
  await expect(failure).rejects.toThrow(StoreUnavailable);
  await expect(failure).rejects.toThrow(
    /^The message database cannot be used: .*ECONNREFUSED.*check DATABASE_URL [^\n]+$/,
  );
  await expect(failure).rejects.not.toThrow(/hunter2/);
});

test("does not trust a server that answers before a commit is on disk", async () => {
  const url = await server.createDatabase();
  const store = await open(`${url}%20-csynchronous_commit%3Doff`);
  await server.administer(`CREATE FUNCTION ${schemaOf(url)}.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.last_error := current_setting('synchronous_commit'); RETURN NEW; END $$`);
  await server.administer(
    `CREATE TRIGGER note BEFORE INSERT ON ${schemaOf(url)}.messages FOR EACH ROW EXECUTE FUNCTION ${schemaOf(url)}.note()`,
  );
  await store.accept(submissionOf(), NO_LIMITS, new Date());
  expect(await store.list({})).toMatchObject([{ lastError: "on" }]);
});

test("notices that the database was made read-only, which can still be read", async () => {
  await server.administer("CREATE DATABASE turned_read_only");
  const url = (await server.createDatabase()).replace(/\/\w+\?.*$/, "/turned_read_only");
  const store = await open(url);
  await store.ping();
  await server.administer("ALTER DATABASE turned_read_only SET default_transaction_read_only = on");
  await server.administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'turned_read_only'");
  await expect.poll(() => store.list({}), { timeout: 5000 }).toEqual([]);
  await expect(store.ping()).rejects.toThrow(StoreUnavailable);
  await expect(store.accept(submissionOf(), NO_LIMITS, new Date())).rejects.toThrow(StoreUnavailable);
});

test("keeps to the number of connections that it is given, however much is asked at once", async () => {
  await server.administer("CREATE DATABASE few_connections");
  const url = (await server.createDatabase()).replace(/\/\w+\?.*$/, "/few_connections");
  const database = await openPostgres(url, { maxConnections: 2 });
  onTestFinished(() => database.close());
  const count = "SELECT count(*) AS count, pg_sleep(0.1) FROM pg_stat_activity WHERE datname = current_database()";
  const counts = await Promise.all(Array.from({ length: 6 }, () => database.query<{ count: number }>(count)));
  expect(Math.max(...counts.map(([row]) => row?.count ?? 0))).toBe(2);
});

test("has the columns of the copy that a backup is, in every table", async () => {
  const url = await server.createDatabase();
  await open(url);
  const rows = (await server.administer(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = '${schemaOf(url)}' AND is_generated = 'NEVER'`,
  )) as { table_name: string; column_name: string }[];
  const copy = await openSqliteFile(sqliteFile(await makeScratchFolder()));
  onTestFinished(() => copy.close());
  const copied: string[] = [];
  for (const table of COPIED_TABLES) {
    const columns = await copy.query<{ name: string }>("SELECT name FROM pragma_table_info($1)", [table]);
    copied.push(...columns.map(({ name }) => `${table}.${name}`));
  }
  expect(copied.sort()).toEqual(rows.map((row) => `${row.table_name}.${row.column_name}`).sort());
});

test("leaves no copy of an erased message in the table's files", async () => {
  const url = await server.createDatabase();
  const store = await open(url);
  const emails = ["eve@example.com", "ada@example.com", "eve@example.com", "ada@example.com", "eve@example.com"];
  for (const email of emails) await store.accept(submissionOf(messageWith({ email })), NO_LIMITS, new Date());
  const fileOf = async () =>
    (await server.administer(`SELECT pg_relation_filepath('${schemaOf(url)}.messages') AS file`)) as { file: string }[];
  const holdsIt = async () => {
    await server.administer("CHECKPOINT");
    const [{ file } = { file: "" }] = await fileOf();
    const [row] = (await server.administer(
      `SELECT position('ada@example.com'::bytea IN pg_read_binary_file('${file}')) > 0 AS found`,
    )) as { found: boolean }[];
    return row?.found;
  };
  expect(await holdsIt()).toBe(true);
  await store.erase("ada@example.com");
  expect(await holdsIt()).toBe(false);
});
