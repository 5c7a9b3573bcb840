import { expect, test } from "vitest";
import { type FormState, fieldErrors, hasFailed, isDone, nextState, START } from "./form-state.ts";

const sending: FormState = { phase: "sending" };

test("starts idle, without errors", () => {
  expect(START).toEqual({ phase: "idle", fields: {}, edited: [] });
});

test("a success ends in sent with its reference", () => {
  const state = nextState(sending, {
    type: "answered",
    answer: { success: true, reference: "BC-7K3Q-9M" },
    keepsEdits: false,
    hasReport: false,
  });
  expect(state).toEqual({ phase: "sent", reference: "BC-7K3Q-9M", totalKg: null, keepsEdits: false, hasReport: false });
});

test("an answer without success ends in failed with the fields it names", () => {
  const answer = { success: false as const, error: "No.", fields: { name: "Enter your name." } };
  expect(nextState(sending, { type: "answered", answer, keepsEdits: true, hasReport: false })).toEqual({
    phase: "failed",
    error: "No.",
    fields: { name: "Enter your name." },
    edited: [],
  });
});

test("no answer ends in broken", () => {
  expect(nextState(sending, { type: "broke" })).toEqual({ phase: "broken" });
});

test("another message starts as the form did, but not as the very state that shows alerts of a plain post", () => {
  const sent = { phase: "sent", reference: "", totalKg: null, hasReport: false } as const;
  const again = nextState({ ...sent, keepsEdits: false }, { type: "again" });
  expect(again).toEqual(START);
  expect(again).not.toBe(START);
  expect(isDone({ ...sent, keepsEdits: false })).toBe(true);
  expect(isDone({ ...sent, keepsEdits: true })).toBe(false);
});

test("has failed until the last field with an error was edited", () => {
  expect(hasFailed({ phase: "broken" })).toBe(true);
  expect(hasFailed(START)).toBe(false);
  const invalid = nextState(START, { type: "invalid", fields: { name: "x" } });
  expect(hasFailed(invalid)).toBe(true);
  expect(hasFailed(nextState(invalid, { type: "edited", field: "name" }))).toBe(false);
});

test("invalid fields keep the form idle", () => {
  expect(nextState(START, { type: "invalid", fields: { name: "x" } })).toEqual({
    phase: "idle",
    fields: { name: "x" },
    edited: [],
  });
});

test("editing a field takes away its error and no other, and the list of what was wrong stays", () => {
  const fields = { name: "a", email: "b" };
  const state: FormState = { phase: "failed", error: "No.", fields, edited: [] };
  const edited = nextState(state, { type: "edited", field: "name" });
  expect(fieldErrors(edited)).toEqual({ email: "b" });
  expect(edited).toMatchObject({ phase: "failed", fields });
  expect(nextState(edited, { type: "edited", field: "name" })).toBe(edited);
});

test("editing a field without an error changes nothing", () => {
  const states: FormState[] = [
    START,
    sending,
    { phase: "sent", reference: "", totalKg: null, keepsEdits: false, hasReport: false },
    { phase: "broken" },
  ];
  for (const state of states) expect(nextState(state, { type: "edited", field: "name" })).toBe(state);
});
