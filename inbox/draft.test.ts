import { expect, test } from "vitest";
import type { MessageDetail } from "./api.ts";
import { currentDraft, type Draft, otherWindow } from "./draft.ts";

const at = (seconds: number) => new Date(seconds * 1000);
const content = (text: string, note = "") => ({ subject: "Re", text, note });
const stored = (text: string, seconds: number) => ({ ...content(text), author: "bob", savedAt: at(seconds) });
const message = (draft: MessageDetail["draft"], repliedAt?: Date) =>
  ({
    reference: "BC-AAAA-AA",
    draft,
    history: repliedAt ? [{ kind: "replied", at: repliedAt }] : [],
  }) as unknown as MessageDetail;
const typed = (text: string, saved = text): Draft => ({
  ...content(text),
  key: "1",
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
