import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { messageWith, store as send, submissionOf } from "../../tests/store-contract/samples.ts";
import { RETENTION } from "../../tests/support/in-process-store.ts";
import { startNetwork } from "../../tests/support/network.ts";
import { startPostgres } from "../../tests/support/run-postgres.ts";
import { schemaOf, sharePostgres } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { createStore } from "./open-store.ts";
import { openPostgres } from "./postgres.ts";
import { StoreUnavailable } from "./store.ts";

const server = await sharePostgres();
afterAll(() => server.stop());

/** Checks at every ping whether the database can be written. */
const open = async (url: string) =>
  untilEnd(createStore(await openPostgres(url), { retention: RETENTION, checkIntervalMs: 0 }));

/** A separate database, so that settings can be changed for it alone. */
async function createOwnDatabase(): Promise<{ name: string; url: string }> {
  const name = `own_${randomUUID().replaceAll("-", "")}`;
  await server.administer(`CREATE DATABASE ${name}`);
  return { name, url: (await server.createDatabase()).replace(/\/\w+\?.*$/, `/${name}`) };
}

test("limits the commit of a long transaction like any other commit", async () => {
  const url = await server.createDatabase();
  const network = await startNetwork(server.port);
  const database = await untilEnd(openPostgres(url.replace(`:${server.port}/`, `:${network.port}/`)));
  network.become({ kind: "silent-after", word: "COMMIT" });
  const long = database.transaction(({ query }) => query("SELECT 1"), { isLong: true });
  await expect(long).rejects.toThrow(StoreUnavailable);
  network.become({ kind: "open" });
});

test("does not trust a server that answers before a commit is on disk", async () => {
  const url = await server.createDatabase();
  const store = await open(`${url}%20-csynchronous_commit%3Doff`);
  const schema = schemaOf(url);
  await server.administer(`CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.phone := current_setting('synchronous_commit'); RETURN NEW; END $$`);
  await server.administer(
    `CREATE TRIGGER note BEFORE INSERT ON ${schema}.messages FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`,
  );
  await send(store);
  expect(await store.messages.list({})).toMatchObject([{ phone: "on" }]);
});

test("is not ready if the database is read-only", async () => {
  const { name, url } = await createOwnDatabase();
  const store = await open(url);
  await store.status.ping();
  await server.administer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await server.administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  await expect.poll(() => store.messages.list({})).toEqual([]);
  await expect(store.status.ping()).rejects.toThrow(StoreUnavailable);
  await expect(send(store)).rejects.toThrow(StoreUnavailable);
});

test("leaves no copy of an erased message in the tables' files", async () => {
  const url = await server.createDatabase();
  const store = await open(url);
  for (const email of ["eve", "ada", "eve", "ada", "eve"]) {
    const reference = await send(store, submissionOf(messageWith({ email: `${email}@example.com` })));
    await store.messages.addNote(reference, `Called ${email}@example.com`, new Date());
  }
  const holdsIt = async (table: string) => {
    await server.administer("CHECKPOINT");
    const [{ found } = {}] = (await server.administer(
      `SELECT position('ada@example.com'::bytea IN pg_read_binary_file(pg_relation_filepath('${schemaOf(url)}.${table}'))) > 0
       AS found`,
    )) as { found?: boolean }[];
    return found;
  };
  expect([await holdsIt("messages"), await holdsIt("events")]).toEqual([true, true]);
  await store.people.erase("ada@example.com");
  await store.people.finishErasure();
  expect([await holdsIt("messages"), await holdsIt("events")]).toEqual([false, false]);
});

test.each([
  ["a session that has read the messages", "BEGIN; SELECT count(*) FROM messages"],
  ["any older snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"],
  ["an open transaction of another database", "BEGIN; SELECT pg_current_xact_id()", "template1"],
])("does not report an erasure while %s keeps them in the files", async (_, begin, database?: string) => {
  // On the shared server, it would keep the erasures of other tests waiting too.
  const own = database ? await startPostgres() : null;
  if (own) onTestFinished(own.stop);
  const url = await (own ?? server).createDatabase();
  const store = await open(url);
  await send(store, submissionOf(messageWith({ email: "ada@example.com" })));
  const older = new pg.Client(database ? Object.assign(new URL(url), { pathname: database }).href : url);
  await older.connect();
  try {
    await older.query(begin);
    await store.people.erase("ada@example.com");
    await expect(store.people.finishErasure()).rejects.toThrow(/another session keeps their pages/);
  } finally {
    await older.end();
  }
  expect(await store.people.finishErasure()).toBe(true);
});
