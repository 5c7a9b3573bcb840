import { expect } from "vitest";
import type { ListSort, MessageFilter, TabCounts } from "../../server/store/messages.ts";
import type { Store } from "../../server/store/open-store.ts";
import { DAY_MS, HOUR_MS } from "../../server/time.ts";
import type { ContractTest } from "./place.ts";
import { claimOne, estimateOf, finish, later, messageWith, NOON, store, submissionOf, trapped } from "./samples.ts";

const referencesOf = async (node: Store, filter: MessageFilter) =>
  (await node.messages.list(filter)).map(({ reference }) => reference);

export function listingSuite(test: ContractTest): void {
  test("lists messages by any filter, newest first, and counts the matches", async ({ node }) => {
    const send = (country: string, hours: number, email = "ada@example.com") =>
      store(node, submissionOf(messageWith({ country, email })), later(hours * HOUR_MS));
    const answered = await send("DE", 0, "Bob@Example.com");
    await finish(node, "delivered");
    await node.messages.act("answer", { references: [answered] }, NOON);
    const failed = await send("", 1);
    await finish(node, "failed", later(HOUR_MS));
    const queued = await send("DE", 2, "josé@xn--bcher-kva.example");
    const quarantined = await store(node, trapped(), later(3 * HOUR_MS));
    const filters: [MessageFilter, string[]][] = [
      [{}, [quarantined, queued, failed, answered]],
      [{ limit: 1 }, [quarantined]],
      [{ state: "delivered" }, [answered]],
      [{ email: " bob@example.COM " }, [answered]],
      [{ email: "JOSÉ@Bücher.example" }, [queued]],
      [{ country: "DE" }, [queued, answered]],
      [{ country: "" }, [failed]],
      [{ since: later(HOUR_MS), until: later(2 * HOUR_MS) }, [failed]],
      [{ since: later(1), state: "delivered", limit: 5 }, []],
      [{ tab: "unanswered" }, [queued, failed]],
      [{ tab: "answered" }, [answered]],
      [{ references: [failed.toLowerCase(), answered, "BC-NONE-00"] }, [failed, answered]],
    ];
    for (const [filter, expected] of filters) {
      expect([filter, await referencesOf(node, filter)]).toEqual([filter, expected]);
    }
    const counts = { all: 4, unanswered: 2, answered: 1, waiting: 1, failed: 1, quarantined: 1 };
    expect(await node.messages.countTabs({})).toEqual(counts);
    expect(await node.messages.countTabs({ since: later(1) })).toEqual({ ...counts, all: 3, answered: 0 });
    const german = { all: 2, unanswered: 1, answered: 1, waiting: 1, failed: 0, quarantined: 0 };
    const one = { ...german, all: 1, answered: 0, waiting: 0 };
    const early = { ...one, unanswered: 0, answered: 1 };
    const counted: [MessageFilter, TabCounts][] = [
      [{ tab: "unanswered" }, counts],
      [{ country: "DE", tab: "failed" }, german],
      [{ search: "question", until: later(1) }, early],
      [{ search: failed }, { ...one, failed: 1 }],
    ];
    for (const [filter, expected] of counted) expect(await node.messages.countTabs(filter)).toEqual(expected);
  });

  test("counts by day and country", async ({ node }) => {
    const sent: [country: string, hours: number][] = [
      ["FR", -24],
      ["", 11],
      ["DE", 0],
      ["DE", 11],
    ];
    for (const [country, hours] of sent) {
      await store(node, submissionOf(messageWith({ country })), later(hours * HOUR_MS));
    }
    expect(await node.messages.countByDayAndCountry(later(-DAY_MS + 1))).toEqual([
      { day: "2025-06-15", country: "", count: 1 },
      { day: "2025-06-15", country: "DE", count: 2 },
    ]);
    expect(await node.messages.countByCountry()).toEqual([
      { country: "DE", count: 2 },
      { country: "", count: 1 },
      { country: "FR", count: 1 },
    ]);
  });

  test("lists all messages in pages, newest first, also those with the same time", async ({ node }) => {
    for (let count = 0; count < 7; count += 1) await store(node, submissionOf(), later(count < 4 ? 0 : HOUR_MS));
    const paged: string[] = [];
    for (let page = await node.messages.list({ limit: 2 }); page.length > 0; ) {
      paged.push(...page.map(({ reference }) => reference));
      const after = page.at(-1);
      page = after ? await node.messages.list({ limit: 2, after }) : [];
    }
    expect(paged).toEqual(await referencesOf(node, {}));
    expect(paged).toHaveLength(7);
  });

  test("sorts by the estimate's total, and returns each message's position in any list", async ({ node }) => {
    const send = (carKm: number | null, hours: number) => {
      const footprint = carKm === null ? null : estimateOf({ carKm });
      return store(node, submissionOf(messageWith(), { footprint }), later(hours * HOUR_MS));
    };
    const [small, none] = [await send(100, 0), await send(null, 1)];
    const [large, answered] = [await send(90_000, 2), await send(5000, 3)];
    await node.messages.act("answer", { references: [answered] }, NOON);
    const sorted = async (filter: MessageFilter, sort: ListSort, offset = 0, limit = 9) => {
      const messages = await node.messages.list({ ...filter, sort, offset, limit });
      return messages.map(({ reference }) => reference);
    };
    for (const filter of [{}, { search: "question" }]) {
      expect(await sorted(filter, "footprint")).toEqual([large, answered, small, none]);
      expect(await sorted(filter, "oldest")).toEqual([small, none, large, answered]);
      expect(await sorted(filter, "footprint", 1, 2)).toEqual([answered, small]);
      expect(await sorted(filter, "newest", 2, 1)).toEqual([none]);
    }
    const places: [string, MessageFilter, ListSort, object | null][] = [
      [none, {}, "oldest", { position: 2, total: 4, previous: small, next: large }],
      [answered, {}, "footprint", { position: 2, total: 4, previous: large, next: small }],
      [answered.toLowerCase(), {}, "newest", { position: 1, total: 4, previous: null, next: large }],
      // This message was answered meanwhile: it has left the list, but still has neighbours.
      [answered, { tab: "unanswered" }, "footprint", { position: null, total: 3, previous: large, next: small }],
      [none, { search: "question" }, "footprint", { position: 4, total: 4, previous: small, next: null }],
      ["BC-NONE-00", {}, "newest", null],
    ];
    for (const [reference, filter, sort, place] of places) {
      expect(await node.messages.placeOf(reference, filter, sort)).toEqual(place);
    }
    // The sort order changes with the estimate.
    await node.people.rectify("ada@example.com", {}, NOON, undefined, true);
    expect(await sorted({}, "footprint")).toEqual(await sorted({}, "newest"));
  });

  test("finds people by any part of their name or address", async ({ node }) => {
    const send = (name: string, email: string, hours: number) =>
      store(node, submissionOf(messageWith({ name, email })), later(hours * HOUR_MS));
    await send("Émile Zola", "emile@example.fr", 0);
    await send("Zola, É.", "Emile@Example.fr", 1);
    await send("Grace Hopper", "grace@navy.example", 2);
    const zola = { name: "Zola, É.", email: "Emile@Example.fr", messages: 2, lastAt: later(HOUR_MS) };
    expect(await node.people.find("émile", 9)).toEqual([zola]);
    expect(await node.people.find("EXAMPLE.FR", 9)).toEqual([zola]);
    expect(await node.people.find("example", 9)).toMatchObject([{ name: "Grace Hopper", messages: 1 }, zola]);
    expect(await node.people.find("example", 1)).toHaveLength(1);
    expect(await node.people.find("nobody", 9)).toEqual([]);
  });

  test.for([
    ["Émile Zola", "émile", "EMILE", "zola emile", "Zo  ÉM"],
    ["Москва", "МОСКВА", "москва", "оСк"],
    ["Σοφίας", "σοφία", "ΣΟΦΊΑΣ", "οφιας"],
    ["İstanbul, Jürgen", "İSTANBUL", "istanbul", "jurgen", "ürg"],
    ["Zoë *[x]? 100%_\\d", "zoË *[X]?", "e *", "%_\\D", "100%", "?"],
    ["🌍 Straße", "🌍 straß", "STRASSE"],
    ["ﬁrst", "first"],
  ])(
    "finds %s by its words, ignoring case and accents, in any script, without wildcards",
    async ([name = "", ...searches], { node }) => {
      const reference = await store(node, submissionOf(messageWith({ name })));
      await store(node, submissionOf(messageWith({ name: "Anna xyz Mockba 100 d" })));
      for (const search of searches)
        expect([search, await referencesOf(node, { search })]).toEqual([search, [reference]]);
      for (const search of ["emole", "Ω.", "e*", "100%_wind"]) expect(await node.messages.list({ search })).toEqual([]);
    },
  );

  test("finds every word in any field, note or reply, corrected and erased with them", async ({ node }) => {
    const fields = { name: "Hopper", email: "g@navy.example", phone: "555 0199", country: "US", message: "wind" };
    const reference = await store(node, submissionOf(messageWith(fields)));
    await store(node, submissionOf(messageWith({ country: "FR" })));
    const find = (search: string) => referencesOf(node, { search });
    for (const search of [...Object.values(fields), reference.toLowerCase(), reference.replaceAll("-", "").slice(2)])
      expect([search, await find(search)]).toEqual([search, [reference]]);
    expect(await find("wind HOPPER 0199 us")).toEqual([reference]);
    expect(await find("wind Hopper nowhere")).toEqual([]);
    await node.messages.addNote(reference, "Asked about Türkiye", later(1));
    await node.messages.reply(reference, { key: "k", subject: "Turbines", text: "Six of them" }, later(2), {
      undoMs: 9,
    });
    expect(await find("turkiye wind six turbines")).toEqual([reference]);
    await node.messages.takeBackReply(reference, "k", later(3));
    expect([await find("turbines"), await find("turkiye")]).toEqual([[], [reference]]);
    await node.people.rectify("g@navy.example", { name: "Grace Brewster" }, later(4));
    expect([await find("hopper"), await find("brewster turkiye")]).toEqual([[], [reference]]);
  });

  test("stores notes in the history of a message, without changing its version", async ({ node }) => {
    const reference = await store(node);
    const { version } = (await node.messages.find(reference)) ?? {};
    expect(await node.messages.addNote(reference.toLowerCase(), "Called back", NOON)).toBe(true);
    expect(await node.messages.addNote(reference, "Wants\nan offer", later(1))).toBe(true);
    expect(await node.messages.addNote("BC-NONE-00", "x", NOON)).toBe(false);
    expect((await node.messages.find(reference))?.version).toBe(version);
    const notes = [
      { kind: "noted", at: NOON, author: "anna", text: "Called back" },
      { kind: "noted", at: later(1), author: "anna", text: "Wants\nan offer" },
    ];
    expect((await node.messages.notes([reference, "BC-NONE-00"])).get(reference)).toEqual(notes);
    expect(await node.messages.history(reference)).toEqual(
      notes.map(({ text, ...note }) => ({ ...note, channel: null, detail: text })),
    );
  });

  test("changes the token after every change, but not when an attempt starts", async ({ node }) => {
    const [old, newer] = [await store(node), await store(node)];
    const read = () => node.messages.changeToken();
    let last = await read();
    await claimOne(node);
    expect(await read()).toBe(last);
    const changes = [
      () => store(node),
      () => finish(node, "delivered"),
      () => node.messages.addNote(newer, "Called back", NOON),
      () => node.messages.saveDraft(newer, { subject: "Re", text: "Dear" }, NOON),
      () => node.messages.saveDraft(newer, { subject: "Re", text: "Dear Ada" }, later(60_000)),
      () => node.messages.saveDraft(newer, { subject: "Re", text: "" }, NOON),
      () => node.messages.act("answer", { references: [old] }, NOON),
      () => node.people.rectify("ada@example.com", { name: "Ada King" }, NOON),
      () => node.messages.act("delete", { references: [old] }, NOON),
      // The number of messages is the same afterwards.
      () => node.messages.act("delete", { references: [newer] }, NOON).then(() => store(node)),
    ];
    for (const change of changes) {
      await change();
      const now = await read();
      expect(now).not.toBe(last);
      last = now;
    }
  });

  test("measures the time to delivery, without resent messages", async ({ node }) => {
    const measured = () => node.messages.deliveryTimes(NOON, [10, 100]);
    expect(await measured()).toEqual({ count: 0, medianMs: null, slowestMs: null, buckets: [0, 0, 0] });
    for (const ms of [10, 11, 100, 101]) {
      await store(node);
      await finish(node, "delivered", later(ms));
    }
    const resent = await store(node);
    await finish(node, "delivered");
    await node.messages.act("resend", { references: [resent] }, later(HOUR_MS));
    await finish(node, "delivered", later(HOUR_MS));
    await store(node, submissionOf(), later(-1));
    await finish(node, "delivered", later(DAY_MS));
    await store(node);
    expect(await measured()).toEqual({ count: 4, medianMs: 11, slowestMs: 101, buckets: [1, 2, 1] });
  });
}
