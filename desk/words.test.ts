import { expect, test } from "vitest";
import { formatDay, formatSince, formatWait } from "./page/format.ts";
import { type Marked, marksOf } from "./words.ts";

const NOW = new Date(2026, 10, 19, 20, 0, 0);
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

test.for([
  ["later", later(6), null, "Goes out at 20:00:06."],
  ["later", later(90_000), "451 busy", "Waiting until 20 Nov, 21:00:00: 451 busy."],
  ["later", later(-1), "451 busy", "Being sent since 19:59:59."],
  ["paused", later(6), "535", "Waiting until sending works again: 535; the next attempt is at 20:00:06."],
  ["paused", later(-1), "535", "Waiting until sending works again: 535."],
  ["sending", null, null, "Being sent."],
  ["website-down", null, null, "Waiting: the website is not running."],
] as const)("a time that has passed is not shown as coming: %s", ([kind, until, reason, text]) => {
  expect(formatWait({ kind, until, reason }, NOW)).toBe(text);
});

test("a wait is said about its subject", () => {
  const until = later(6);
  expect(formatWait({ kind: "later", until, reason: null }, NOW, "Your reply")).toBe(
    "Your reply goes out at 20:00:06.",
  );
  const down = { kind: "website-down", until, reason: null } as const;
  expect(formatWait(down, NOW, "Your reply")).toBe("Your reply is waiting: the website is not running.");
});

test("a row says what waits and until when, and what failed", () => {
  const none = {
    drafts: [],
    hasNewAnswer: false,
    hasNote: false,
    quarantineReason: null,
    expiresAt: null,
    isExpiring: false,
    answeredAt: null,
    isRestricted: false,
  };
  const wait = (seconds: number) => ({ kind: "later", until: later(seconds), reason: null }) as const;
  const mark = {
    channel: "reply",
    name: "Reply",
    text: "Reply waiting",
    isFailed: false,
    error: null,
    dueAt: null,
  } as const;
  const reader = { now: NOW, account: null, formatDay, formatTime: (at: Date) => formatSince(at, NOW) };
  const marks = (given: Partial<Marked>) =>
    marksOf({ ...none, state: "delivered", waits: {}, deliveryMarks: [], ...given }, reader).map(([text]) => text);
  expect(marks({})).toEqual([]);
  const drafts = [null, "anna"].map((author) => ({ author, savedAt: NOW }));
  expect(marks({ drafts })).toEqual(["Your draft", "anna is replying"]);
  expect(marks({ state: "queued", waits: { mail: wait(3600) } })).toEqual(["Waiting until 21:00"]);
  expect(marks({ state: "queued", waits: { mail: wait(-1) } })).toEqual(["Waiting"]);
  expect(marks({ waits: { reply: wait(60) }, deliveryMarks: [mark] })).toEqual(["Reply waiting until 20:01"]);
  expect(marks({ state: "quarantined", quarantineReason: "looks-like-spam" })).toEqual(["Looks like spam"]);
  expect(marks({ hasNewAnswer: true })).toEqual(["New answer"]);
  expect(marks({ expiresAt: later(-1), isExpiring: true, isRestricted: true })).toEqual(["Erasure soon", "Restricted"]);
});
