import { expect, test } from "vitest";
import type { EstimateName } from "../../contract/footprint/fields.ts";
import { figuresToStartFrom } from "./estimate-result.tsx";
import {
  type FormEvent,
  type FormState,
  type Name,
  nextState,
  REMOVE_ESTIMATE,
  START_VALUES,
  startState,
} from "./form-state.ts";
import { formTitle, formView, type Reading, requestBody } from "./form-view.ts";

const START = startState(null);
const VISITOR = { name: "Ada", email: "ada@example.com", phone: "1", message: "Hello" };
const after = (...events: FormEvent[]): FormState => events.reduce(nextState, START);
const edit = (name: Name, value: string): FormEvent => ({ type: "edited", name, value });
const seed = (values: object): FormEvent => ({
  type: "seeded",
  values: { ...START_VALUES, ...values },
  isOpen: false,
  receipt: null,
  isFolded: false,
});
const GAS: EstimateName = "footprint.gasKwh";
/** Reads everything but "?". */
const read = (values: FormState["values"], example = ""): Reading => ({
  estimate: null,
  total: example ? `total of ${example}` : values[GAS] && `total ${values[GAS]}`,
  errors: values[GAS] === "?" ? { [GAS]: "Enter a number." } : {},
  hints: {},
});

test("starts with what stands in the fields, and opens the estimate if it contains an amount", () => {
  expect(after(seed({ ...VISITOR, "footprint.people": "4" }))).toMatchObject({ isOpen: false, values: VISITOR });
  expect(after(seed({ "footprint.carKm": "1" })).isOpen).toBe(true);
});

test("the answer to a refused post starts with its values, its errors, and the estimate open", () => {
  const values = { ...VISITOR, name: " ", "footprint.busKm": "x", topic_code: "" };
  const errors = { name: "Enter your name.", "footprint.busKm": "Enter a number." };
  const state = startState({ kind: "refused", error: "Please correct.", errors, values });
  expect(state).toMatchObject({ phase: { kind: "failed", text: "Please correct." }, isOpen: true });
  expect(state.values).toEqual({ ...START_VALUES, ...VISITOR, name: " ", "footprint.busKm": "x" });
  expect(formView(state).errors).toEqual(errors);
  expect(formTitle(state, "B")).toBe("Error: Contact us | B");
});

test("reports an unreadable amount once its field is left, and other problems after a submit until they are edited", () => {
  const typing = after(edit(GAS, "?"));
  const errorsOf = (state: FormState) => formView(state, read).errors;
  expect(errorsOf(typing)).toEqual({});
  const left = nextState(typing, { type: "left", name: GAS });
  expect(errorsOf(left)).toEqual({ [GAS]: "Enter a number." });
  const refused = nextState(left, { type: "submitted", values: left.values, errors: { name: "Enter your name." } });
  expect([formTitle(refused, "B"), errorsOf(refused).name]).toEqual(["Error: Contact us | B", "Enter your name."]);
  const corrected = nextState(refused, edit("name", "A"));
  expect([formTitle(corrected, "B"), errorsOf(corrected)]).toEqual(["Contact us | B", errorsOf(left)]);
});

test("announces the total or the example, and an unreadable amount once its field is left", () => {
  const announced = (state: FormState) => formView(state, read).announcement;
  expect(announced(START)).toBe("");
  const typing = after(edit(GAS, "1"));
  expect(announced(typing)).toBe("Your estimate: total 1");
  const doubtful = nextState(typing, edit(GAS, "?"));
  expect(announced(doubtful)).toBe("Your estimate: total ?");
  expect(announced(nextState(doubtful, { type: "left", name: GAS }))).toMatch(/^.+: Enter a number\. Your/);
  expect(announced(nextState(typing, REMOVE_ESTIMATE))).toBe("");
  expect(announced(nextState(typing, { type: "exampled", name: "flat for two" }))).toBe(
    "Example: flat for two, total of flat for two",
  );
});

test("a refused post without script keeps the reference of the message before it", () => {
  const refused = (receipt: string) =>
    startState({ kind: "refused", error: "No.", errors: {}, values: { ...VISITOR, receipt } });
  expect(refused("BC-7K3Q-9M")).toMatchObject({ phase: { kind: "failed" }, receipt: { reference: "BC-7K3Q-9M" } });
  expect(refused("<b>").receipt).toBeNull();
});

test("while a message is sent, its fields are read-only; after a success they are empty, and there is a receipt", () => {
  const values = { ...START_VALUES, ...VISITOR, country: "FR", "footprint.carKm": "1" };
  const sending = after(seed(values), { type: "submitted", values, errors: {} });
  for (const event of [edit("name", "B"), REMOVE_ESTIMATE, { type: "exampled", name: "flat for two" }] as const) {
    expect(nextState(sending, event)).toBe(sending);
  }
  const answer = { success: true, reference: "BC-7K3Q-9M", footprint: { totalKg: 1 } } as const;
  const sentAt = "2026-01-05T10:00:00.000Z";
  const done = nextState(sending, { type: "answered", answer, sentAt, estimate: null });
  const receipt = { reference: "BC-7K3Q-9M", sentAt, address: VISITOR.email, totalKg: 1, estimate: null };
  expect(done).toMatchObject({ phase: { kind: "sent" }, receipt, values: START_VALUES, isOpen: false });
  expect(formTitle(done, "B")).toBe("Message sent | B");
  // The next message leaves it, whatever becomes of that one.
  const next = [
    { type: "submitted", values, errors: {} },
    { type: "answered", answer: { success: false, error: "Later." }, sentAt, estimate: null },
  ] as const;
  expect(next.reduce<FormState>(nextState, done)).toMatchObject({ phase: { kind: "failed" }, receipt, values });
  // The history entry has kept it, and whether the next message was submitted.
  const kept = { type: "seeded", values: {}, isOpen: false, receipt } as const;
  expect(after({ ...kept, isFolded: false })).toMatchObject({ phase: { kind: "sent" }, receipt });
  expect(after({ ...kept, isFolded: true })).toMatchObject({ phase: { kind: "idle" }, receipt });
});

test("removing the estimate resets its fields alone", () => {
  const own = { ...VISITOR, "footprint.carKm": "1", "footprint.for": "organisation" };
  expect(after(seed(own), REMOVE_ESTIMATE).values).toEqual({ ...START_VALUES, ...VISITOR });
});

test("an example changes no field; starting from it fills what is empty, in the usual units", () => {
  const own = { ...VISITOR, country: "FR", "footprint.people": "9", "footprint.gasPer": "month" };
  const state = after(seed(own), { type: "exampled", name: "flat for two" });
  expect(state.values).toEqual({ ...START_VALUES, ...own });
  expect(formView(state, read).shown.total).toBe("total of flat for two");
  expect(formView(state, read).isEnclosed).toBe(false);
  const values = figuresToStartFrom("flat for two", state.values);
  const started = nextState(state, { type: "filled", values });
  expect(started).toMatchObject({
    example: "",
    values: { ...own, "footprint.gasKwh": "7500", "footprint.gasPer": "year" },
  });
  expect(nextState(state, edit("message", "Hi")).example).toBe("flat for two");
  expect(nextState(state, edit(GAS, "1")).example).toBe("");
});

test("sends the estimate only with an amount, and every field by its name", () => {
  const values = { ...START_VALUES, ...VISITOR, "footprint.people": "4" };
  const bodyOf = (more: object) => JSON.parse(requestBody({ ...values, ...more }, { topic_code: "" }));
  expect(bodyOf({})).toEqual({ ...VISITOR, country: "", topic_code: "" });
  expect(bodyOf({ "footprint.carKm": "1" }).footprint).toMatchObject({
    carKm: "1",
    people: "4",
    carUnit: "km",
    for: "household",
  });
});
