import { expect, test } from "vitest";
import { ACTIONS, type Action, type ListSort } from "../../contract/inbox.ts";
import { refusalOf } from "../../server/operator/actions.ts";
import type { MessageFilter, Store, StoredMessage, TabCondition } from "../../server/store/store.ts";
import {
  claimAcknowledgements,
  client,
  DAY_MS,
  endLeases,
  estimateOf,
  finish,
  HOUR_MS,
  later,
  MINUTE_MS,
  messageWith,
  type NewPlace,
  NO_LIMITS,
  NOON,
  store,
  submissionOf,
} from "./samples.ts";

export function operatorSuite(newPlace: NewPlace): void {
  const openNode = async () => (await newPlace()).open();
  const trapped = (email = "ada@example.com") => submissionOf(messageWith({ email }), { isTrapped: true });

  async function get(node: Store, reference: string): Promise<StoredMessage> {
    const message = await node.find(reference);
    if (!message) throw new Error(`There is no ${reference}`);
    return message;
  }

  test("keeps the history of a message: every attempt with its error, and what an operator did", async () => {
    const node = await openNode();
    const reference = await store(node, trapped());
    await node.markSeen(reference, later(1));
    await node.markSeen(reference, later(2));
    await node.act("release", { references: [reference] }, later(3));
    const attempt = async (mark: (claim: Awaited<ReturnType<Store["claim"]>>[number]) => Promise<boolean>) => {
      const [claim] = await node.claim(1, 1, later(DAY_MS));
      if (!claim) throw new Error("Nothing was claimed");
      expect(await mark(claim)).toBe(true);
    };
    await attempt((claim) => node.unclaim(claim, NOON, "wrong password", later(4)));
    await attempt((claim) => node.unclaim(claim, NOON, null, later(5)));
    await attempt((claim) => node.reschedule(claim, NOON, "451 later", later(6)));
    await attempt((claim) => node.markFailed(claim, "550 no", later(7)));
    await node.act("retry", { references: [reference] }, later(8));
    await attempt((claim) => node.markDelivered(claim, later(9)));
    await node.act("answer", { references: [reference] }, later(10));
    await node.act("unanswer", { references: [reference] }, later(11));
    await node.rectify("ada@example.com", { name: "Ada King" }, later(12));
    await node.restrict("ada@example.com", true, later(13));
    await node.restrict("ada@example.com", false, later(14));
    await node.act("resend", { references: [reference] }, later(15));
    expect(await node.history(reference.toLowerCase())).toMatchObject([
      { at: later(1), kind: "viewed", detail: null },
      { at: later(3), kind: "released", detail: null },
      { at: later(4), kind: "paused", detail: "wrong password" },
      { at: later(6), kind: "deferred", detail: "451 later" },
      { at: later(7), kind: "failed", detail: "550 no" },
      { at: later(8), kind: "retried", detail: null },
      { at: later(9), kind: "delivered", detail: null },
      { at: later(10), kind: "answered", detail: null },
      { at: later(11), kind: "unanswered", detail: null },
      { at: later(12), kind: "corrected", detail: null },
      { at: later(13), kind: "restricted", detail: null },
      { at: later(14), kind: "unrestricted", detail: null },
      { at: later(15), kind: "resent", detail: null },
    ]);
  });

  test("writes nothing into the history when a lease was lost", async () => {
    const place = await newPlace();
    const node = await place.open();
    const reference = await store(node);
    const [first] = await node.claim(1, 1, NOON);
    await endLeases(place);
    await node.claim(1, MINUTE_MS, NOON);
    if (!first) throw new Error("Nothing was claimed");
    expect(await node.reschedule(first, NOON, "451 later", later(HOUR_MS))).toBe(false);
    expect(await node.history(reference)).toEqual([]);
  });

  test("erases the history with its message: deleted, purged or erased", async () => {
    const place = await newPlace();
    const node = await place.open();
    const [deleted, purged] = [await store(node), await store(node, submissionOf(messageWith({ email: "b@x.org" })))];
    const erased = await store(node, submissionOf(messageWith({ email: "c@x.org" })));
    for (let count = 0; count < 3; count += 1) await finish(node, "delivered");
    expect(await place.sql("SELECT * FROM message_events")).toHaveLength(3);
    expect(await node.act("delete", { references: [deleted] }, NOON)).toEqual([deleted]);
    expect(await node.erase("c@x.org")).toEqual([erased]);
    expect(await node.purge({ deliveredMs: 1, failedMs: null, quarantinedMs: null }, later(HOUR_MS))).toEqual([purged]);
    expect(await place.sql("SELECT * FROM message_events")).toHaveLength(0);
  });

  test.each<[string, (node: Store) => Promise<unknown>]>([
    ["an attempt began", (node) => node.claim(1, MINUTE_MS, NOON)],
    ["it was delivered", (node) => finish(node, "delivered")],
    ["it failed", (node) => finish(node, "failed")],
    ["it was made due", async (node) => act(node, "retry")],
    ["it was marked as answered", async (node) => act(node, "answer")],
    ["it was corrected", (node) => node.rectify("ada@example.com", { name: "Ada King" }, later(1))],
    ["it was restricted", (node) => node.restrict("ada@example.com", true, later(1))],
  ])("does nothing to a message that changed meanwhile: %s", async (_, change) => {
    const place = await newPlace();
    const [node, other] = await Promise.all([place.open(), place.open()]);
    const reference = await store(node);
    const { version } = await get(node, reference);
    await change(other);
    const changed = await get(node, reference);
    expect(changed.version).not.toBe(version);
    for (const action of ACTIONS) {
      const selection = { references: [reference], versions: [version] };
      expect(await node.act(action, selection, later(9))).toEqual([]);
    }
    expect(await get(node, reference)).toEqual(changed);
  });

  async function act(node: Store, action: Action): Promise<void> {
    const references = (await node.list({})).map(({ reference }) => reference);
    expect(await node.act(action, { references }, later(1))).toEqual(references);
  }

  test("acts on those of many messages that still have their version", async () => {
    const node = await openNode();
    const references = [await store(node, trapped("a@x.org")), await store(node, trapped("b@x.org"))];
    const messages = await node.list({ references });
    await node.restrict("b@x.org", true, NOON);
    const which = { references, versions: messages.map(({ version }) => version) };
    expect(await node.act("release", which, NOON)).toEqual([references[0]]);
    // A version belongs to one message: another's does not do.
    const versions = [(await get(node, String(references[1]))).version];
    expect(await node.act("answer", { references: references.slice(0, 1), versions }, NOON)).toEqual([]);
  });

  test("of two nodes that act on the same version at once, one does", async () => {
    const place = await newPlace();
    const nodes = await Promise.all([place.open(), place.open(), place.open()]);
    const [first] = nodes;
    if (!first) throw new Error("There is no node");
    for (let round = 0; round < 10; round += 1) {
      const reference = await store(first, trapped(`${round}@x.org`));
      const { version } = await get(first, reference);
      const which = { references: [reference], versions: [version] };
      const done = await Promise.all([
        ...nodes.map((node) => node.act("release", which, later(1))),
        ...nodes.map((node) => node.act("delete", which, later(1))),
      ]);
      expect(done.flat()).toEqual([reference]);
    }
  });

  test("does exactly what the operator is told that it does, for every kind of message", async () => {
    const place = await newPlace();
    const node = await place.open();
    const states = ["queued", "delivered", "failed", "quarantined"];
    const makeAll = async () => {
      for (const state of states) {
        for (const isRestricted of [0, 1]) {
          for (const answeredAt of ["NULL", "1"]) {
            const reference = await store(node);
            await place.sql(`UPDATE messages SET state = '${state}', is_restricted = ${isRestricted},
              answered_at = ${answeredAt}, due_at = ${state === "queued" ? 1 : "NULL"} WHERE reference = '${reference}'`);
          }
        }
      }
      return node.list({});
    };
    for (const action of ACTIONS) {
      const messages = await makeAll();
      const references = messages.map(({ reference }) => reference);
      const allowed = messages.filter((message) => refusalOf(action, message) === null);
      // What is restricted may be marked, but neither queued nor deleted.
      expect(allowed.some(({ isRestricted }) => isRestricted)).toBe(/answer$/.test(action));
      expect((await node.act(action, { references }, NOON)).sort()).toEqual(
        allowed.map(({ reference }) => reference).sort(),
      );
      await place.sql("DELETE FROM messages");
    }
  });

  test("changes a person's messages only while they are those that the operator saw", async () => {
    const node = await openNode();
    const sent = submissionOf(messageWith({ email: "Bob@Example.com" }));
    await store(node, sent);
    const versions = async () => (await node.list({ email: "bob@example.com" })).map(({ version }) => version);
    const seen = await versions();
    await store(node, submissionOf(messageWith({ email: "bob@example.com" })), later(HOUR_MS));
    expect(await node.rectify("bob@example.com", { name: "Bob" }, NOON, seen)).toBe(0);
    expect(await node.restrict("bob@example.com", true, NOON, seen)).toBe(0);
    expect(await node.erase("bob@example.com", seen)).toEqual([]);
    const now = await versions();
    expect(now).toHaveLength(2);
    expect(await node.restrict("bob@example.com", true, NOON, now)).toBe(2);
    expect(await node.rectify("bob@example.com", { name: "Bob" }, NOON, now)).toBe(0);
    expect(await node.rectify("bob@example.com", { name: "Bob" }, NOON, await versions())).toBe(2);
    expect(await node.erase("bob@example.com", await versions())).toHaveLength(2);
  });

  test("an erasure that was interrupted is finished by asking again, and nothing is done without one", async () => {
    const place = await newPlace();
    const node = await place.open();
    const mark = () => place.sql("SELECT name FROM store_meta WHERE name = 'unfinished_erasure'");
    await store(node);
    expect(await node.erase("nobody@example.com")).toEqual([]);
    expect(await node.erase("ada@example.com", ["another version"])).toEqual([]);
    expect(await mark()).toEqual([]);
    expect(await node.finishErasure()).toBe(false);
    expect(await node.erase("ada@example.com")).toHaveLength(1);
    expect(await mark()).toEqual([]);
    // As a process leaves it that is killed before the traces are gone.
    await place.sql("INSERT INTO store_meta VALUES ('unfinished_erasure', '1')");
    expect(await node.finishErasure()).toBe(true);
    expect(await node.finishErasure()).toBe(false);
  });

  test("goes through all messages page by page, also those of one moment, newest first", async () => {
    const node = await openNode();
    for (let count = 0; count < 7; count += 1) await store(node, submissionOf(), later(count < 4 ? 0 : HOUR_MS));
    const all = (await node.list({})).map(({ reference }) => reference);
    const paged: string[] = [];
    let filter: MessageFilter = { limit: 2 };
    for (;;) {
      const page = await node.list(filter);
      const last = page.at(-1);
      if (!last) break;
      paged.push(...page.map(({ reference }) => reference));
      filter = { limit: 2, after: last };
    }
    expect(paged).toEqual(all);
    expect(all).toHaveLength(7);
  });

  test("filters by time, country and answer, and counts what it filters", async () => {
    const node = await openNode();
    const answered = await store(node, submissionOf(messageWith({ country: "DE" })));
    await finish(node, "delivered");
    await node.act("answer", { references: [answered] }, NOON);
    const failed = await store(node, submissionOf(messageWith({ country: "" })), later(HOUR_MS));
    await finish(node, "failed", later(HOUR_MS));
    const queued = await store(node, submissionOf(messageWith({ country: "DE" })), later(2 * HOUR_MS));
    const quarantined = await store(node, trapped(), later(3 * HOUR_MS));
    const found = async (filter: MessageFilter) => (await node.list(filter)).map(({ reference }) => reference);
    expect(await found({ country: "DE" })).toEqual([queued, answered]);
    expect(await found({ country: "" })).toEqual([failed]);
    expect(await found({ since: later(HOUR_MS), until: later(2 * HOUR_MS) })).toEqual([failed]);
    expect(await found({ unanswered: true })).toEqual([queued, failed]);
    expect(await found({ references: [failed.toLowerCase(), answered, "BC-NONE-00"] })).toEqual([failed, answered]);
    const none = { count: 0, answered: 0 };
    const one = { count: 1, answered: 0 };
    const counts = { queued: one, failed: one, quarantined: one, delivered: { count: 1, answered: 1 } };
    expect(await node.countStates({})).toEqual(counts);
    expect(await node.countStates({ since: later(1) })).toEqual({ ...counts, delivered: none });
    const page = async (filter: MessageFilter, tab: TabCondition, limit = 9) => {
      const { messages, counts } = await node.page(filter, tab, { sort: "newest", offset: 0, limit });
      return { references: messages.map(({ reference }) => reference), counts };
    };
    expect(await page({}, {}, 2)).toEqual({ references: [quarantined, queued], counts });
    expect(await page({}, { unanswered: true })).toEqual({ references: [queued, failed], counts });
    const german = { ...counts, failed: none, quarantined: none };
    expect(await page({ country: "DE" }, {}, 1)).toEqual({ references: [queued], counts: german });
    expect(await page({ country: "DE" }, { state: "failed" })).toEqual({ references: [], counts: german });
    expect(await page({ search: "question", until: later(1) }, { unanswered: true })).toEqual({
      references: [],
      counts: { ...german, queued: none },
    });
    expect(await page({ search: failed }, {})).toMatchObject({ references: [failed], counts: { failed: one } });
  });

  test("sorts by the total of the estimate, and knows each message's place in any list", async () => {
    const node = await openNode();
    const send = (carKm: number | null, hours: number) => {
      const footprint = carKm === null ? null : estimateOf({ carKm });
      return store(node, submissionOf(messageWith(), { footprint }), later(hours * HOUR_MS));
    };
    const small = await send(100, 0);
    const none = await send(null, 1);
    const large = await send(90_000, 2);
    const answered = await send(5000, 3);
    await node.act("answer", { references: [answered] }, NOON);
    const sorted = async (filter: MessageFilter, sort: ListSort, offset = 0, limit = 9) => {
      const { messages } = await node.page(filter, {}, { sort, offset, limit });
      return messages.map(({ reference }) => reference);
    };
    expect(await sorted({}, "footprint")).toEqual([large, answered, small, none]);
    expect(await sorted({ search: "question" }, "footprint")).toEqual([large, answered, small, none]);
    expect(await sorted({}, "oldest")).toEqual([small, none, large, answered]);
    expect(await node.placeOf(none, {}, "oldest")).toEqual({ position: 2, total: 4, previous: small, next: large });
    expect(await sorted({}, "footprint", 1, 2)).toEqual([answered, small]);
    expect(await sorted({ search: "question" }, "newest", 2, 1)).toEqual([none]);

    expect(await node.placeOf(answered, {}, "footprint")).toEqual({
      position: 2,
      total: 4,
      previous: large,
      next: small,
    });
    expect(await node.placeOf(answered.toLowerCase(), {}, "newest")).toEqual({
      position: 1,
      total: 4,
      previous: null,
      next: large,
    });
    // Answered meanwhile: it has left the list, but not its neighbours.
    expect(await node.placeOf(answered, { unanswered: true }, "footprint")).toEqual({
      position: null,
      total: 3,
      previous: large,
      next: small,
    });
    expect(await node.placeOf(none, { search: "question" }, "footprint")).toMatchObject({ position: 4, next: null });
    expect(await node.placeOf("BC-NONE-00", {}, "newest")).toBeNull();

    // The database keeps the total up to date.
    await node.rectify("ada@example.com", {}, NOON, undefined, new Map([[large, null]]));
    expect(await sorted({}, "footprint")).toEqual([answered, small, large, none]);
  });

  test("finds people by any part of their name or address", async () => {
    const node = await openNode();
    const send = (name: string, email: string, hours: number) =>
      store(node, submissionOf(messageWith({ name, email })), later(hours * HOUR_MS));
    await send("Émile Zola", "emile@example.fr", 0);
    await send("Zola, É.", "Emile@Example.fr", 1);
    await send("Grace Hopper", "grace@navy.example", 2);
    const zola = { name: "Zola, É.", email: "Emile@Example.fr", messages: 2, lastAt: later(HOUR_MS) };
    expect(await node.findPeople("émile", 9)).toEqual([zola]);
    expect(await node.findPeople("EXAMPLE.FR", 9)).toEqual([zola]);
    expect(await node.findPeople("example", 9)).toMatchObject([{ name: "Grace Hopper", messages: 1 }, zola]);
    expect(await node.findPeople("example", 1)).toHaveLength(1);
    expect(await node.findPeople("question", 9)).toEqual([]);
  });

  test("keeps notes with a message: in its history, without another version, and erased with it", async () => {
    const node = await openNode();
    const reference = await store(node);
    const { version } = (await node.find(reference)) ?? {};
    const token = await node.changeToken();
    expect(await node.addNote(reference.toLowerCase(), "Called back", "anna", NOON)).toBe(true);
    expect(await node.addNote(reference, "Wants\nan offer", null, later(1))).toBe(true);
    expect(await node.addNote("BC-NONE-00", "x", null, NOON)).toBe(false);
    expect((await node.find(reference))?.version).toBe(version);
    expect(await node.changeToken()).not.toBe(token);
    expect(await node.history(reference)).toEqual([
      { at: NOON, kind: "noted", detail: "Called back", author: "anna" },
      { at: later(1), kind: "noted", detail: "Wants\nan offer", author: null },
    ]);
    expect((await node.notes([reference, "BC-NONE-00"])).get(reference)).toEqual([
      { at: NOON, author: "anna", text: "Called back" },
      { at: later(1), author: null, text: "Wants\nan offer" },
    ]);
    await node.erase("ada@example.com");
    expect((await node.notes([reference])).size).toBe(0);
    expect(await node.history(reference)).toEqual([]);
  });

  test.each([
    ["Émile Zola", "émile", "ÉMILE", "ile z"],
    ["Москва", "МОСКВА", "москва", "оСк"],
    ["ΣΟΦΊΑ", "σοφία", "οφ"],
    ["Zoë *[x]? 100%_\\d", "zoË *[X]?", "ë *", "%_\\D", "?"],
    ["山田太郎", "田太"],
    ["🌍 Straße", "🌍 straß", "ß"],
  ])("finds %j by its words in any case, whatever the script", async (name, ...searches) => {
    const node = await openNode();
    const reference = await store(node, submissionOf(messageWith({ name })));
    await store(node, submissionOf(messageWith({ name: "Emile xyz Mockba 100 d" })));
    for (const search of searches)
      expect([search, await node.list({ search })]).toMatchObject([search, [{ reference }]]);
    for (const search of ["émole", "ß.", "é*"]) expect(await node.list({ search })).toEqual([]);
  });

  test("tells by a token whether anything changed, but for an attempt that only began", async () => {
    const node = await openNode();
    const [old, newer] = [await store(node), await store(node)];
    const token = await node.changeToken();
    expect(await node.changeToken()).toBe(token);
    const read = async () => JSON.stringify([await node.changeToken(), await node.countStates({})]);
    let last = await read();
    const expectNew = async (change: Promise<unknown>) => {
      await change;
      const now = await read();
      expect(now).not.toBe(last);
      last = now;
    };
    await expectNew(store(node));
    await expectNew(node.act("answer", { references: [old] }, NOON));
    await expectNew(node.rectify("ada@example.com", { name: "Ada King" }, NOON));
    await expectNew(node.act("delete", { references: [old] }, NOON));
    await expectNew(node.act("delete", { references: [newer] }, NOON));
  });

  test("measures the time to delivery, without what was sent once more", async () => {
    const node = await openNode();
    const measured = () => node.deliveryTimes(NOON, [10, 100]);
    expect(await measured()).toEqual({ count: 0, medianMs: null, slowestMs: null, buckets: [0, 0, 0] });
    for (const ms of [10, 11, 100, 101]) {
      await store(node);
      await finish(node, "delivered", later(ms));
    }
    const resent = await store(node);
    await finish(node, "delivered");
    await node.act("resend", { references: [resent] }, later(HOUR_MS));
    await finish(node, "delivered", later(HOUR_MS));
    await store(node, submissionOf(), later(-1));
    await finish(node, "delivered", later(DAY_MS));
    await store(node);
    expect(await measured()).toEqual({ count: 4, medianMs: 11, slowestMs: 101, buckets: [1, 2, 1] });
  });

  test("says whether the queue is paused since when, and what is overdue", async () => {
    const node = await openNode();
    expect(await node.queueTrouble(NOON)).toEqual({ pause: null, dueSince: null });
    await store(node);
    await store(node, submissionOf(), later(HOUR_MS));
    expect(await node.queueTrouble(later(-1))).toEqual({ pause: null, dueSince: null });
    expect(await node.queueTrouble(later(DAY_MS))).toEqual({ pause: null, dueSince: NOON });
    const pauseAt = async (ms: number, reason: string) => {
      const [claim] = await node.claim(1, MINUTE_MS, later(ms));
      if (!claim) throw new Error("Nothing was claimed");
      expect(await node.queueTrouble(later(ms))).toMatchObject({ dueSince: null });
      await node.unclaim(claim, later(ms), reason, later(ms));
    };
    await pauseAt(MINUTE_MS, "wrong password");
    await pauseAt(2 * MINUTE_MS, "wrong password");
    const pause = { reason: "wrong password", since: later(MINUTE_MS), lastAt: later(2 * MINUTE_MS) };
    expect(await node.queueTrouble(later(DAY_MS))).toEqual({ pause, dueSince: later(2 * MINUTE_MS) });
    await finish(node, "delivered", later(DAY_MS));
    expect(await node.queueTrouble(later(DAY_MS))).toMatchObject({ pause: null });
    await pauseAt(DAY_MS + 1, "another reason");
    expect(await node.queueTrouble(later(DAY_MS))).toMatchObject({
      pause: { reason: "another reason", since: later(DAY_MS + 1) },
    });
    await finish(node, "failed", later(2 * DAY_MS));
    expect(await node.queueTrouble(later(2 * DAY_MS))).toEqual({ pause: null, dueSince: null });
  });

  test("counts what is in quarantine and was not opened", async () => {
    const node = await openNode();
    const references = [await store(node, trapped("a@x.org")), await store(node, trapped("b@x.org"))];
    await store(node, trapped("c@x.org"));
    await node.restrict("c@x.org", true, NOON);
    expect(await node.countUnseen()).toBe(2);
    await node.markSeen(String(references[0]).toLowerCase(), NOON);
    expect(await node.countUnseen()).toBe(1);
    await node.act("release", { references: [references[1] ?? ""] }, NOON);
    expect(await node.countUnseen()).toBe(0);
    await node.markSeen(await store(node), NOON);
    await node.markSeen("BC-NONE-00", NOON);
  });

  test("upgrades a database of the first version in place, with all its messages", async () => {
    const place = await newPlace();
    await place.loadSchema(1);
    const nodes = await Promise.all([place.open(), place.open()]);
    const [node] = nodes;
    if (!node) throw new Error("There is no node");
    const messages = await node.list({});
    expect(messages.map(({ state, email, isRestricted }) => [state, email, isRestricted])).toEqual([
      ["queued", "leased@example.com", false],
      ["queued", "kept@example.com", true],
      ["queued", "emile@example.com", false],
      ["quarantined", "eve@example.com", false],
      ["failed", "Zoe@Example.com", false],
      ["delivered", "ada@example.com", false],
    ]);
    const zoe = messages[4];
    expect(zoe).toMatchObject({
      name: "Zoë O'Neill 🌍",
      country: "",
      message: 'Line one\nline two; it\'s "quoted"',
      attempts: 1,
      acceptedAt: new Date("2025-06-15T14:00:00Z"),
      lastError: "the mail server refused it (550)",
      answeredAt: null,
      quarantineReason: null,
      acknowledgement: null,
    });
    expect(await node.history(zoe?.reference ?? "")).toEqual([]);
    expect(await node.list({ search: "ÉMILE" })).toHaveLength(1);
    // A node of the first version goes on beside it, and its changes change the version too.
    await place.sql("UPDATE messages SET state = 'queued', state_changed_at = 9, due_at = 9 WHERE state = 'failed'");
    const which = { references: [zoe?.reference ?? ""], versions: [zoe?.version ?? ""] };
    expect(await node.act("delete", which, NOON)).toEqual([]);
    await place.sql("DELETE FROM messages WHERE email = 'ada@example.com'");
    expect(await store(node)).toMatch(/^BC-/);
    expect(await node.list({})).toHaveLength(6);
    expect(await node.claim(9, MINUTE_MS, later(DAY_MS))).toHaveLength(4);
  });

  test("upgrades a database of the second version in place, and takes its messages for the same", async () => {
    const place = await newPlace();
    await place.loadSchema(2);
    const [node] = await Promise.all([place.open(), place.open()]);
    const messages = await node.list({});
    expect(messages.map(({ state, email, footprint }) => [state, email, footprint])).toEqual([
      ["queued", "emile@example.com", null],
      ["queued", "kept@example.com", null],
      ["quarantined", "eve@example.com", null],
      ["failed", "Zoe@Example.com", null],
      ["delivered", "ada@example.com", null],
    ]);
    expect(messages[1]).toMatchObject({ name: "Grace Hopper", isRestricted: true });
    expect(await node.history(messages[4]?.reference ?? "")).toMatchObject([
      { kind: "delivered" },
      { kind: "answered" },
    ]);
    // What identifies a message without an estimate is still the same, by its key and by its words.
    const { name = "", email = "", phone = "", country = "", message = "" } = messages[3] ?? {};
    const again = submissionOf({ name, email, phone, country, message });
    const repeated = { kind: "repeated", reference: messages[3]?.reference };
    const keyed = { ...again, idempotencyKey: "a-key", networks: client("c1") };
    expect(await node.accept(keyed, NO_LIMITS, NOON)).toEqual(repeated);
    expect(await node.accept(again, NO_LIMITS, messages[3]?.acceptedAt ?? NOON)).toEqual(repeated);
    // A node of the second version goes on beside it.
    await place.sql(`INSERT INTO messages (reference, fingerprint, name, email, phone, country, message, state,
      quarantine_reason, accepted_at, state_changed_at, due_at)
      VALUES ('BC-AAAA-AA', 'f', 'Ada', 'ada@example.com', '1', '', 'Words', 'queued', NULL, 1, 1, 1)`);
    expect(await node.find("BC-AAAA-AA")).toMatchObject({ name: "Ada", footprint: null });
    const footprint = estimateOf({ carKm: 1 });
    const reference = await store(node, submissionOf(messageWith({ email: "kept@example.com" }), { footprint }));
    expect((await node.find(reference))?.footprint).toEqual(footprint);
  });

  test.each([3, 4] as const)("upgrades schema %s in place: what was queued is still due, and once", async (version) => {
    const place = await newPlace();
    await place.loadSchema(version);
    const [node] = await Promise.all([place.open(), place.open()]);
    const noon = new Date("2026-02-10T12:00:00Z");
    await endLeases(place);
    const mails = await node.claim(9, MINUTE_MS, noon);
    expect(mails.map(({ message, attempts }) => [message.email, attempts])).toEqual([
      ["leased@example.com", 2],
      ["emile@example.com", 2],
    ]);
    expect((await node.list({})).every(({ hook }) => hook === null)).toBe(true);
    expect(await node.dueInMs(noon, "hook")).toBeNull();
    const rules = { ownAddresses: [], perHour: 100 };
    const { claims, skipped, failed } = await claimAcknowledgements(node, 9, MINUTE_MS, rules, noon);
    expect([skipped, failed]).toEqual([[], []]);
    expect(claims.map(({ message, attempts }) => [message.email, attempts])).toEqual(
      version === 3
        ? []
        : [
            ["waiting@example.com", 1],
            ["greylisted@example.com", 2],
          ],
    );
    for (const claim of [...mails, ...claims]) expect(await node.markDelivered(claim, noon)).toBe(true);
    expect(await node.claim(9, MINUTE_MS, noon)).toEqual([]);
  });

  test("works beside a node of the version before, on the upgraded database", async () => {
    const place = await newPlace();
    await place.loadSchema(4);
    const node = await place.open();
    const noon = new Date("2026-02-10T12:00:00Z");
    await endLeases(place);
    // Each statement is one of the version before, with its values.
    const leasedUntil = (place.isShared ? Date.now() : noon.getTime()) + HOUR_MS;
    const isLeased = "email = 'emile@example.com'";
    await place.sql(`UPDATE messages SET lease_token = 'old', leased_until = ${leasedUntil}, attempts = attempts + 1
      WHERE ${isLeased}`);
    expect((await node.claim(9, HOUR_MS, noon)).map(({ message }) => message.email)).toEqual(["leased@example.com"]);
    await place.sql(`UPDATE messages SET state = 'delivered', state_changed_at = ${noon.getTime()}, due_at = NULL,
      last_error = NULL, ack_due_at = ${noon.getTime()}, ack_changed_at = ${noon.getTime()}, ack_state = 'queued',
      lease_token = NULL, leased_until = NULL WHERE ${isLeased} AND lease_token = 'old' AND state = 'queued'`);
    expect(await node.list({ state: "delivered" })).toHaveLength(4);
    // It has leased an acknowledgement; the other two are this node's.
    await place.sql(`UPDATE messages SET ack_state = 'sending', ack_attempts = ack_attempts + 1, ack_lease_token = 'old',
      ack_leased_until = ${leasedUntil}, ack_changed_at = 1 WHERE email = 'waiting@example.com'`);
    const { claims } = await claimAcknowledgements(node, 9, HOUR_MS, { ownAddresses: [], perHour: 100 }, noon);
    expect(claims.map(({ message }) => message.email)).toEqual(["greylisted@example.com", "emile@example.com"]);
    // It does not know of the hook: what it accepts is not posted, and what it releases is.
    const posting = { ...NO_LIMITS, postsHook: true };
    const trapped = submissionOf(messageWith({ email: "new@example.com" }), { isTrapped: true });
    await node.accept(trapped, posting, noon);
    expect(await node.claim(9, MINUTE_MS, noon, "hook")).toEqual([]);
    await place.sql(`UPDATE messages SET state = 'queued', state_changed_at = ${noon.getTime() + 1},
      due_at = ${noon.getTime() + 1}, attempts = 0, last_error = NULL
      WHERE state = 'quarantined' AND is_restricted = 0 AND email = 'new@example.com'`);
    expect((await node.queueDepth()).hook).toMatchObject({ queued: 1, oldestQueuedAt: later(1, noon) });
    expect(await node.claim(9, MINUTE_MS, noon, "hook")).toMatchObject([{ message: { email: "new@example.com" } }]);
  });
}
