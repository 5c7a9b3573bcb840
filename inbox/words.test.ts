import { expect, test } from "vitest";
import { marksOf, unfilledFacts, waitText } from "./words.ts";

const NOW = new Date(2026, 10, 19, 20, 0, 0);
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

test.for([
  ["later", later(6), null, "Goes out at 20:00:06."],
  ["later", later(90_000), "451 busy", "Waiting until 20 Nov, 21:00:00: 451 busy."],
  ["later", later(-1), "451 busy", "Being sent."],
  ["sending", null, null, "Being sent."],
  ["website-down", null, null, "Waiting: the website is not running."],
] as const)("a time that has passed is not shown as coming: %s", ([kind, until, reason, text]) => {
  expect(waitText({ kind, until, reason }, NOW)).toBe(text);
});

test("a row says what waits and until when, and what failed", () => {
  const none = { hasNote: false, quarantineReason: null, expiresAt: null, answeredAt: null, isRestricted: false };
  const wait = (seconds: number) => ({ kind: "later", until: later(seconds), reason: null }) as const;
  const mark = {
    channel: "reply",
    name: "Reply",
    text: "Reply waiting",
    isFailed: false,
    error: null,
    dueAt: null,
  } as const;
  const marks = (given: Partial<Parameters<typeof marksOf>[0]>) =>
    marksOf({ ...none, state: "delivered", waits: {}, deliveryMarks: [], ...given }, NOW).map(([text]) => text);
  expect(marks({})).toEqual([]);
  expect(marks({ state: "queued", waits: { mail: wait(3600) } })).toEqual(["Waiting until 21:00"]);
  expect(marks({ state: "queued", waits: { mail: wait(-1) } })).toEqual(["Waiting"]);
  expect(marks({ waits: { reply: wait(60) }, deliveryMarks: [mark] })).toEqual(["Reply waiting until 20:01"]);
  expect(marks({ state: "quarantined", quarantineReason: "looks-like-spam" })).toEqual(["Looks like spam"]);
  expect(marks({ expiresAt: later(-1), isRestricted: true })).toEqual(["Erasure soon", "Restricted"]);
});

test("names the facts that nothing fills in", () => {
  expect(unfilledFacts("Dear {nmae}, {nmae} {total}, { } {")).toEqual(["{nmae}", "{total}"]);
});
