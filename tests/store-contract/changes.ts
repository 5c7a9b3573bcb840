import { expect } from "vitest";
import { isAllowed } from "../../server/store/actions.ts";
import { ACTIONS, type Action, type DeliveryState } from "../../server/store/model.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { type ContractTest, get } from "./place.ts";
import {
  act,
  claimOne,
  estimateOf,
  finish,
  later,
  messageWith,
  NOON,
  store,
  storeAs,
  storedWith,
  submissionOf,
  trapped,
  withChannels,
} from "./samples.ts";

const REPLY = { key: "8b6f1d0e-0000-4000-8000-000000000001", subject: "Re: wind", text: "Dear Ada,\nyes." };
const SECOND = { ...REPLY, key: "8b6f1d0e-0000-4000-8000-000000000002", text: "One more thing" };

const ALL = ["queued", "delivered", "failed", "quarantined"];
const QUEUED = { state: "queued", changedAt: later(9), dueAt: later(9), attempts: 0, unknownOutcomes: 0, error: null };
const HELD = { state: "quarantined", dueAt: null, error: null };
/** The messages that allow each action, and how it changes them. `restricted` is a restricted message that failed. */
const EXPECTED: Readonly<Record<Action, { allowing: readonly string[]; after?: object }>> = {
  retry: { allowing: ["queued", "failed"], after: { deliveries: { mail: QUEUED } } },
  release: {
    allowing: ["quarantined"],
    after: { state: "queued", quarantineReason: "trap", deliveries: { mail: QUEUED, hook: QUEUED } },
  },
  spam: { allowing: ALL, after: { quarantineReason: "marked-as-spam", taught: "spam", deliveries: { mail: HELD } } },
  answer: { allowing: [...ALL, "restricted"], after: { answeredAt: later(9) } },
  unanswer: { allowing: [...ALL, "restricted"], after: { answeredAt: null } },
  delete: { allowing: ALL },
};

export function changesSuite(test: ContractTest): void {
  test("records the operator's actions and name in the history", async ({ node }) => {
    const references = [await store(node, trapped())];
    const [reference = ""] = references;
    for (const ms of [1, 2]) await node.actions.markSeen(reference, later(ms));
    await act(node, "release", references, later(3));
    await finish(node, "delivered", later(4));
    await act(node, "answer", references, later(5));
    await act(node, "unanswer", references, later(6));
    await node.people.rectify("ada@example.com", { name: "Ada King" }, later(7));
    for (const isRestricted of [true, false]) await node.people.restrict("ada@example.com", isRestricted, later(8));
    const history = await node.messages.history(reference.toLowerCase());
    expect(new Set(history.map(({ author }) => author))).toEqual(new Set(["anna"]));
    expect(history.map(({ at, kind, channel }) => [Number(at) - NOON.getTime(), kind, channel])).toEqual([
      [1, "viewed", null],
      [3, "released", null],
      [4, "delivered", "mail"],
      [5, "answered", null],
      [6, "unanswered", null],
      [7, "corrected", null],
      [8, "restricted", null],
      [8, "unrestricted", null],
    ]);
  });

  test("does not retry an acknowledgement that would be too late", () => {
    const delivery = (state: DeliveryState) => ({ ...storedWith().deliveries.mail, state });
    const [mail, acknowledgement] = [delivery("delivered"), delivery("failed")];
    const message = storedWith({ state: "delivered", deliveries: { mail, acknowledgement } });
    expect(isAllowed("retry", message, later(DAY_MS - 1))).toBe(true);
    expect(isAllowed("retry", message, later(DAY_MS))).toBe(false);
  });

  test.for(ACTIONS)(
    "applies %s to the messages that allow it, and does not change others",
    async (action, { node, place }) => {
      const stored = new Map<string, string>();
      const posting = await place.open({ rules: withChannels("mail", "hook") });
      stored.set("delivered", await storeAs(node, "delivered"));
      for (const state of ["failed", "quarantined"] as const) stored.set(state, await storeAs(posting, state));
      stored.set("restricted", await storeAs(node, "failed", { email: "restricted@x.org" }));
      stored.set("queued", await store(node));
      await node.queue.settle(await claimOne(node), { kind: "deferred", delayMs: HOUR_MS, error: "451" }, NOON);
      await node.people.restrict("restricted@x.org", true, NOON);
      const references = [...stored.values()];
      if (action === "unanswer") await act(node, "answer", references);
      const before = await node.messages.list({});
      const done = await act(node, action, references, later(9));
      const { allowing, after: changed = null } = EXPECTED[action];
      expect(done.sort()).toEqual(allowing.map((state) => stored.get(state)).sort());
      for (const message of before) {
        const after = await node.messages.find(message.reference);
        if (!done.includes(message.reference)) expect(after).toEqual(message);
        else if (changed === null) expect(after).toBeNull();
        // A delivery that waits for its next attempt keeps its number of attempts.
        else if (action === "retry" && message.state === "queued")
          expect(after?.deliveries.mail).toEqual({ ...message.deliveries.mail, dueAt: later(9) });
        else expect(after).toMatchObject(changed);
      }
    },
  );

  test("refuses an action on a version that is no longer the message's", async ({ node, other, place }) => {
    const posting = await place.open({ rules: withChannels("mail", "hook") });
    const changes: ((reference: string, email: string) => Promise<unknown>)[] = [
      () => claimOne(other),
      () => finish(other, "delivered"),
      () => finish(other, "failed"),
      (reference) => act(other, "retry", [reference], later(1)),
      (reference) => act(other, "answer", [reference], later(1)),
      (_, email) => other.people.rectify(email, { name: "Ada King" }, later(1)),
      (_, email) => other.people.restrict(email, true, later(1)),
      // Only the mail's delivery changes the message.
      async () => other.queue.settle(await claimOne(other, NOON, "hook"), { kind: "delivered" }, NOON),
    ];
    for (const [index, change] of changes.entries()) {
      const email = `${index}@example.com`;
      const isHook = index === changes.length - 1;
      const message = submissionOf(messageWith({ email }));
      const reference = await store(isHook ? posting : node, message);
      // Teaches the spam filter, so that no change differs only by its lesson.
      await node.replies.add(reference, REPLY, NOON);
      const versions = [(await get(node, reference)).version];
      await change(reference, email);
      const after = await get(node, reference);
      const done = await node.actions.act("spam", { references: [reference], versions }, later(9));
      expect([index, done]).toEqual([index, isHook ? [reference] : []]);
      if (!isHook) expect(await get(node, reference)).toEqual(after);
    }
  });

  test("only one of two nodes that act on the same version at once succeeds", async ({ node, other }) => {
    for (let round = 0; round < 10; round += 1) {
      const reference = await store(node, trapped(`${round}@x.org`));
      const which = { references: [reference], versions: [(await get(node, reference)).version] };
      const actions = ["release", "delete", "release", "delete"] as const;
      const done = await Promise.all(
        actions.flatMap((action) => [node, other].map((one) => one.actions.act(action, which, later(1)))),
      );
      expect(done.flat()).toEqual([reference]);
    }
  });

  test("corrects only the given fields, in all messages of an address, and removes estimates", async ({ node }) => {
    const emails = ["Ada@Example.com", "ada@example.com", "eve@example.com"];
    const messages = emails.map((email) => messageWith({ email }));
    const footprint = estimateOf({ carKm: 1 });
    for (const message of messages) await store(node, submissionOf(message, { footprint }));
    const list = async (email: string) =>
      (await node.messages.list({ email })).map(({ name, phone, country, footprint }) => [
        ...[name, phone, country, footprint?.totalKg],
      ]);
    const old = await list("eve@example.com");
    expect(await node.people.rectify("ADA@example.com", { name: "Ada King", country: "" }, NOON)).toBe(2);
    const corrected = ["Ada King", messages[0]?.phone, "", footprint.totalKg];
    expect(await list("ada@example.com")).toEqual([corrected, corrected]);
    expect(await node.people.rectify("ada@example.com", { country: "FR" }, NOON, true)).toBe(2);
    const without = ["Ada King", messages[0]?.phone, "FR", undefined];
    expect(await list("ada@example.com")).toEqual([without, without]);
    expect(await list("eve@example.com")).toEqual(old);
    expect(await node.people.rectify("nobody@example.com", { name: "X" }, NOON)).toBe(0);
  });

  test("erases all messages of one address with all that belongs to them, and no others", async ({ node, place }) => {
    const posting = await place.open({ rules: withChannels("mail", "hook") });
    const send = (email: string) => store(posting, submissionOf(messageWith({ email }), { idempotencyKey: email }));
    const references = [await send("Ada@Example.com"), await store(node, trapped("ada@example.com"))];
    const [other, deleted] = [await send("eve@example.com"), await send("bob@example.com")];
    for (let count = 0; count < 3; count += 1) await finish(node, "delivered");
    expect(await place.sql("SELECT * FROM events")).toHaveLength(3);
    expect((await node.people.erase("ADA@example.com")).sort()).toEqual(references.sort());
    expect(await node.people.erase("ada@example.com")).toEqual([]);
    expect(await act(node, "delete", [deleted.toLowerCase()])).toEqual([deleted]);
    expect(await node.messages.list({})).toMatchObject([{ reference: other }]);
    for (const [table, rows] of Object.entries({ events: 1, deliveries: 2, keys: 1 }))
      expect(await place.sql(`SELECT * FROM ${table}`)).toHaveLength(rows);
  });

  test("removes the traces of an erasure, even of an interrupted one", async ({ node, place }) => {
    const mark = () => place.sql("SELECT name FROM meta WHERE name = 'unfinished_erasure'");
    await store(node);
    expect(await node.people.erase("nobody@example.com")).toEqual([]);
    expect(await place.sql("SELECT hash FROM erasures")).toHaveLength(1);
    expect([await mark(), await node.people.finishErasure()]).toEqual([[], false]);
    expect(await node.people.erase("ada@example.com")).toHaveLength(1);
    // A process that is killed before it removes the traces leaves this mark.
    expect(await mark()).toHaveLength(1);
    expect([await node.people.finishErasure(), await node.people.finishErasure()]).toEqual([true, false]);
  });

  test("keeps one draft of each operator, of which the last save wins, until that operator replies", async ({
    node,
    other,
    place,
  }) => {
    const reference = await store(node);
    const save = (one: Store, text: string, ms: number, note = "") =>
      one.replies.saveDraft(reference, { subject: "Re", text, note }, later(ms));
    const read = async (one = node) => {
      const { own, others } = await one.replies.readDrafts(reference.toLowerCase());
      return [own && [own.text, own.note].filter(Boolean), ...others.map(({ author, text }) => [author, text])];
    };
    await place.sql(`INSERT INTO drafts SELECT id, '', 0, 'Re', 'old', '' FROM messages`);
    for (const text of ["D", "Dear Ada"]) expect(await save(node, text, 1)).toBe(true);
    await save(other, "Hello", 2, "Wants an offer");
    // Another author's draft is shown, also one without a name, and never replaced.
    const [old, hers, note] = [[null, "old"], ["anna", "Dear Ada"], "Wants an offer"];
    expect(await read()).toEqual([["Dear Ada"], ["bob", "Hello"], old]);
    expect(await read(other)).toEqual([["Hello", note], hers, old]);
    expect(await other.replies.add(reference, REPLY, later(3), { undoMs: 1 })).toBe(true);
    expect(await read(other)).toEqual([[note], hers, old]);
    // A reply that is taken back is above what the operator has written since.
    await save(other, SECOND.text, 4, note);
    expect(await other.replies.takeBack(reference, later(5), REPLY.key)).toBe("draft");
    expect(await read(other)).toEqual([[`${REPLY.text}\n\n${SECOND.text}`, note], hers, old]);
    // A client that did not get the answer saves the draft, then sends the reply again.
    for (const [text, ...left] of [["x"], [REPLY.text], [SECOND.text, SECOND.text]] as const) {
      await save(other, text, 7, note);
      expect(await other.replies.add(reference, REPLY, later(7))).toBe(true);
      expect(await read(other)).toEqual([[...left, note], hers, old]);
    }
    await save(node, " ", 8);
    expect(await read()).toEqual([null, ["bob", SECOND.text], old]);
    expect(await node.replies.saveDraft("BC-NONE-00", { ...SECOND, note }, NOON)).toBe(false);
  });

  test("undoes marks in any state, with what they taught, unless marked again", async ({ node, other }) => {
    const states = ["quarantined", "failed", "delivered", "queued"] as const;
    const references: string[] = [];
    for (const state of states) references.push(await storeAs(node, state));
    const [held = "", , , queued = ""] = references;
    for (const action of ["release", "spam"] as const) await act(node, action, [held], later(1));
    const read = () => Promise.all(references.map((reference) => get(node, reference)));
    for (const action of ["spam", "release", "answer", "unanswer"] as const) {
      const before = await read();
      const done = await act(node, action, references, later(9), action);
      // By another process than the one that marked them.
      const undone = await other.actions.undo(action, later(10));
      expect([undone?.done.sort(), undone?.skipped]).toEqual([done.sort(), []]);
      expect(await read()).toEqual(before);
      expect(await node.actions.undo(action, later(11))).toBeNull();
      await act(node, action, references, later(12));
    }
    await act(node, "answer", [queued], later(13), "marked again");
    await act(other, "unanswer", [queued], later(14));
    expect(await node.actions.undo("marked again", later(15))).toEqual({ done: [], skipped: [queued] });
    expect((await node.messages.history(queued)).filter(({ kind }) => kind === "undone")).not.toEqual([]);
  });

  test("sends nothing twice if a message is marked and the mark is undone during an attempt", async ({ place }) => {
    const node = await place.open({ rules: withChannels("mail", "hook") });
    const references = [await store(node)];
    const mark = async (action: Action, at: Date, work = async () => {}) => {
      await act(node, action, references, at, `${Number(at)}`);
      await work();
      expect(await node.actions.undo(`${Number(at)}`, at)).toEqual({ done: references, skipped: [] });
    };
    const states = async () => {
      const { deliveries } = await get(node, references[0] ?? "");
      return Object.fromEntries(Object.entries(deliveries).map(([channel, { state }]) => [channel, state]));
    };
    const [mail, hook] = [await claimOne(node), await claimOne(node, NOON, "hook")];
    await mark("spam", later(1));
    for (const channel of ["mail", "hook"] as const)
      expect(await node.queue.claim(channel, 9, MINUTE_MS, later(2))).toEqual([]);
    await mark("spam", later(3), async () => {
      expect(await node.queue.settle(mail, { kind: "delivered" }, later(4), "acknowledgement")).toBe(true);
      expect(await node.queue.settle(hook, { kind: "delivered" }, later(4))).toBe(true);
      expect(await states()).toEqual({ mail: "quarantined", hook: "delivered", acknowledgement: "quarantined" });
    });
    const sent = { mail: "delivered", hook: "delivered" };
    expect(await states()).toEqual({ ...sent, acknowledgement: "queued" });
    for (const action of ["spam", "release"] as const) await act(node, action, references, later(5));
    expect(await states()).toEqual({ ...sent, acknowledgement: "queued" });
    await node.queue.settle(await claimOne(node, later(6), "acknowledgement"), { kind: "delivered" }, later(6));
    await mark("spam", later(7));
    expect(await states()).toEqual({ ...sent, acknowledgement: "delivered" });
  });

  test("holds back an acknowledgement if the release of its message is undone", async ({ node }) => {
    const reference = await store(node, trapped());
    await act(node, "release", [reference], later(1), "release");
    await node.queue.settle(await claimOne(node, later(2)), { kind: "delivered" }, later(2), "acknowledgement");
    await node.actions.undo("release", later(3));
    expect(await node.queue.claim("acknowledgement", 9, MINUTE_MS, later(4))).toEqual([]);
    await act(node, "release", [reference], later(5));
    const { mail, acknowledgement } = (await get(node, reference)).deliveries;
    expect([mail.state, acknowledgement?.state]).toEqual(["delivered", "queued"]);
  });

  test("takes back a reply that nobody sends yet, and leaves no trace of it", async ({ node, other }) => {
    const reference = await storeAs(node, "delivered");
    const undoable = { undoMs: 10_000 };
    const read = async () => [await get(node, reference), await node.messages.history(reference)];
    const before = await read();
    for (const last of ["none", "failed"]) {
      const before = await read();
      expect(await node.replies.add(reference, SECOND, later(1), undoable)).toBe(true);
      expect((await get(node, reference)).answeredAt).toBe(null);
      expect(await node.queue.claim("reply", 9, MINUTE_MS, later(9999))).toEqual([]);
      expect(await node.replies.takeBack(reference, later(2), REPLY.key)).toBe("late");
      expect(await node.replies.takeBack(reference, later(2), SECOND.key)).toBe("draft");
      expect(await read()).toEqual(before);
      expect((await node.replies.readDrafts(reference)).own).toMatchObject({ text: SECOND.text });
      if (last === "failed") break;
      await node.replies.add(reference, REPLY, NOON);
      await node.queue.settle(await claimOne(node, NOON, "reply"), { kind: "failed", error: "550" }, NOON);
    }
    expect(await read()).not.toEqual(before);
    // A colleague's mark stays.
    await node.replies.add(reference, SECOND, later(3), undoable);
    for (const action of ["unanswer", "answer"] as const) await act(other, action, [reference], later(4));
    expect(await node.replies.takeBack(reference, later(5), SECOND.key)).toBe("draft");
    expect((await get(node, reference)).answeredAt).toEqual(later(4));
    await node.replies.add(reference, SECOND, later(6), undoable);
    await claimOne(node, later(10_006), "reply");
    expect(await node.replies.takeBack(reference, later(10_007), SECOND.key)).toBe("late");
  });

  test("takes back any reply that waits, but only stops one that may have been sent", async ({ node, other }) => {
    const reference = await storeAs(node, "delivered");
    const before = await node.messages.history(reference);
    // Written at the terminal, refused for a while, then taken back by a colleague.
    await node.replies.add(reference, REPLY, later(1));
    const claim = await claimOne(node, later(2), "reply");
    expect(await node.replies.takeBack(reference, later(3))).toBe("late");
    await node.queue.settle(claim, { kind: "deferred", delayMs: MINUTE_MS, error: "451" }, later(3));
    expect(await other.replies.takeBack(reference, later(4))).toBe("draft");
    expect(await node.messages.history(reference)).toEqual(before);
    expect((await other.replies.readDrafts(reference)).own).toMatchObject({ text: REPLY.text });
    // Its worker died, and somebody sent it again.
    await node.replies.add(reference, SECOND, later(5));
    await claimOne(node, later(5), "reply");
    const afterLease = later(2 * MINUTE_MS);
    expect(await node.replies.takeBack(reference, afterLease)).toBe("late");
    expect(await node.queue.claim("reply", 1, MINUTE_MS, afterLease)).toEqual([]);
    await act(node, "again", [reference], afterLease);
    expect(await node.replies.takeBack(reference, afterLease)).toBe("stopped");
    expect((await get(node, reference)).deliveries.reply).toMatchObject({ state: "failed", unknownOutcomes: 1 });
    expect(await node.messages.history(reference)).toMatchObject([{}, { kind: "replied" }, {}, {}, { kind: "failed" }]);
  });

  test("either sends a reply or takes it back, also if both happen at once", async ({ node, other }) => {
    const { sent, draft } = await raceTakeBack(node, other, 20);
    expect(sent + draft).toBe(20);
  });

  test("queues a reply once, and marks the message as answered when it is delivered", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    expect(await node.replies.add(reference.toLowerCase(), REPLY, later(1))).toBe(true);
    // The same key again: a client that did not get the first answer has sent it twice.
    expect(await node.replies.add(reference, REPLY, later(2))).toBe(true);
    expect(await node.replies.add(reference, SECOND, later(2))).toBe(false);
    const claim = await claimOne(node, later(3), "reply");
    expect(claim).toMatchObject({ queuedAt: later(1), reply: { ...REPLY, earlier: [] }, message: { reference } });
    expect(await get(node, reference)).toMatchObject({ answeredAt: null, deliveries: { reply: { state: "queued" } } });
    expect(await node.queue.settle(claim, { kind: "delivered" }, later(4))).toBe(true);
    expect(await get(node, reference)).toMatchObject({
      answeredAt: later(4),
      deliveries: { reply: { state: "delivered", attempts: 1 } },
    });
    await node.queue.noteCopyFailure(claim, "550", later(4));
    expect(await node.replies.add(reference, REPLY, later(5))).toBe(true);
    expect(await node.queue.claim("reply", 9, MINUTE_MS, later(6))).toEqual([]);
    expect(await node.replies.add(reference, SECOND, later(7))).toBe(true);
    expect(await claimOne(node, later(8), "reply")).toMatchObject({
      attempts: 1,
      reply: { ...SECOND, earlier: [{ key: REPLY.key }] },
    });
    const history = await node.messages.history(reference);
    expect(history.map(({ kind, channel, detail }) => [kind, channel, detail])).toEqual([
      ["delivered", "mail", null],
      ["replied", null, "Re: wind\n\nDear Ada,\nyes."],
      ["delivered", "reply", null],
      ["copy-failed", "reply", "550"],
      ["replied", null, "Re: wind\n\nOne more thing"],
    ]);
    expect((await node.messages.notes([reference])).get(reference)).toMatchObject([
      { kind: "replied", author: "anna", detail: "Re: wind\n\nDear Ada,\nyes." },
      { kind: "replied", author: "anna" },
    ]);
  });

  test("sends a failed reply again only for somebody who names its message", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    const again = (ms: number) => act(node, "again", [reference], later(ms));
    expect(await again(1)).toEqual([]);
    await node.replies.add(reference, REPLY, later(1));
    const attempt = async (ms: number, isUnknown: boolean) => {
      const claim = await claimOne(node, later(ms), "reply");
      expect(claim).toMatchObject({ attempts: 1, unknownOutcomes: 1, reply: REPLY });
      await node.queue.settle(claim, { kind: "failed", error: "", isUnknown }, later(ms));
    };
    await attempt(2, true);
    expect(await act(node, "retry", [reference], later(3))).toEqual([]);
    // Pressed twice.
    expect([await again(4), await again(4)]).toEqual([[reference], []]);
    await attempt(5, false);
    expect(await act(node, "retry", [reference], later(6))).toEqual([reference]);
    await attempt(7, true);
    expect(isAllowed("retry", await get(node, reference), later(8))).toBe(false);
    expect((await node.messages.history(reference)).map(({ kind, channel }) => `${kind} ${channel}`)).toEqual([
      "delivered mail",
      "replied null",
      ...["failed reply", "retried null", "failed reply", "retried null", "failed reply"],
    ]);
  });

  test("refuses a reply to a message that is restricted, quarantined, deleted or changed", async ({ node }) => {
    const restricted = await storeAs(node, "queued", { email: "eve@example.com" });
    await node.people.restrict("eve@example.com", true, NOON);
    const [quarantined, changed] = [await store(node, trapped()), await store(node)];
    const { version } = await get(node, changed);
    await act(node, "answer", [changed]);
    for (const reference of [restricted, quarantined, "BC-NONE-00"])
      expect(await node.replies.add(reference, REPLY, NOON)).toBe(false);
    expect(await node.replies.add(changed, REPLY, NOON, { version })).toBe(false);
    expect(await node.queue.countChannel("reply")).toMatchObject({ queued: 0 });
    expect(await node.replies.add(changed, REPLY, NOON, { version: (await get(node, changed)).version })).toBe(true);
  });
}

/** A worker of `node` claims each reply while an operator of `other` takes it back: it is sent or a draft. */
export async function raceTakeBack(node: Store, other: Store, rounds: number) {
  const outcomes = { sent: 0, draft: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const reference = await storeAs(node, "delivered");
    const now = later(round);
    expect(await node.replies.add(reference, REPLY, now)).toBe(true);
    const claim = () => node.queue.claim("reply", 1, MINUTE_MS, now);
    // Whoever is called first is often first.
    const early = round % 2 === 0 ? claim() : null;
    const takingBack = other.replies.takeBack(reference, now);
    const [[claimed], outcome] = await Promise.all([early ?? claim(), takingBack]);
    const isSent = claimed ? await node.queue.settle(claimed, { kind: "delivered" }, now) : false;
    expect([isSent, outcome]).toEqual(isSent ? [true, "late"] : [false, "draft"]);
    outcomes[isSent ? "sent" : "draft"] += 1;
    const written = (await node.messages.notes([reference])).get(reference) ?? [];
    const { own } = await other.replies.readDrafts(reference);
    expect([written.length, own !== null]).toEqual(isSent ? [1, false] : [0, true]);
  }
  return outcomes;
}
