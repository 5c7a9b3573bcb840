import { expect } from "vitest";
import type { ContactMessage } from "../../contract/contact-message.ts";
import type { Submission } from "../../server/store/intake.ts";
import type { Action, StoredMessage } from "../../server/store/model.ts";
import type { Store } from "../../server/store/store.ts";
import { DAY_MS, MINUTE_MS } from "../../server/time.ts";
import { acrossNodes, type ContractTest, get } from "./place.ts";
import { act, later, messageWith, NO_LIMITS, NOON, referenceOf, store, submissionOf } from "./samples.ts";

const UNFILTERED = { ...NO_LIMITS, spamFilter: false };

let serial = 0;
const spamWith = (email = "win@pills.example") => {
  serial += 1;
  const message = `Buy CHEAP pills NOW, best casino bonus at https://pills.example/${serial}`;
  return submissionOf(messageWith({ email, message }));
};
const from = (email: string, fields: Partial<ContactMessage> = {}) => submissionOf(messageWith({ email, ...fields }));

/** Sends 20 messages and marks them as spam, and sends 20 others and marks them as answered. */
async function teach(node: Store): Promise<void> {
  const send = (submission: () => Submission) =>
    Promise.all(Array.from({ length: 20 }, () => store(node, submission())));
  await act(node, "spam", await send(spamWith));
  await act(node, "answer", await send(submissionOf));
}

/** Sends a message; returns why it was quarantined. */
async function reasonFor(node: Store, submission = spamWith()) {
  const acceptance = await node.intake.accept(submission, later(MINUTE_MS));
  return (await get(node, referenceOf(acceptance))).quarantineReason;
}

async function lessonsOf(node: Store) {
  const lessons = (await node.messages.list({})).flatMap((one) => (one.isRestricted ? [] : (one.taught ?? [])));
  return [lessons.filter((lesson) => lesson === "spam").length, lessons.filter((lesson) => lesson === "good").length];
}

export function spamSuite(test: ContractTest): void {
  test("quarantines what looks like spam after 20 lessons of each kind, on every node", async ({
    node,
    other,
    place,
  }) => {
    expect(await reasonFor(other)).toBeNull();
    await teach(node);
    const held = await Promise.all(
      [spamWith("a@x.org"), submissionOf(), spamWith("b@x.org")].map((one) => reasonFor(other, one)),
    );
    expect(held).toEqual(["looks-like-spam", null, "looks-like-spam"]);
    expect(await reasonFor(await place.open({ rules: UNFILTERED }))).toBeNull();
    expect(await reasonFor(other, { ...spamWith(), isTrapped: true })).toBe("trap");
    const [message] = await node.messages.list({ email: "b@x.org" });
    expect(message).toMatchObject({ state: "quarantined", taught: null });
    expect(await node.spam.signs(message as StoredMessage)).toHaveLength(5);
    expect(await node.messages.countUnseen()).toMatchObject({ count: 3 });
  });

  test("quarantines three web addresses, or one in name or phone, unless the sender was answered", async ({
    node,
    place,
  }) => {
    const [two, three] = ["See https://a.org and www.b.org.", "See HTTPS://a.org, http://b.org and www.c.org"];
    const fields = { name: "Ada www.a.org", phone: "https://a.org", message: three };
    for (const [field, text] of Object.entries(fields))
      expect(await reasonFor(node, from("eve@x.org", { [field]: text }))).toBe("links");
    expect(await reasonFor(node, from("eve@x.org", { name: "booking.com", phone: "1", message: two }))).toBeNull();
    const unfiltered = await place.open({ rules: UNFILTERED });
    expect(await reasonFor(unfiltered, from("eve@x.org", { message: `${three}!` }))).toBeNull();
    const answered = await store(node, from("Ada@x.org"));
    await act(node, "answer", [answered]);
    expect(await reasonFor(node, from("ada@X.org", fields))).toBeNull();
  });

  test("quarantines no message from an address whose newest marked message is good", async ({ node }) => {
    const [replied, answered] = [await store(node, from("Replied@x.org")), await store(node, from("answered@x.org"))];
    await node.replies.add(replied, { key: "1", subject: "Re", text: "Yes" }, NOON);
    await act(node, "answer", [answered]);
    await teach(node);
    for (const email of ["replied@X.org", "ANSWERED@x.org"]) expect(await reasonFor(node, spamWith(email))).toBeNull();
    // One answered message does not excuse the spam that was marked since.
    const [{ reference = "" } = {}] = await node.messages.list({ email: "answered@x.org" });
    const changes = [
      ["looks-like-spam", () => act(node, "spam", [reference], NOON, "step")],
      [null, () => node.actions.undo("step", NOON)],
      ["looks-like-spam", () => act(node, "spam", [reference])],
      [null, () => act(node, "release", [reference])],
      ["looks-like-spam", () => node.people.restrict("answered@x.org", true, NOON)],
    ] as const;
    for (const [reason, change] of changes) {
      await change();
      expect(await reasonFor(node, spamWith("answered@x.org"))).toBe(reason);
    }
  });

  test("learns one lesson from each message, and can take it back", async ({ node, other }) => {
    const references = [await store(node)];
    const mark = (action: Action) => acrossNodes([node, other], 4, (one) => act(one, action, references));
    const lessons = [];
    for (const action of ["spam", "answer", "release", "unanswer"] as const) {
      await mark(action);
      lessons.push(await lessonsOf(node));
    }
    expect(lessons).toEqual([
      [1, 0],
      [0, 1],
      [0, 1],
      [0, 0],
    ]);
    // What a reply taught stays.
    await node.replies.add(references[0] ?? "", { key: "1", subject: "Re", text: "Yes" }, NOON);
    for (const action of ["answer", "unanswer"] as const) await mark(action);
    expect(await lessonsOf(node)).toEqual([0, 1]);
  });

  test.for<[string, (node: Store, references: string[]) => Promise<unknown>]>([
    ["erased", (node) => node.people.erase("win@pills.example")],
    ["deleted", (node, references) => act(node, "delete", references)],
    ["restricted", (node) => node.people.restrict("win@pills.example", true, NOON)],
    ["corrected", (node) => node.people.rectify("win@pills.example", { message: "A question" }, NOON)],
    [
      "erased at the end of its retention",
      async (node) => {
        await node.retention.markAnnounced(await node.retention.findExpiring(later(13 * DAY_MS)));
        await node.retention.purge(later(21 * DAY_MS));
      },
    ],
  ])("a message that is %s takes its lesson back, on every node", async ([how, change], { node, other }) => {
    await teach(node);
    expect(await reasonFor(other, spamWith("a@x.org"))).toBe("looks-like-spam");
    const marked = await node.messages.list({ email: "win@pills.example" });
    await change(
      node,
      marked.map(({ reference }) => reference),
    );
    expect(await lessonsOf(node)).toEqual([how === "corrected" ? 20 : 0, 20]);
    expect(await reasonFor(other, spamWith("b@x.org"))).toBeNull();
  });
}
