import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Acceptance } from "../../server/store/intake.ts";
import type { Store } from "../../server/store/open-store.ts";
import { openStore } from "../../server/store/open-store.ts";
import type { StoredMessage } from "../../server/store/store.ts";
import { DAY_MS, MINUTE_MS } from "../../server/time.ts";
import { RETENTION } from "../support/in-process-store.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { acrossNodes, type ContractTest, get } from "./place.ts";
import {
  claimOne,
  finish,
  later,
  messageWith,
  NO_LIMITS,
  NOON,
  referenceOf,
  store,
  submissionOf,
  trapped,
} from "./samples.ts";

let serial = 0;
const spamWith = (email = "win@pills.example") => {
  serial += 1;
  const message = `Buy CHEAP pills NOW, best casino bonus at https://pills.example/${serial}`;
  return submissionOf(messageWith({ email, message }));
};

/** Sends `spam` messages and marks them as spam, and sends `good` others and marks them as answered. */
async function teach(node: Store, spam: number, good: number): Promise<void> {
  const send = (count: number, submission: () => ReturnType<typeof spamWith>) =>
    Promise.all(Array.from({ length: count }, () => store(node, submission())));
  await node.messages.act("spam", { references: await send(spam, spamWith) }, NOON);
  await node.messages.act("answer", { references: await send(good, submissionOf) }, NOON);
}

const reasonFor = async (node: Store, acceptance: Acceptance) =>
  (await get(node, referenceOf(acceptance))).quarantineReason;
const send = async (node: Store, submission = spamWith(), rules = NO_LIMITS) =>
  reasonFor(node, await node.intake.accept(submission, rules, later(MINUTE_MS)));
const taught = async (node: Store) => (await node.spam.read(NOON)).taught;

export function spamSuite(test: ContractTest): void {
  test("quarantines what looks like spam after 20 lessons of each kind, on every node", async ({ node, other }) => {
    await teach(node, 20, 19);
    expect(await send(other)).toBeNull();
    await teach(node, 0, 1);
    expect(await node.spam.read(later(1))).toMatchObject({ isDeciding: true, taught: { spam: 20, good: 20 } });
    const held = await Promise.all(
      [spamWith("a@x.org"), submissionOf(), spamWith("b@x.org")].map((one) => send(other, one)),
    );
    expect(held).toEqual(["looks-like-spam", null, "looks-like-spam"]);
    expect(await send(other, spamWith(), { ...NO_LIMITS, spamFilter: false })).toBeNull();
    expect(await send(other, { ...spamWith(), isTrapped: true })).toBe("trap");
    const [message] = await node.messages.list({ email: "b@x.org" });
    expect(message).toMatchObject({ state: "quarantined", taught: null });
    expect(await node.spam.signs(message as StoredMessage)).toHaveLength(5);
    const [counted] = (await node.queue.countDeliveries()).filter(({ state }) => state === "quarantined");
    expect(counted).toMatchObject({ count: 23, unseen: 3, unseenSpam: 2 });
    await node.messages.act("release", { references: [message?.reference ?? ""] }, later(9));
    expect(await node.spam.read(later(9))).toMatchObject({ held: 2, released: 1, taught: { spam: 20, good: 21 } });
    expect(await node.spam.read(new Date("2025-07-01T00:00:00Z"))).toMatchObject({ held: 0, released: 0 });
  });

  test("quarantines no message from an address whose newest mark is a good one", async ({ node }) => {
    const [replied, answered, both] = await Promise.all(
      ["Replied@x.org", "answered@x.org", "both@x.org"].map((email) =>
        store(node, submissionOf(messageWith({ email }))),
      ),
    );
    await node.messages.reply(replied ?? "", { key: "1", subject: "Re", text: "Yes" }, NOON);
    await node.messages.act("answer", { references: [answered ?? "", both ?? ""] }, NOON);
    await teach(node, 20, 20);
    for (const email of ["replied@X.org", "ANSWERED@x.org", "both@x.org"])
      expect(await send(node, spamWith(email))).toBeNull();
    const mark = async (action: "spam" | "release" | "unanswer", reference = "") =>
      expect(await node.messages.act(action, { references: [reference] }, NOON)).toHaveLength(1);
    // One answered message does not excuse the spam that was marked since.
    const [spam] = await node.messages.list({ email: "both@x.org" });
    await node.messages.act("spam", { references: [spam?.reference ?? ""] }, NOON, "step");
    expect(await send(node, spamWith("both@x.org"))).toBe("looks-like-spam");
    expect(await node.messages.undo("step", NOON)).toMatchObject({ skipped: [] });
    expect(await send(node, spamWith("both@x.org"))).toBeNull();
    await mark("spam", spam?.reference);
    await mark("release", spam?.reference);
    expect(await send(node, spamWith("both@x.org"))).toBeNull();
    await mark("unanswer", answered);
    expect(await send(node, spamWith("answered@x.org"))).toBe("looks-like-spam");
    expect(await send(node, spamWith("stranger@x.org"))).toBe("looks-like-spam");
  });

  test("learns one lesson from each message, and can take it back", async ({ node, other }) => {
    await teach(node, 2, 2);
    const references = [await store(node)];
    const lessons = async () => [await taught(node), (await get(node, references[0] ?? "")).taught];
    await acrossNodes([node, other], 4, (one) => one.messages.act("spam", { references }, NOON));
    expect(await lessons()).toEqual([{ spam: 3, good: 2 }, "spam"]);
    await node.messages.act("answer", { references }, NOON);
    expect(await lessons()).toEqual([{ spam: 2, good: 3 }, "good"]);
    await acrossNodes([node, other], 4, (one) => one.messages.act("release", { references }, NOON));
    expect(await lessons()).toEqual([{ spam: 2, good: 3 }, "good"]);
    await other.messages.act("unanswer", { references }, NOON);
    expect(await lessons()).toEqual([{ spam: 2, good: 2 }, null]);
    const replied = await store(node);
    await node.messages.reply(replied, { key: "1", subject: "Re", text: "Yes" }, NOON);
    await node.messages.act("answer", { references: [replied] }, NOON);
    await node.messages.act("unanswer", { references: [replied] }, NOON);
    expect((await get(node, replied)).taught).toBe("good");
  });

  test.for<[string, (node: Store, references: string[]) => Promise<unknown>]>([
    ["erased", (node) => node.people.erase("win@pills.example")],
    ["deleted", (node, references) => node.messages.act("delete", { references }, NOON)],
    ["restricted", (node) => node.people.restrict("win@pills.example", true, NOON)],
    ["corrected", (node) => node.people.rectify("win@pills.example", { message: "A question" }, NOON)],
    [
      "erased at the end of its retention",
      async (node) => {
        await node.archive.markAnnounced(await node.archive.findExpiring(later(13 * DAY_MS)));
        await node.archive.purge(later(21 * DAY_MS));
      },
    ],
  ])("a message that is %s takes its lesson back, on every node", async ([how, change], { node, other }) => {
    await teach(node, 20, 20);
    expect(await send(other, spamWith("a@x.org"))).toBe("looks-like-spam");
    const marked = await node.messages.list({ email: "win@pills.example" });
    await change(
      node,
      marked.map(({ reference }) => reference),
    );
    expect(await taught(node)).toEqual({ spam: how === "corrected" ? 20 : 0, good: 20 });
    expect(await send(other, spamWith("b@x.org"))).toBeNull();
  });

  test("learns nothing from visitors or restricted messages, and forgets on request", async ({ node, other }) => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => store(node, index % 2 ? spamWith() : trapped())));
    await store(node, submissionOf(messageWith({ email: "kept@x.org" })));
    await node.people.restrict("kept@x.org", true, NOON);
    const [kept] = await node.messages.list({ email: "kept@x.org" });
    expect(await node.messages.act("spam", { references: [kept?.reference ?? ""] }, NOON)).toEqual([]);
    expect(await node.messages.act("answer", { references: [kept?.reference ?? ""] }, NOON)).toHaveLength(1);
    expect(await taught(node)).toEqual({ spam: 0, good: 0 });
    await teach(node, 20, 20);
    expect(await send(other)).toBe("looks-like-spam");
    await node.spam.forget();
    expect(await send(other)).toBeNull();
    expect(await node.spam.read(NOON)).toMatchObject({ isDeciding: false, taught: { spam: 0, good: 0 }, held: 1 });
    const [marked] = (await node.messages.list({})).filter(
      ({ quarantineReason }) => quarantineReason === "marked-as-spam",
    );
    await node.messages.act("release", { references: [marked?.reference ?? ""] }, NOON);
    expect(await taught(node)).toEqual({ spam: 0, good: 1 });
  });

  test("stops sending a message marked as spam, and sends nothing twice after its release", async ({ node }) => {
    const channels = ["mail", "hook"] as const;
    const delivered = await store(node, submissionOf(), NOON, channels);
    await finish(node, "delivered");
    const waiting = await store(node, submissionOf(), later(1), channels);
    const claim = await claimOne(node, later(1));
    expect((await node.messages.act("spam", { references: [delivered, waiting] }, later(2))).sort()).toEqual(
      [delivered, waiting].sort(),
    );
    expect(await node.messages.act("spam", { references: [delivered] }, later(2))).toEqual([]);
    for (const channel of channels) expect(await node.queue.claim(channel, 9, MINUTE_MS, later(3))).toEqual([]);
    expect(await node.queue.settle(claim, { kind: "deferred", dueAt: later(9), error: "451" }, later(3))).toBe(true);
    expect(await get(node, waiting)).toMatchObject({ state: "quarantined", quarantineReason: "marked-as-spam" });
    // The operator who marked the message already knows about it.
    expect(await node.queue.unreported("mail", "quarantined")).toEqual([]);
    expect((await node.queue.countDeliveries()).map(({ unseen }) => unseen)).toEqual([0, 0]);
    await node.messages.act("release", { references: [delivered, waiting] }, later(4));
    const claimed = await node.queue.claim("mail", 9, MINUTE_MS, later(5));
    expect(claimed.map(({ message }) => message.reference)).toEqual([waiting]);
    expect(await node.queue.claim("hook", 9, MINUTE_MS, later(5))).toHaveLength(2);
    expect((await get(node, delivered)).state).toBe("delivered");
    expect((await node.messages.history(delivered)).map(({ kind }) => kind)).toEqual([
      "delivered",
      "marked-as-spam",
      "released",
    ]);
  });

  test("keeps its lessons in a backup and after a restart", async ({ node, place }) => {
    await teach(node, 20, 20);
    expect(await send(node)).toBe("looks-like-spam");
    const backup = join(await makeScratchFolder(), "copy.db");
    await node.archive.backup(backup, NOON);
    await node.close();
    const sqlite = { dataDir: await makeScratchFolder(), databaseUrl: null, retention: RETENTION };
    const openSqlite = () => openStore(sqlite, { isServer: true });
    for (const [open, openAgain] of [
      [() => openStore(sqlite), openSqlite],
      [place.open, place.open],
    ] as const) {
      const replaced = await open();
      await replaced.archive.restore(backup, true, []);
      await replaced.close();
      const restarted = await openAgain();
      onTestFinished(() => restarted.close());
      expect(await restarted.spam.read(NOON)).toMatchObject({ taught: { spam: 20, good: 20 }, held: 1 });
      expect(await send(restarted)).toBe("looks-like-spam");
    }
  });
}
