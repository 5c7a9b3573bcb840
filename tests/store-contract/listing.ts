import { expect } from "vitest";
import type { MessageFilter, TabCounts } from "../../server/store/messages.ts";
import type { Store } from "../../server/store/store.ts";
import { HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import type { ContractTest } from "./place.ts";
import { act, claimOne, finish, later, messageWith, NOON, store, submissionOf, trapped } from "./samples.ts";

const referencesOf = async (node: Store, filter: MessageFilter) =>
  (await node.messages.list(filter)).map(({ reference }) => reference);

export function listingSuite(test: ContractTest): void {
  test("lists messages by any filter, newest first, and counts the matches", async ({ node }) => {
    const send = (country: string, hours: number, email = "ada@example.com") =>
      store(node, submissionOf(messageWith({ country, email, message: `from:${country}` })), later(hours * HOUR_MS));
    const answered = await send("DE", 0, "Bob@Example.com");
    await finish(node, "delivered");
    await act(node, "answer", [answered]);
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
      [{ since: later(HOUR_MS), state: "failed" }, [failed]],
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
    const found = { all: 2, unanswered: 1, answered: 1, waiting: 1, failed: 0, quarantined: 0 };
    const counted: [MessageFilter, TabCounts][] = [
      [{ tab: "unanswered" }, counts],
      // References have no colon, so none is found by chance.
      [{ search: "from:DE", tab: "failed" }, found],
      [{ search: failed }, { ...found, all: 1, answered: 0, waiting: 0, failed: 1 }],
    ];
    for (const [filter, expected] of counted) expect(await node.messages.countTabs(filter)).toEqual(expected);

    const reply = { key: "00000000-0000-4000-8000-000000000001", subject: "Re", text: "Dear Bob" };
    expect(await node.replies.add(answered, reply, later(4 * HOUR_MS))).toBe(true);
    expect(await referencesOf(node, { tab: "waiting" })).toEqual([queued, answered]);
    expect(await node.messages.countTabs({})).toEqual({ ...counts, waiting: 2 });
    await node.queue.settle(await claimOne(node, later(4 * HOUR_MS), "reply"), { kind: "failed", error: "550" }, NOON);
    expect(await referencesOf(node, { tab: "failed" })).toEqual([failed, answered]);
    expect(await node.messages.countTabs({})).toEqual({ ...counts, failed: 2 });
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

  test("returns each message's neighbours in any list", async ({ node }) => {
    const send = (hours: number) => store(node, submissionOf(), later(hours * HOUR_MS));
    const [first, second, third, answered] = [await send(0), await send(1), await send(2), await send(3)];
    await act(node, "answer", [answered]);
    const places: [string, MessageFilter, object | null][] = [
      [second, {}, { previous: third, next: first }],
      [answered.toLowerCase(), {}, { previous: null, next: third }],
      // This message was answered meanwhile: it has left the list, but still has neighbours.
      [answered, { tab: "unanswered" }, { previous: null, next: third }],
      [first, { search: "question" }, { previous: second, next: null }],
      ["BC-NONE-00", {}, null],
    ];
    for (const [reference, filter, place] of places)
      expect(await node.messages.neighbours(reference, filter)).toEqual(place);
  });

  test("finds words in any script, ignoring case and accents, without wildcards", async ({ node }) => {
    const searches = [
      ["Émile Zola", "émile", "EMILE", "zola emile", "Zo  ÉM"],
      ["Москва", "МОСКВА", "москва", "оСк"],
      ["Σοφίας", "σοφία", "ΣΟΦΊΑΣ", "οφιας"],
      ["İstanbul, Jürgen", "İSTANBUL", "istanbul", "jurgen", "ürg"],
      ["Zoë *[x]? 100%_\\d", "zoË *[X]?", "e *", "%_\\D", "100%", "?"],
      ["🌍 Straße", "🌍 straß", "STRASSE"],
      ["ﬁrst", "first"],
      ["Łukasz Øystein Đặng Æsa", "lukasz", "oystein", "dang", "aesa", "ŁUKASZ"],
      ["D’Arcy Smith‑Jones", "d'arcy", "smith-jones", "D’ARCY"],
      ["Anna xyz Mockba 100 d"],
    ];
    for (const [name = ""] of searches) await store(node, submissionOf(messageWith({ name })));
    const find = async (search: string) => (await node.messages.list({ search })).map(({ name }) => name);
    for (const [name, ...words] of searches)
      for (const search of words) expect([search, await find(search)]).toEqual([search, [name]]);
    for (const search of ["emole", "Ω.", "e*", "100%_wind"]) expect(await find(search)).toEqual([]);
  });

  test("finds every word in any field, note or reply, corrected and erased with them", async ({ node }) => {
    const fields = { name: "Hopper", email: "g@navy.example", phone: "555 0199", country: "US", message: "wind" };
    const reference = await store(node, submissionOf(messageWith(fields)));
    await store(node, submissionOf(messageWith({ country: "FR" })));
    const find = (search: string) => referencesOf(node, { search });
    for (const search of [...Object.values(fields), reference.toLowerCase(), reference.replaceAll("-", "").slice(2)])
      expect([search, await find(search)]).toEqual([search, [reference]]);
    expect(await find("wind HOPPER 0199 us")).toEqual([reference]);
    expect(await find("wind Hopper nowhere")).toEqual([]);
    await node.actions.addNote(reference, "Asked about Türkiye", later(1));
    await node.replies.add(reference, { key: "k", subject: "Turbines", text: "Six of them" }, later(2), {
      undoMs: 9,
    });
    expect(await find("turkiye wind six turbines")).toEqual([reference]);
    await node.replies.takeBack(reference, later(3), "k");
    expect([await find("turbines"), await find("turkiye")]).toEqual([[], [reference]]);
    await node.people.rectify("g@navy.example", { name: "Grace Brewster" }, later(4));
    expect([await find("hopper"), await find("brewster turkiye")]).toEqual([[], [reference]]);
  });

  test("finds a telephone number in any grouping, and a country by its English name or its whole code", async ({
    node,
  }) => {
    const message = "Join us in no time: our business is wind, not indoors";
    const send = (phone: string, country: string) =>
      store(node, submissionOf(messageWith({ phone, country, message })));
    const american = await send("+1 (555) 010-0199", "US");
    const indian = await send("+91 2345 6789 01", "IN");
    const unknown = await send("020/79 46.09 58", "");
    const searches: [string, string[]][] = [
      ["15550100199", [american]],
      ["+1 5550100199", [american]],
      ["555-0100-199", [american]],
      ["(01)00 199", [american]],
      ["91-23-45-67-89-01", [indian]],
      ["+912345 678901", [indian]],
      ["020 7946 0958", [unknown]],
      ["5550100198", []],
      ["united STATES", [american]],
      ["India", [indian]],
      ["us", [american]],
      ["In wind", [indian]],
      ["no", []],
      ["business", [unknown, indian, american]],
    ];
    for (const [search, expected] of searches)
      expect([search, (await referencesOf(node, { search })).toSorted()]).toEqual([search, expected.toSorted()]);
    await node.people.rectify("ada@example.com", { phone: "77 88 99", country: "NO" }, later(1));
    expect(await referencesOf(node, { search: "no norway 778899" })).toHaveLength(3);
    expect(await referencesOf(node, { search: "us" })).toEqual([]);
  });

  test("stores notes in the history of a message, without changing its version", async ({ node }) => {
    const reference = await store(node);
    const before = await node.messages.find(reference);
    expect(await node.actions.addNote(reference.toLowerCase(), "Called back", NOON)).toBe(true);
    // The answer to the first call was lost.
    const key = "8b6f1d0e-0000-4000-8000-000000000001";
    for (const _ of [1, 2]) expect(await node.actions.addNote(reference, "Wants\nan offer", later(1), key)).toBe(true);
    expect(await node.actions.addNote("BC-NONE-00", "x", NOON)).toBe(false);
    expect(await node.messages.find(reference)).toEqual(before);
    const notes = [
      { kind: "noted", at: NOON, author: "anna", detail: "Called back" },
      { kind: "noted", at: later(1), author: "anna", detail: "Wants\nan offer" },
    ];
    expect(await node.messages.history(reference)).toMatchObject(notes);
    expect([...(await node.messages.notes([reference, "BC-NONE-00"]))]).toMatchObject([[reference, notes]]);
  });

  test("changes the token after every change, but not when an attempt starts", async ({ node }) => {
    const [old, newer] = [await store(node), await store(node)];
    const read = () => node.messages.changeToken();
    let last = await read();
    await claimOne(node);
    expect(await read()).toBe(last);
    const save = (text: string, savedAt: Date) =>
      node.replies.saveDraft(newer, { subject: "Re", text, note: "" }, savedAt);
    const changes = [
      () => store(node),
      () => finish(node, "delivered"),
      () => node.actions.addNote(newer, "Called back", NOON),
      () => save("Dear", NOON),
      () => save("Dear Ada", later(MINUTE_MS)),
      () => save("", NOON),
      () => act(node, "answer", [old]),
      () => node.people.rectify("ada@example.com", { name: "Ada King" }, NOON),
      () => act(node, "delete", [old]),
      // The number of messages is the same afterwards.
      () => act(node, "delete", [newer]).then(() => store(node)),
    ];
    for (const change of changes) {
      await change();
      const now = await read();
      expect(now).not.toBe(last);
      last = now;
    }
  });
}
