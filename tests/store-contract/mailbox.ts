import { expect } from "vitest";
import { MAX_HOURLY_MAILS, MAX_MAILS, type NewMail } from "../../server/store/mailbox.ts";
import { LEASE_MS } from "../../server/store/queue.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/time.ts";
import { RETENTION } from "../support/in-process-store.ts";
import { type ContractTest, get } from "./place.ts";
import { act, claimOne, later, messageWith, NOON, store, storeAs, submissionOf } from "./samples.ts";

const INBOX = "team@imap.example/INBOX";
const KEY = "1a2b3c4d-0000-4000-8000-000000000001";
const REPLY = { key: KEY, subject: "Re: wind", text: "Tuesday?" };
let serial = 0;

async function mailFor(node: Store, reference: string, given: Partial<NewMail> = {}): Promise<NewMail> {
  serial += 1;
  const { id, email, name } = await get(node, reference);
  return {
    id,
    reference,
    kind: "received",
    mailId: `<${serial}@mail.example>`,
    sender: email,
    senderName: name,
    subject: "Re: wind",
    text: `Answer number ${serial}`,
    attachments: [],
    sentAt: later(MINUTE_MS),
    isOfSender: true,
    ...given,
  };
}

/** Leases the folder, which was looked at first a day before. */
async function read(node: Store, token = "token"): Promise<string> {
  await node.mailbox.lease([INBOX], token, HOUR_MS, NOON);
  await node.mailbox.begin({ name: INBOX, uidValidity: 1, lastUid: 0 }, token, later(-DAY_MS));
  return token;
}

async function receive(node: Store, reference: string, given: Partial<NewMail> = {}, now = later(2 * MINUTE_MS)) {
  const token = await read(node);
  return node.mailbox.record(INBOX, token, 1, await mailFor(node, reference, given), now);
}

async function answered(node: Store, given: { email?: string } = {}): Promise<string> {
  const reference = await storeAs(node, "delivered", given);
  await act(node, "answer", [reference], later(1));
  return reference;
}

/** Sends a reply; returns the time when it was delivered. */
async function reply(node: Store, reference: string, at: Date, key = KEY): Promise<Date> {
  await node.replies.add(reference, { ...REPLY, key }, at);
  await node.queue.settle(await claimOne(node, at, "reply"), { kind: "delivered" }, at);
  return at;
}

const kindsOf = async (node: Store, reference: string) =>
  (await node.messages.history(reference)).map(({ kind }) => kind).filter((kind) => !/deliver|answered/.test(kind));

export function mailboxSuite(test: ContractTest): void {
  test("an answer makes the message unanswered, first in its tab, and is found by its words and sender", async ({
    node,
  }) => {
    const reference = await answered(node);
    await storeAs(node, "delivered", { now: later(1) });
    expect(await receive(node, reference, { sender: "ADA@Example.com", text: "Wednesday, please\n> Tuesday?" })).toBe(
      "recorded",
    );
    const message = await get(node, reference);
    expect(message).toMatchObject({ answeredAt: null, newAnswerAt: later(MINUTE_MS), taught: "good" });
    expect((await node.messages.list({ tab: "unanswered" }))[0]?.reference).toBe(reference);
    expect(await node.messages.neighbours(reference, { tab: "unanswered" })).toMatchObject({ previous: null });
    for (const search of ["wednesday", "ada@example.com"])
      expect((await node.messages.list({ search })).map((one) => one.reference)).toContain(reference);
    expect((await node.messages.history(reference)).at(-1)).toMatchObject({
      kind: "received",
      detail: "Re: wind\n\nWednesday, please\n> Tuesday?",
      sender: "ada@example.com",
      mailedAt: later(MINUTE_MS),
    });
  });

  test("a mail that cannot be read makes the message unanswered if it is an answer of the sender", async ({ node }) => {
    const unread = { kind: "unread-mail", subject: "", text: "" } as const;
    const [from, fromElsewhere] = [await answered(node), await answered(node)];
    await receive(node, from, unread);
    await receive(node, fromElsewhere, { ...unread, isOfSender: false });
    expect(await get(node, from)).toMatchObject({ answeredAt: null, newAnswerAt: later(MINUTE_MS) });
    expect(await get(node, fromElsewhere)).toMatchObject({ answeredAt: later(1), newAnswerAt: null });
  });

  test("the same mail is stored once, also from another folder", async ({ node }) => {
    const reference = await answered(node);
    const mail = await mailFor(node, reference);
    const token = await read(node);
    for (const uid of [1, 2]) await node.mailbox.record(INBOX, token, uid, mail, later(HOUR_MS));
    expect(await kindsOf(node, reference)).toEqual(["received"]);
  });

  test("a mail and the position are stored together, only by the node that has the lease", async ({ node, other }) => {
    const reference = await answered(node);
    await read(node, "first");
    expect(await other.mailbox.lease([INBOX], "second", HOUR_MS, later(1))).toBeNull();
    const [folder] = (await other.mailbox.lease([INBOX], "second", HOUR_MS, later(HOUR_MS))) ?? [];
    expect(folder).toMatchObject({ uidValidity: 1, lastUid: 0 });
    const mail = await mailFor(node, reference);
    expect(await node.mailbox.record(INBOX, "first", 7, mail, later(HOUR_MS))).toBe("lost");
    expect(await kindsOf(node, reference)).toEqual([]);
    expect(await other.mailbox.record(INBOX, "second", 7, mail, later(HOUR_MS))).toBe("recorded");
    await other.mailbox.release("second");
    expect(await node.mailbox.lease([INBOX], "third", HOUR_MS, later(HOUR_MS))).toMatchObject([{ lastUid: 7 }]);
  });

  test("a lease from a clock that was a year ahead ends", async ({ node, other }) => {
    await node.mailbox.lease([INBOX], "first", 2 * MINUTE_MS, later(365 * DAY_MS));
    await node.queue.repairTimes(NOON);
    expect(await other.mailbox.lease([INBOX], "second", HOUR_MS, later(LEASE_MS - 1))).toBeNull();
    expect(await other.mailbox.lease([INBOX], "second", HOUR_MS, later(LEASE_MS))).not.toBeNull();
  });

  test("finds messages by Message-IDs of their mails and by references", async ({ node }) => {
    const [reference, second] = [await answered(node), await answered(node)];
    await receive(node, reference, { mailId: "<known@mail.example>" });
    const found = await node.mailbox.find({ mailIds: ["<known@mail.example>"], references: [second] });
    expect(found.map(({ reference, mailIds }) => ({ reference, mailIds }))).toEqual([
      { reference, mailIds: ["<known@mail.example>"] },
      { reference: second, mailIds: [] },
    ]);
  });

  test("a reply marks as answered only if it was written after the last answer", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    await node.replies.add(reference, REPLY, later(1));
    await receive(node, reference);
    await node.queue.settle(await claimOne(node, later(HOUR_MS), "reply"), { kind: "delivered" }, later(HOUR_MS));
    expect(await get(node, reference)).toMatchObject({ answeredAt: null, newAnswerAt: later(MINUTE_MS) });
    const at = await reply(node, reference, later(2 * HOUR_MS), `2${KEY.slice(1)}`);
    expect(await get(node, reference)).toMatchObject({ answeredAt: at, newAnswerAt: null });
  });

  test("a reply from a mail program marks as answered, unless a later answer came", async ({ node }) => {
    const [reference, late] = [await storeAs(node, "delivered"), await storeAs(node, "delivered")];
    const bob = { kind: "mailbox-reply", sender: "bob@brighter.example", senderName: "Bob" } as const;
    await receive(node, reference, { ...bob, sentAt: later(MINUTE_MS) });
    expect((await get(node, reference)).answeredAt).toEqual(later(MINUTE_MS));
    expect((await node.messages.history(reference)).at(-1)).toMatchObject({ kind: "mailbox-reply", author: "Bob" });
    await receive(node, late, { sentAt: later(MINUTE_MS) });
    await receive(node, late, { ...bob, sentAt: later(MINUTE_MS - 1) });
    expect((await get(node, late)).answeredAt).toBeNull();
    // An older answer that is read later, from another folder.
    await receive(node, reference, { sentAt: later(MINUTE_MS - 1) });
    expect(await get(node, reference)).toMatchObject({ answeredAt: later(MINUTE_MS), newAnswerAt: null });
  });

  test("what was answered after a mail from before the first look stays answered", async ({ node }) => {
    const [reference, older] = [await answered(node), await answered(node)];
    const token = "token";
    await node.mailbox.lease([INBOX], token, HOUR_MS, NOON);
    await node.mailbox.begin({ name: INBOX, uidValidity: 1, lastUid: 0 }, token, later(HOUR_MS));
    const [before, after] = [later(-MINUTE_MS), later(MINUTE_MS)];
    await node.mailbox.record(INBOX, token, 1, await mailFor(node, reference, { sentAt: before }), later(HOUR_MS));
    await node.mailbox.record(INBOX, token, 2, await mailFor(node, older, { sentAt: after }), later(HOUR_MS));
    expect((await get(node, reference)).answeredAt).toEqual(later(1));
    expect((await get(node, older)).answeredAt).toBeNull();
  });

  test("an answer ends an older undo, and is ended by a mark, whose undo brings it back", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    const step = "8b6f1d0e-0000-4000-8000-000000000009";
    await act(node, "answer", [reference], later(1), step);
    await receive(node, reference);
    expect(await node.actions.undo(step, later(HOUR_MS))).toMatchObject({ skipped: [reference] });
    await act(node, "answer", [reference], later(HOUR_MS), step);
    expect((await get(node, reference)).newAnswerAt).toBeNull();
    await node.actions.undo(step, later(HOUR_MS));
    expect((await get(node, reference)).newAnswerAt).toEqual(later(MINUTE_MS));
  });

  test("a reply that came back has failed, and only a person sends it again", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    const at = await reply(node, reference, later(1));
    // Who does not know the reply guesses a short beginning of its key.
    await receive(node, reference, { kind: "came-back", returned: { key: KEY.slice(0, 1), reason: "550" } });
    expect(await get(node, reference)).toMatchObject({ answeredAt: at, deliveries: { reply: { state: "delivered" } } });
    const returned = { key: KEY.slice(0, 8), reason: "550 5.1.1 no such user" };
    await receive(node, reference, { kind: "came-back", sender: "MAILER-DAEMON@x.example", returned, text: "" });
    const message = await get(node, reference);
    expect(message.answeredAt).toBeNull();
    expect(message.deliveries.reply).toMatchObject({
      state: "failed",
      error: expect.stringMatching(/^550 5.1.1 no such user; /),
    });
    expect((await node.messages.countTabs({})).failed).toBe(1);
    expect(await act(node, "retry", [reference], later(HOUR_MS))).toEqual([]);
    expect(await act(node, "again", [reference], later(HOUR_MS))).toEqual([reference]);
  });

  test("an earlier reply that came back leaves a later one alone", async ({ node }) => {
    const reference = await storeAs(node, "delivered");
    await reply(node, reference, later(1));
    const at = await reply(node, reference, later(2), `2${KEY.slice(1)}`);
    await receive(node, reference, { kind: "came-back", returned: { key: KEY.slice(0, 8), reason: "550" } });
    expect(await get(node, reference)).toMatchObject({ deliveries: { reply: { state: "delivered", changedAt: at } } });
    expect((await get(node, reference)).answeredAt).not.toBeNull();
    expect(await kindsOf(node, reference)).toContain("came-back");
  });

  test("automatic mails change nothing but the history", async ({ node }) => {
    const reference = await answered(node);
    const before = await get(node, reference);
    await receive(node, reference, { kind: "automatic", text: "I am away" });
    expect(await get(node, reference)).toEqual(before);
    expect(await kindsOf(node, reference)).toEqual(["automatic"]);
  });

  test("an answer to a restricted message is stored, and becomes work when the restriction is lifted", async ({
    node,
  }) => {
    const reference = await answered(node);
    await node.people.restrict("ada@example.com", true, later(2));
    await receive(node, reference);
    expect(await get(node, reference)).toMatchObject({ answeredAt: later(1), newAnswerAt: null });
    await node.people.restrict("ada@example.com", false, later(HOUR_MS));
    expect(await get(node, reference)).toMatchObject({ answeredAt: null, newAnswerAt: later(MINUTE_MS) });
  });

  test("mails are erased with their message, and nothing of an erased person is stored again", async ({
    node,
    place,
  }) => {
    const [reference, bobs] = [await answered(node), await answered(node, { email: "bob@example.com" })];
    const mail = await mailFor(node, reference);
    await receive(node, reference);
    const fromElsewhere = { sender: "ada@example.com", text: "I am Bob's colleague", isOfSender: false };
    await receive(node, bobs, fromElsewhere);
    expect(await node.people.mailsFrom("ADA@example.com")).toMatchObject([
      { reference: bobs, text: "I am Bob's colleague" },
    ]);
    expect(await node.people.erase("ada@example.com")).toEqual([reference]);
    expect(await place.sql("SELECT text FROM mails")).toEqual([]);
    expect(await place.sql("SELECT 1 FROM events WHERE kind = 'received'")).toEqual([]);
    expect(await node.messages.list({ search: "colleague" })).toEqual([]);
    await node.mailbox.record(INBOX, "token", 3, mail, later(HOUR_MS));
    await receive(node, bobs, fromElsewhere);
    expect(await place.sql("SELECT text FROM mails")).toEqual([]);
  });

  test("replies to an erased person's address are erased in other threads too, and none that waits is sent", async ({
    node,
    place,
  }) => {
    const [bobs, carols] = [
      await answered(node, { email: "bob@example.com" }),
      await answered(node, { email: "carol@example.com" }),
    ];
    const toAda = { ...REPLY, text: "Dear Ada", recipient: "ada@example.com" };
    await reply(node, bobs, later(1));
    for (const reference of [bobs, carols])
      await node.replies.add(
        reference,
        { ...toAda, key: KEY.replace("1a", reference.slice(-2).toLowerCase()) },
        later(2),
      );
    await receive(node, bobs, { sender: "bob@example.com" });
    expect(await node.people.erase("ada@example.com")).toEqual([]);
    expect(await place.sql("SELECT text FROM replies")).toEqual([{ text: REPLY.text }]);
    expect(await place.sql("SELECT 1 FROM deliveries WHERE state = 'queued'")).toEqual([]);
    expect(await node.messages.list({ search: "Dear Ada" })).toEqual([]);
    expect(await get(node, bobs)).toMatchObject({ newAnswerAt: later(MINUTE_MS) });
  });

  test("keeps a message from the last mail of its conversation on, in either direction", async ({ place }) => {
    const node = await place.open({ retention: RETENTION });
    const expiresAt = async () => (await get(node, reference)).expiresAt;
    const reference = await storeAs(node, "delivered");
    const keptMs = RETENTION.deliveredMs ?? 0;
    await reply(node, reference, later(DAY_MS));
    expect(await expiresAt()).toEqual(later(DAY_MS + keptMs));
    await receive(node, reference, { sentAt: later(3 * DAY_MS) }, later(4 * DAY_MS));
    expect(await expiresAt()).toEqual(later(3 * DAY_MS + keptMs));
    const more = { sentAt: later(9 * DAY_MS) };
    await receive(node, reference, { ...more, kind: "automatic" }, later(10 * DAY_MS));
    await receive(node, reference, { ...more, sender: "eve@example.net", isOfSender: false }, later(10 * DAY_MS));
    expect(await expiresAt()).toEqual(later(3 * DAY_MS + keptMs));
    // What was announced is announced again.
    const soon = later(2 * DAY_MS + keptMs);
    await node.retention.markAnnounced(await node.retention.findExpiring(soon));
    expect(await node.retention.findExpiring(soon)).toMatchObject({ unannounced: 0 });
    await receive(node, reference, { sentAt: soon }, soon);
    expect(await expiresAt()).toEqual(new Date(soon.getTime() + keptMs));
    expect(await node.retention.purge(later(3 * DAY_MS + keptMs))).toEqual([]);
  });

  test("stores at most 100 mails a message, then one line", async ({ node, place }) => {
    const reference = await answered(node);
    for (let count = 0; count < MAX_MAILS + 2; count += 1) await receive(node, reference);
    expect(await place.sql("SELECT 1 FROM mails")).toHaveLength(MAX_MAILS);
    expect((await kindsOf(node, reference)).filter((kind) => kind === "mails-full")).toHaveLength(1);
  });

  test("stores at most 500 mails an hour, then the position waits", async ({ node, place }) => {
    const token = await read(node);
    for (let count = 0; count < MAX_HOURLY_MAILS; count += MAX_MAILS) {
      const reference = await store(node, submissionOf(messageWith()));
      const mail = await mailFor(node, reference);
      for (let one = 0; one < MAX_MAILS; one += 1)
        await node.mailbox.record(INBOX, token, 1, { ...mail, mailId: `<${count}.${one}@x>` }, NOON);
    }
    const reference = await answered(node);
    const mail = await mailFor(node, reference);
    expect(await node.mailbox.record(INBOX, token, 2, mail, later(HOUR_MS - 1))).toBe("full");
    expect(await place.sql("SELECT CAST(last_uid AS INTEGER) AS uid FROM folders")).toEqual([{ uid: 1 }]);
    expect(await node.mailbox.record(INBOX, token, 2, mail, later(HOUR_MS))).toBe("recorded");
  });

  test("says since when a folder cannot be read, while a node tries", async ({ node }) => {
    const token = await read(node);
    await node.mailbox.report(INBOX, token, "no connection", later(1));
    await node.mailbox.report(INBOX, token, "still none", later(2));
    expect(await node.mailbox.folders(later(3))).toEqual([{ name: INBOX, problem: "still none", failingAt: later(1) }]);
    expect(await node.mailbox.folders(later(HOUR_MS))).toEqual([]);
    await node.mailbox.report(INBOX, token, null, later(4));
    expect(await node.mailbox.folders(later(5))).toEqual([{ name: INBOX, problem: null, failingAt: null }]);
  });
}
