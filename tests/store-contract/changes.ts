import { expect } from "vitest";
import { actionProblem, allowedActions } from "../../server/store/actions.ts";
import type { Store } from "../../server/store/open-store.ts";
import { ACTIONS, type Action, type DeliveryState } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { type ContractTest, get } from "./place.ts";
import {
  claimOne,
  estimateOf,
  finish,
  later,
  messageWith,
  NOON,
  store,
  storedWith,
  submissionOf,
  trapped,
} from "./samples.ts";

const ALL = ["queued", "delivered", "failed", "quarantined"];
/** The messages that allow each action. `restricted` is a restricted message that failed. */
const ALLOWING: Readonly<Record<Action, readonly string[]>> = {
  retry: ["queued", "failed"],
  release: ["quarantined"],
  spam: ALL,
  answer: [...ALL, "restricted"],
  unanswer: [...ALL, "restricted"],
  delete: ALL,
};
const QUEUED = { state: "queued", changedAt: later(9), dueAt: later(9), attempts: 0, error: null };
const HELD = { state: "quarantined", dueAt: null, error: null };
/** The changes after each action. */
const AFTER: Readonly<Record<Exclude<Action, "delete">, object>> = {
  retry: { deliveries: { mail: QUEUED } },
  release: { state: "queued", quarantineReason: "trap", deliveries: { mail: QUEUED, hook: QUEUED } },
  spam: { quarantineReason: "marked-as-spam", taught: "spam", deliveries: { mail: HELD } },
  answer: { answeredAt: later(9) },
  unanswer: { answeredAt: null },
};

async function actOnAll(node: Store, action: Action): Promise<void> {
  const references = (await node.messages.list({})).map(({ reference }) => reference);
  expect(await node.messages.act(action, { references }, later(1))).toEqual(references);
}

export function changesSuite(test: ContractTest): void {
  test("records the operator's actions and name in the history", async ({ node }) => {
    const reference = await store(node, trapped());
    const references = [reference];
    for (const ms of [1, 2]) await node.messages.markSeen(reference, later(ms));
    await node.messages.act("release", { references }, later(3));
    await finish(node, "delivered", later(4));
    await node.messages.act("answer", { references }, later(5));
    await node.messages.act("unanswer", { references }, later(6));
    await node.people.rectify("ada@example.com", { name: "Ada King" }, later(7));
    await node.people.restrict("ada@example.com", true, later(8));
    await node.people.restrict("ada@example.com", false, later(9));
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
      [9, "unrestricted", null],
    ]);
  });

  test("does not retry an acknowledgement that would be too late", () => {
    const delivery = (state: DeliveryState) => ({ ...storedWith().deliveries.mail, state });
    const [mail, failed] = [delivery("delivered"), delivery("failed")];
    const message = storedWith({ state: "delivered", deliveries: { mail, acknowledgement: failed, hook: mail } });
    expect(actionProblem("retry", message, later(DAY_MS - 1))).toBeNull();
    expect(actionProblem("retry", message, later(DAY_MS))).toBe(
      "BC-7K3Q-9M is delivered; only failed or queued messages can be retried",
    );
    expect(allowedActions(message, later(DAY_MS))).toEqual(["spam", "delete", "answer", "reply"]);
  });

  test.for(ACTIONS)(
    "applies %s to the messages that allow it, and does not change others",
    async (action, { node }) => {
      const stored = new Map<string, string>();
      const add = async (state: string, submission = submissionOf(messageWith({ email: `${state}@x.org` }))) =>
        stored.set(
          state,
          await store(node, submission, NOON, /^(quar|fail)/.test(state) ? ["mail", "hook"] : ["mail"]),
        );
      for (const state of ["delivered", "failed", "restricted"]) {
        await add(state);
        await finish(node, state === "delivered" ? "delivered" : "failed");
      }
      await add("quarantined", trapped());
      await add("queued");
      await node.queue.settle(await claimOne(node), { kind: "deferred", dueAt: later(HOUR_MS), error: "451" }, NOON);
      await node.people.restrict("restricted@x.org", true, NOON);
      const references = [...stored.values()];
      if (action === "unanswer") await node.messages.act("answer", { references }, NOON);
      const before = await node.messages.list({});
      const done = await node.messages.act(action, { references }, later(9));
      expect(done.sort()).toEqual(ALLOWING[action].map((state) => stored.get(state)).sort());
      for (const message of before) {
        const after = await node.messages.find(message.reference);
        if (!done.includes(message.reference)) expect(after).toEqual(message);
        else if (action === "delete") expect(after).toBeNull();
        // A delivery that waits for its next attempt keeps its number of attempts.
        else if (action === "retry" && message.state === "queued")
          expect(after?.deliveries.mail).toEqual({ ...message.deliveries.mail, dueAt: later(9) });
        else expect(after).toMatchObject(AFTER[action]);
      }
    },
  );

  test.for<[string, (node: Store) => Promise<unknown>]>([
    ["an attempt began", (node) => claimOne(node)],
    ["it was delivered", (node) => finish(node, "delivered")],
    ["it failed", (node) => finish(node, "failed")],
    ["it was made due", (node) => actOnAll(node, "retry")],
    ["it was marked as answered", (node) => actOnAll(node, "answer")],
    ["it was corrected", (node) => node.people.rectify("ada@example.com", { name: "Ada King" }, later(1))],
    ["it was restricted", (node) => node.people.restrict("ada@example.com", true, later(1))],
  ])("does not change a message that changed meanwhile: %s", async ([, change], { node, other }) => {
    const reference = await store(node);
    // Teaches the spam filter, so that no change below differs only by its lesson.
    await node.messages.reply(reference, REPLY, NOON);
    const { version } = await get(node, reference);
    await change(other);
    const changed = await get(node, reference);
    expect(changed.version).not.toBe(version);
    const selection = { references: [reference], versions: [version] };
    for (const action of ACTIONS) expect(await node.messages.act(action, selection, later(9))).toEqual([]);
    expect(await get(node, reference)).toEqual(changed);
  });

  test("ignores deliveries other than the mail in a message's version", async ({ node }) => {
    const reference = await store(node, submissionOf(), NOON, ["mail", "hook"]);
    const { version } = await get(node, reference);
    await node.queue.settle(await claimOne(node, NOON, "hook"), { kind: "delivered" }, NOON);
    expect(await node.messages.act("answer", { references: [reference], versions: [version] }, NOON)).toEqual([
      reference,
    ]);
  });

  test("a version belongs to one message, and does not match another", async ({ node }) => {
    const [reference, other] = [await store(node), await store(node)];
    const versions = [(await get(node, other)).version];
    expect(await node.messages.act("answer", { references: [reference, other], versions }, NOON)).toEqual([other]);
  });

  test("only one of two nodes that act on the same version at once succeeds", async ({ node, other }) => {
    for (let round = 0; round < 10; round += 1) {
      const reference = await store(node, trapped(`${round}@x.org`));
      const which = { references: [reference], versions: [(await get(node, reference)).version] };
      const actions = ["release", "delete", "release", "delete"] as const;
      const done = await Promise.all(
        actions.flatMap((action) => [node, other].map((one) => one.messages.act(action, which, later(1)))),
      );
      expect(done.flat()).toEqual([reference]);
    }
  });

  test("corrects only the given fields, in all messages of an address", async ({ node }) => {
    const mine = [messageWith({ email: "Ada@Example.com" }), messageWith({ email: "ada@example.com", country: "FR" })];
    for (const message of mine) await store(node, submissionOf(message));
    await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    expect(await node.people.rectify("ADA@example.com", { name: "Ada King", country: "" }, NOON)).toBe(2);
    expect(await node.messages.list({ email: "ada@example.com" })).toMatchObject([
      { ...mine[1], name: "Ada King", country: "" },
      { ...mine[0], name: "Ada King", country: "" },
    ]);
    expect(await node.messages.list({ email: "eve@example.com" })).toMatchObject([
      { name: "Ada Lovelace", country: "GB" },
    ]);
    expect(await node.people.rectify("nobody@example.com", { name: "X" }, NOON)).toBe(0);
  });

  test("removes the estimates of one person with a correction, or changes nothing", async ({ node }) => {
    const send = (email: string) =>
      store(node, submissionOf(messageWith({ email }), { footprint: estimateOf({ carKm: 1 }) }));
    const [mine, other] = [await send("ada@example.com"), await send("eve@example.com")];
    const rectify = (versions?: string[]) =>
      node.people.rectify("ADA@example.com", { country: "FR" }, later(1), versions, true);
    const read = async (reference: string) => {
      const { country, footprint } = await get(node, reference);
      return [country, footprint?.totalKg];
    };
    const before = ["GB", estimateOf({ carKm: 1 }).totalKg];
    expect(await rectify(["another version"])).toBe(0);
    expect(await read(mine)).toEqual(before);
    expect(await rectify()).toBe(1);
    expect([await read(mine), await read(other)]).toEqual([["FR", undefined], before]);
  });

  const REPLY = { key: "8b6f1d0e-0000-4000-8000-000000000001", subject: "Re: wind", text: "Dear Ada,\nyes." };
  const SECOND = { ...REPLY, key: "8b6f1d0e-0000-4000-8000-000000000002", text: "One more thing" };

  test("keeps one draft of each operator, of which the last save wins, until that operator replies", async ({
    node,
    other,
    place,
  }) => {
    const reference = await store(node);
    const read = async (one = node) => {
      const { own, others } = await one.messages.readDrafts(reference.toLowerCase());
      return [own?.text, ...others.map(({ author, savedAt, text }) => [author, savedAt, text])];
    };
    await place.sql(`INSERT INTO drafts SELECT id, '', 0, 'Re', 'old', '' FROM messages`);
    const old = [null, new Date(0), "old"];
    for (const text of ["D", "Dear Ada"])
      expect(await node.messages.saveDraft(reference, { subject: "Re", text, note: "" }, later(1))).toBe(true);
    const hers = ["anna", later(1), "Dear Ada"];
    expect(await other.messages.saveDraft(reference, { subject: "Re", text: "Hello", note: "" }, later(2))).toBe(true);
    // Another author's draft is shown, also one of 1.0.0, and never replaced.
    expect(await read()).toEqual(["Dear Ada", ["bob", later(2), "Hello"], old]);
    expect(await read(other)).toEqual(["Hello", hers, old]);
    expect(await other.messages.reply(reference, REPLY, later(3), { undoMs: 1 })).toBe(true);
    expect(await read(other)).toEqual([undefined, hers, old]);
    // A reply that is taken back is above what the operator has written since.
    await other.messages.saveDraft(reference, { ...SECOND, note: "" }, later(4));
    expect(await other.messages.takeBackReply(reference, REPLY.key, later(5))).toBe(true);
    expect(await read(other)).toEqual([`${REPLY.text}\n\n${SECOND.text}`, hers, old]);
    expect(await other.messages.reply(reference, REPLY, later(6))).toBe(true);
    // A client that did not get the answer saves the draft, then sends the reply again.
    for (const [draft, left] of [
      [REPLY, undefined],
      [SECOND, SECOND.text],
    ] as const) {
      await other.messages.saveDraft(reference, { ...draft, note: "" }, later(7));
      expect(await other.messages.reply(reference, REPLY, later(7))).toBe(true);
      expect(await read(other)).toEqual([left, hers, old]);
    }
    await node.messages.saveDraft(reference, { subject: "Re", text: " ", note: "" }, later(8));
    expect(await read()).toEqual([undefined, ["bob", later(7), SECOND.text], old]);
    expect(await node.messages.saveDraft("BC-NONE-00", { ...SECOND, note: "" }, NOON)).toBe(false);

    // A note that is not added yet outlives the reply, sent again or taken back.
    const note = "Wants an offer";
    const own = async () => (await other.messages.readDrafts(reference)).own;
    await other.queue.settle(await claimOne(other, later(9), "reply"), { kind: "delivered" }, later(9));
    await other.messages.saveDraft(reference, { ...SECOND, note }, later(9));
    for (const time of [later(10), later(11)]) {
      expect(await other.messages.reply(reference, SECOND, time, { undoMs: 1 })).toBe(true);
      expect(await own()).toMatchObject({ text: "", note });
    }
    expect(await other.messages.takeBackReply(reference, SECOND.key, later(12))).toBe(true);
    expect(await own()).toMatchObject({ text: SECOND.text, note });
  });

  test("undoes marks in any state, with what they taught, unless marked again", async ({ node, other }) => {
    const held = await store(node, trapped());
    const [failed, delivered, queued] = [await store(node), await store(node), await store(node)];
    await finish(node, "failed");
    await finish(node, "delivered");
    await node.messages.act("release", { references: [held] }, later(1));
    await node.messages.act("spam", { references: [held] }, later(2));
    const references = [held, failed, delivered, queued];
    const read = () => Promise.all(references.map((reference) => get(node, reference)));
    for (const action of ["spam", "release", "answer", "unanswer"] as const) {
      const before = await read();
      const done = await node.messages.act(action, { references }, later(9), action);
      // By another process than the one that marked them.
      const undone = await other.messages.undo(action, later(10));
      expect([undone?.done.sort(), undone?.skipped]).toEqual([done.sort(), []]);
      expect(await read()).toEqual(before);
      expect(await node.messages.undo(action, later(11))).toBeNull();
      await node.messages.act(action, { references }, later(12));
    }
    await node.messages.act("answer", { references: [queued] }, later(13), "marked again");
    await other.messages.act("unanswer", { references: [queued] }, later(14));
    expect(await node.messages.undo("marked again", later(15))).toEqual({ done: [], skipped: [queued] });
    expect((await node.messages.history(queued)).filter(({ kind }) => kind === "undone")).not.toEqual([]);
  });

  test("sends nothing twice if a message is marked and the mark is undone during an attempt", async ({ node }) => {
    const reference = await store(node, submissionOf(), NOON, ["mail", "hook"]);
    const references = [reference];
    const mark = async (action: Action, at: Date, work = async () => {}) => {
      await node.messages.act(action, { references }, at, `${Number(at)}`);
      await work();
      expect(await node.messages.undo(`${Number(at)}`, at)).toEqual({ done: references, skipped: [] });
    };
    const [mail, hook] = [await claimOne(node), await claimOne(node, NOON, "hook")];
    const states = async () => {
      const { deliveries } = await get(node, reference);
      return Object.fromEntries(Object.entries(deliveries).map(([channel, { state }]) => [channel, state]));
    };
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
    for (const action of ["spam", "release"] as const) await node.messages.act(action, { references }, later(5));
    expect(await states()).toEqual({ ...sent, acknowledgement: "queued" });
    const acknowledgement = await claimOne(node, later(6), "acknowledgement");
    await node.queue.settle(acknowledgement, { kind: "delivered" }, later(6));
    await mark("spam", later(7));
    expect(await states()).toEqual({ ...sent, acknowledgement: "delivered" });
  });

  test("holds back an acknowledgement if the release of its message is undone", async ({ node }) => {
    const reference = await store(node, trapped());
    const act = () => node.messages.act("release", { references: [reference] }, later(1), "release");
    await act();
    await node.queue.settle(await claimOne(node, later(2)), { kind: "delivered" }, later(2), "acknowledgement");
    await node.messages.undo("release", later(3));
    expect(await node.queue.claim("acknowledgement", 9, MINUTE_MS, later(4))).toEqual([]);
    await act();
    expect((await get(node, reference)).deliveries).toMatchObject({
      mail: { state: "delivered" },
      acknowledgement: { state: "queued" },
    });
  });

  test("takes back a reply that nobody sends yet, and leaves no trace of it", async ({ node }) => {
    const reference = await store(node);
    await finish(node, "delivered");
    const undoable = { undoMs: 10_000, isAnswer: true };
    const read = async () => [await get(node, reference), await node.messages.history(reference)];
    const before = await read();
    for (const state of ["none", "failed"] as const) {
      const last = await read();
      expect(await node.messages.reply(reference, SECOND, later(1), undoable)).toBe(true);
      expect((await get(node, reference)).answeredAt).toEqual(later(1));
      expect(await node.queue.claim("reply", 9, MINUTE_MS, later(9999))).toEqual([]);
      expect(await node.messages.takeBackReply(reference, REPLY.key, later(2))).toBe(false);
      expect(await node.messages.takeBackReply(reference, SECOND.key, later(2))).toBe(true);
      expect(await read()).toEqual(last);
      expect((await node.messages.readDrafts(reference)).own).toMatchObject({ text: SECOND.text });
      if (state === "failed") break;
      expect(await read()).toEqual(before);
      await node.messages.reply(reference, REPLY, NOON);
      await node.queue.settle(await claimOne(node, NOON, "reply"), { kind: "failed", error: "550" }, NOON);
    }
    await node.messages.reply(reference, SECOND, later(3), undoable);
    await claimOne(node, later(10_003), "reply");
    expect(await node.messages.takeBackReply(reference, SECOND.key, later(10_004))).toBe(false);
  });

  test("keeps a colleague's mark when a reply is taken back", async ({ node, other }) => {
    const reference = await store(node);
    await node.messages.reply(reference, SECOND, later(1), { undoMs: 10_000 });
    await other.messages.act("answer", { references: [reference] }, later(2));
    expect(await node.messages.takeBackReply(reference, SECOND.key, later(3))).toBe(true);
    expect((await get(node, reference)).answeredAt).toEqual(later(2));
    expect((await node.messages.history(reference)).map(({ kind }) => kind)).toEqual(["answered"]);
  });

  test("queues a reply once, and marks the message as answered when it is delivered", async ({ node }) => {
    const reference = await store(node);
    await finish(node, "delivered");
    expect(await node.messages.reply(reference.toLowerCase(), REPLY, later(1))).toBe(true);
    // The same key again: a client that did not get the first answer has sent it twice.
    expect(await node.messages.reply(reference, REPLY, later(2))).toBe(true);
    expect(await node.messages.reply(reference, SECOND, later(2))).toBe(false);
    const claim = await claimOne(node, later(3), "reply");
    expect(claim).toMatchObject({ queuedAt: later(1), reply: { ...REPLY, earlier: [] }, message: { reference } });
    expect(await get(node, reference)).toMatchObject({ answeredAt: null, deliveries: { reply: { state: "queued" } } });
    expect(await node.queue.settle(claim, { kind: "delivered" }, later(4))).toBe(true);
    expect(await get(node, reference)).toMatchObject({
      answeredAt: later(4),
      deliveries: { reply: { state: "delivered", attempts: 1 } },
    });
    await node.queue.noteCopyFailure(claim, "550", later(4));
    expect(await node.messages.reply(reference, REPLY, later(5))).toBe(true);
    expect(await node.queue.claim("reply", 9, MINUTE_MS, later(6))).toEqual([]);
    expect(await node.messages.reply(reference, SECOND, later(7))).toBe(true);
    const second = await claimOne(node, later(8), "reply");
    expect(second).toMatchObject({ attempts: 1, interruptions: 0, reply: { ...SECOND, earlier: [REPLY.key] } });
    await node.queue.settle(second, { kind: "delivered" }, later(9));

    const replied = { kind: "replied", at: later(1), author: "anna", channel: null };
    expect(await node.messages.history(reference)).toMatchObject([
      { kind: "delivered", channel: "mail" },
      { ...replied, detail: "Re: wind\n\nDear Ada,\nyes." },
      { kind: "delivered", channel: "reply", at: later(4) },
      { kind: "copy-failed", channel: "reply", detail: "550" },
      { ...replied, at: later(7), detail: "Re: wind\n\nOne more thing" },
      { kind: "delivered", channel: "reply", at: later(9) },
    ]);
    expect((await node.messages.notes([reference])).get(reference)).toMatchObject([
      { kind: "replied", author: "anna", text: "Re: wind\n\nDear Ada,\nyes." },
      { kind: "replied", author: "anna" },
    ]);
  });

  test("refuses a reply to a message that is restricted, quarantined, deleted or changed", async ({ node }) => {
    const restricted = await store(node, submissionOf(messageWith({ email: "eve@example.com" })));
    await node.people.restrict("eve@example.com", true, NOON);
    const [quarantined, changed] = [await store(node, trapped()), await store(node)];
    const { version } = await get(node, changed);
    await node.messages.act("answer", { references: [changed] }, NOON);
    for (const reference of [restricted, quarantined, "BC-NONE-00"]) {
      expect(await node.messages.reply(reference, REPLY, NOON)).toBe(false);
    }
    expect(await node.messages.reply(changed, REPLY, NOON, { version })).toBe(false);
    expect(await node.queue.countChannel("reply")).toMatchObject({ queued: 0 });
    expect(await node.messages.reply(changed, REPLY, NOON, { version: (await get(node, changed)).version })).toBe(true);
  });

  test("keeps a message while the reply to it waits", async ({ node }) => {
    const reference = await store(node);
    await finish(node, "delivered");
    expect((await get(node, reference)).expiresAt).not.toBeNull();
    await node.messages.reply(reference, REPLY, NOON);
    expect((await get(node, reference)).expiresAt).toBeNull();
    await node.archive.markAnnounced(await node.archive.findExpiring(later(29 * DAY_MS)));
    expect(await node.archive.purge(later(99 * DAY_MS))).toEqual([]);
  });

  test("changes a person's messages only if they are those that the operator saw", async ({ node }) => {
    const email = "bob@example.com";
    await store(node, submissionOf(messageWith({ email: "Bob@Example.com" })));
    const versions = async () => (await node.messages.list({ email })).map(({ version }) => version);
    const seen = await versions();
    await store(node, submissionOf(messageWith({ email })), later(HOUR_MS));
    expect(await node.people.rectify(email, { name: "Bob" }, NOON, seen)).toBe(0);
    expect(await node.people.restrict(email, true, NOON, seen)).toBe(0);
    expect(await node.people.erase(email, seen)).toBeNull();
    const now = await versions();
    expect(now).toHaveLength(2);
    expect(await node.people.restrict(email, true, NOON, now)).toBe(2);
    expect(await node.people.rectify(email, { name: "Bob" }, NOON, now)).toBe(0);
    expect(await node.people.rectify(email, { name: "Bob" }, NOON, await versions())).toBe(2);
    expect(await node.people.erase(email, await versions())).toHaveLength(2);
  });

  test("erases all messages of one address with all that belongs to them, and no others", async ({ node, place }) => {
    const send = (email: string) =>
      store(node, submissionOf(messageWith({ email }), { idempotencyKey: email }), NOON, ["mail", "hook"]);
    const references = [await send("Ada@Example.com"), await store(node, trapped("ada@example.com"))];
    const [other, deleted] = [await send("eve@example.com"), await send("bob@example.com")];
    for (let count = 0; count < 3; count += 1) await finish(node, "delivered");
    expect(await place.sql("SELECT * FROM events")).toHaveLength(3);
    expect((await node.people.erase("ADA@example.com"))?.sort()).toEqual(references.sort());
    expect(await node.people.erase("ada@example.com")).toEqual([]);
    expect(await node.messages.act("delete", { references: [deleted.toLowerCase()] }, NOON)).toEqual([deleted]);
    expect(await node.messages.list({})).toMatchObject([{ reference: other }]);
    for (const [table, rows] of Object.entries({ events: 1, deliveries: 2, keys: 1 }))
      expect(await place.sql(`SELECT * FROM ${table}`)).toHaveLength(rows);
  });

  test("removes the traces of an erasure, even of an interrupted one", async ({ node, place }) => {
    const mark = () => place.sql("SELECT name FROM meta WHERE name = 'unfinished_erasure'");
    await store(node);
    expect(await node.people.erase("nobody@example.com")).toEqual([]);
    expect(await node.people.erase("ada@example.com", ["another version"])).toBeNull();
    expect(await place.sql("SELECT hash FROM erasures")).toHaveLength(1);
    expect([await mark(), await node.people.finishErasure()]).toEqual([[], false]);
    expect(await node.people.erase("ada@example.com")).toHaveLength(1);
    // A process that is killed before it removes the traces leaves this mark.
    expect(await mark()).toHaveLength(1);
    expect([await node.people.finishErasure(), await node.people.finishErasure()]).toEqual([true, false]);
  });
}
