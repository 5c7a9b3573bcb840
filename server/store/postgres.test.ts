import pg from "pg";
import { expect, test } from "vitest";
import {
  act,
  claimOne,
  later,
  messageWith,
  NO_LIMITS,
  NOON,
  store as send,
  submissionOf,
} from "../../tests/store-contract/samples.ts";
import { RETENTION } from "../../tests/support/in-process-store.ts";
import { startNetwork } from "../../tests/support/network.ts";
import { schemaOf, sharePostgresForFile } from "../../tests/support/shared-postgres.ts";
import { untilEnd } from "../../tests/support/until-end.ts";
import { MINUTE_MS } from "../time.ts";
import { openPostgres } from "./postgres.ts";
import { createQueue } from "./queue.ts";
import { createStore } from "./store.ts";
import { allTables } from "./tables.ts";

const server = await sharePostgresForFile();

const open = async (url: string) =>
  untilEnd(createStore(await openPostgres(url), { retention: RETENTION, rules: NO_LIMITS }));

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

test("sends no reply again that was released while a node looked for what to give up", async () => {
  const database = await untilEnd(openPostgres(await server.createDatabase()));
  const store = await createStore(database, { retention: RETENTION, rules: NO_LIMITS });
  const reference = await send(store);
  await store.replies.add(reference, { key: "key", subject: "Re", text: "Yes." }, NOON);
  const sent = await claimOne(store, NOON, "reply");
  await store.queue.settle(sent, { kind: "failed", error: "no answer", isUnknown: true }, NOON);
  await act(store, "spam", [reference]);
  const releasing: typeof database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(async ({ query, ...sql }) => {
        const released = async (...statement: Parameters<typeof query>) => {
          const rows = await query<never>(...statement);
          await act(store, "release", [reference]);
          return rows;
        };
        return work({ ...sql, query: released });
      }, options),
  };
  expect(await createQueue(releasing, "secret", null).claim("reply", 9, MINUTE_MS, later(1))).toEqual([]);
  expect(await store.queue.claim("reply", 9, MINUTE_MS, later(1))).toEqual([]);
  expect((await store.messages.find(reference))?.deliveries.reply).toMatchObject({ state: "failed", attempts: 0 });
});

test("no query finds an erased message, and the erasure waits for no other session", async () => {
  const url = await server.createDatabase();
  const store = await open(url);
  for (const email of ["eve", "ada"]) {
    const reference = await send(store, submissionOf(messageWith({ email: `${email}@example.com` })));
    await store.actions.addNote(reference, `Called ${email}@example.com`, new Date());
  }
  const older = new pg.Client(url);
  await older.connect();
  try {
    await older.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM messages");
    expect(await store.people.erase("ada@example.com")).toHaveLength(1);
    expect(await store.people.finishErasure()).toBe(true);
  } finally {
    await older.end();
  }
  const rows = await Array.fromAsync(allTables(), ([table]) =>
    server.administer(`SELECT * FROM ${schemaOf(url)}.${table}`),
  );
  const found = ["eve@example.com", "ada@example.com"].map((email) => JSON.stringify(rows).includes(email));
  expect(found).toEqual([true, false]);
});
