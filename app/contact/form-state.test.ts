import { expect, test } from "vitest";
import {
  type FormEvent,
  type FormState,
  hasFailed,
  isDone,
  nextState,
  requestBody,
  START_VALUES,
  shownErrors,
  startState,
} from "./form-state.ts";

const START = startState({ answer: null, reportHtml: "" });
const VISITOR = { name: "Ada", email: "ada@example.com", phone: "1", message: "Hello" };
const after = (...events: FormEvent[]): FormState => events.reduce(nextState, START);
const edit = (name: string, value: string): FormEvent => ({ type: "edited", name, value });
const seed = (values: object): FormEvent => ({ type: "seeded", values: { ...START_VALUES, ...values }, open: [] });

test("starts with what stands in the fields, and opens the parts that contain input", () => {
  expect(after(seed({ ...VISITOR })).open).toEqual([]);
  expect(after(seed({ "footprint.carKm": "1" })).open).toEqual(["footprint"]);
  expect(after(seed({ "footprint.busKm": "1", "footprint.longFlightClass": "first" })).open).toEqual([
    "footprint",
    "flights",
    "more",
  ]);
  expect(after(seed({ "footprint.people": "4" })).open).toEqual([]);
});

test("reports an unreadable amount once its field is left, and other problems after a submit until they are edited", () => {
  const unreadable = { "footprint.gasKwh": "Did you mean 11500 or 11.5?" };
  const typing = after(edit("footprint.gasKwh", "11.500"));
  expect(shownErrors(unreadable, typing)).toEqual({});
  const left = nextState(typing, { type: "left", name: "footprint.gasKwh" });
  expect(shownErrors(unreadable, left)).toEqual(unreadable);
  const refused = nextState(left, { type: "submitted", values: left.values, errors: { name: "Enter your name." } });
  expect([hasFailed(refused), shownErrors(unreadable, refused).name]).toEqual([true, "Enter your name."]);
  const corrected = nextState(refused, edit("name", "A"));
  expect([hasFailed(corrected), shownErrors(unreadable, corrected)]).toEqual([false, unreadable]);
  const removed = nextState(refused, { type: "removed" });
  expect(shownErrors({}, removed)).toEqual({ name: "Enter your name." });
});

test("what is announced changes after a pause, and when a field is left after it, not with a key", () => {
  const paused = after(edit("footprint.gasKwh", "11.500"), { type: "settled" });
  expect(paused.settled).toEqual({ values: paused.values, typing: "footprint.gasKwh" });
  const left = nextState(paused, { type: "left", name: "footprint.gasKwh" });
  expect(left.settled).toEqual({ values: paused.values, typing: "" });
  expect(nextState(left, edit("footprint.gasKwh", "11.5")).settled).toBe(left.settled);
});

test("after a success, clears what was sent, keeps what was changed since, and shows the estimate that was sent", () => {
  const values = { ...START_VALUES, ...VISITOR, "footprint.carKm": "1" };
  const date = new Date(0);
  const answer = { success: true, reference: "BC-7K3Q-9M", footprint: { totalKg: 1 } } as const;
  const sending = after(seed(values), { type: "submitted", values, errors: {} });
  const done = nextState(sending, { type: "answered", answer, date });
  expect([isDone(done), done.values, done.open]).toEqual([true, START_VALUES, []]);
  expect(done.report).toEqual({ values, reference: "BC-7K3Q-9M", date });
  const changed = nextState(sending, edit("message", "Hello again"));
  const kept = nextState(changed, { type: "answered", answer, date });
  expect([isDone(kept), kept.values]).toEqual([false, { ...START_VALUES, message: "Hello again" }]);
});

test("removing the estimate resets its fields alone", () => {
  const state = after(seed({ ...VISITOR, "footprint.carKm": "1", "footprint.for": "organisation" }), {
    type: "removed",
  });
  expect(state.values).toEqual({ ...START_VALUES, ...VISITOR });
});

test("an example fills what is empty, can be replaced, and is sent only once a number was changed or it is used", () => {
  const figures = { "footprint.gasKwh": "7500", "footprint.gasPer": "year", "footprint.people": "2" };
  const own = { ...VISITOR, "footprint.people": "2", "footprint.carKm": "?", "footprint.carUnit": "mi" };
  const all = { ...figures, "footprint.carKm": "5000", "footprint.carUnit": "km" };
  const shown = after(seed({ ...own, "footprint.gasPer": "month" }), { type: "exampled", name: "flat", figures: all });
  expect(shown.values).toMatchObject({ ...own, ...figures, example: "flat" });
  const others = { "footprint.people": "9", "footprint.longFlights": "1" };
  // Also after a reload.
  const replaced = nextState(after(seed(shown.values)), { type: "exampled", name: "student", figures: others });
  expect(replaced.values).toEqual({
    ...START_VALUES,
    ...own,
    "footprint.longFlights": "1",
    example: "student",
    exampleFields: "footprint.longFlights",
  });
  const isSent = ({ values }: FormState) => "footprint" in JSON.parse(requestBody(values));
  expect(isSent(nextState(shown, edit("message", "Hi")))).toBe(false);
  expect(isSent(nextState(shown, edit("footprint.gasKwh", "7501")))).toBe(true);
  const used = nextState(shown, { type: "adopted" });
  expect([isSent(used), JSON.parse(requestBody(used.values)).example]).toEqual([true, undefined]);
  // A reload keeps the name together with the figures.
  expect(isSent(after(seed(shown.values)))).toBe(false);
  const sending = nextState(shown, { type: "submitted", values: shown.values, errors: {} });
  const answer = { success: true, reference: "BC-7K3Q-9M" } as const;
  const done = nextState(sending, { type: "answered", answer, date: new Date(0) });
  expect([done.report, done.values]).toEqual(["", START_VALUES]);
  const usedMeanwhile = nextState(nextState(sending, { type: "adopted" }), {
    type: "answered",
    answer,
    date: new Date(0),
  });
  expect(usedMeanwhile.values).toMatchObject({ ...figures, message: "" });
  expect(nextState(replaced, { type: "removed" })).toMatchObject({
    values: { ...START_VALUES, ...own },
    open: ["footprint"],
  });
});

test("sends the estimate only with an amount, and every field by its name", () => {
  const values = { ...START_VALUES, ...VISITOR, "footprint.people": "4" };
  expect(JSON.parse(requestBody(values))).toEqual({ ...VISITOR, country: "" });
  expect(JSON.parse(requestBody({ ...values, "footprint.carKm": "1" })).footprint).toMatchObject({
    carKm: "1",
    people: "4",
    carUnit: "km",
    for: "household",
  });
});
