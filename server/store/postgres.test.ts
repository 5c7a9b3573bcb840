import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { messageWith, store as send, submissionOf } from "../../tests/store-contract/samples.ts";
import { RETENTION } from "../../tests/support/in-process-store.ts";
import { startNetwork } from "../../tests/support/network.ts";
import { schemaOf, sharePostgres } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { openPostgres } from "./postgres.ts";
import { createStore } from "./store.ts";

const server = await sharePostgres();
afterAll(() => server.stop());

const open = async (url: string) => untilEnd(createStore(await openPostgres(url), { retention: RETENTION }));

test("limits the commit of a long transaction like any other commit", async () => {
  const url = await server.createDatabase();
  const network = await startNetwork(server.port);
  const database = await untilEnd(openPostgres(url.replace(`:${server.port}/`, `:${network.port}/`)));
  network.become({ kind: "silent-after", word: "COMMIT" });
  const long = database.transaction(({ query }) => query("SELECT 1"), { isLong: true });
  await expect(long).rejects.toThrow("cannot be used: Query read timeout");
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
])("does not report an erasure while %s keeps them in the files", async (_, begin) => {
  const url = await server.createDatabase();
  const store = await open(url);
  await send(store, submissionOf(messageWith({ email: "ada@example.com" })));
  const older = new pg.Client(url);
  await older.connect();
  // A second passes with each look at the clock.
  let seconds = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    seconds += 1;
    return seconds * 1000;
  });
  try {
    await older.query(begin);
    await store.people.erase("ada@example.com");
    await expect(store.people.finishErasure()).rejects.toThrow(/another session keeps their pages/);
  } finally {
    clock.mockRestore();
    await older.end();
  }
  expect(await store.people.finishErasure()).toBe(true);
});
