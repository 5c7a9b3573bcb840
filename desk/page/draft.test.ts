import { expect, test } from "vitest";
import type { MessageDetail } from "./api.ts";
import { currentDraft, type Draft, isSaved, otherWindow } from "./draft.ts";

const at = (seconds: number) => new Date(seconds * 1000);
const content = (text: string, note = "") => ({ subject: "Re", text, note });
const stored = (text: string, seconds: number) => ({ ...content(text), author: "bob", savedAt: at(seconds) });
const message = (draft: MessageDetail["draft"], repliedAt?: Date, readAt = at(5)) =>
  ({
    reference: "BC-AAAA-AA",
    readAt,
    draft,
    nextSubject: "Re",
    history: repliedAt ? [{ kind: "replied", at: repliedAt }] : [],
  }) as unknown as MessageDetail;
const typed = (text: string, saved = text): Draft => ({
  ...content(text),
  key: "1",
  noteKey: "2",
  stored: content(saved),
  storedAt: at(10),
  error: null,
  isSending: false,
});

test("what was typed in this window stays, whatever another window saves", () => {
  for (const draft of [typed("mine"), typed("mine, more", "mine")])
    expect(currentDraft(message(stored("theirs", 20)), draft)).toBe(draft);
  expect(currentDraft(message(stored("theirs", 20)), undefined)).toMatchObject({ text: "theirs" });
  // Nothing is left in this window, for example after it has sent its reply.
  expect(currentDraft(message(stored("theirs", 20)), typed(""))).toMatchObject({ text: "theirs" });
});

test("a draft that the database has lost, as after a restore, is saved again", () => {
  expect(isSaved(currentDraft(message(null), typed("mine")))).toBe(true);
  expect(isSaved(currentDraft(message(null, undefined, at(20)), typed("mine")))).toBe(false);
  expect(isSaved(currentDraft(message(null, at(20), at(20)), typed("mine")))).toBe(true);
  expect(isSaved(currentDraft(message(null, undefined, at(20)), { ...typed("mine"), isSending: true }))).toBe(true);
});

test("an empty reply gets the subject of the last answer, unless the operator has changed it", () => {
  const answered = { ...message(null), nextSubject: "Re: wind" } as MessageDetail;
  expect(currentDraft(answered, typed(""))).toMatchObject({ subject: "Re: wind", stored: { subject: "Re: wind" } });
  expect(currentDraft(answered, { ...typed(""), subject: "My own" }).subject).toBe("My own");
  expect(currentDraft(answered, typed("mine")).subject).toBe("Re");
});

test("says what another window has done since", () => {
  const of = (draft: MessageDetail["draft"], repliedAt?: Date, mine = typed("mine")) =>
    otherWindow(message(draft, repliedAt), mine)?.did ?? null;
  expect(of(stored("theirs", 20))).toBe("saved");
  expect(of(stored("theirs", 9))).toBe(null);
  expect(of(stored("mine", 20))).toBe(null);
  expect(of(null, at(20))).toBe("sent");
  expect(of(null, at(9))).toBe(null);
  expect(of(null, at(20), { ...typed("mine"), isSending: true })).toBe(null);
  expect(of(null, at(20), typed("mine", ""))).toBe(null);
});
