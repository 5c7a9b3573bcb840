import { expect, test } from "vitest";
import { problemsQuery, readProblems, readSent, sentQuery } from "./sent-result.ts";

const KEY = new Uint8Array(32).fill(7);
const INPUTS = {
  carKm: 8000,
  carUnit: "mi",
  carFuel: "petrol",
  shortFlightKm: 1500,
  shortFlightClass: "economy",
  longFlightKm: 6500,
  longFlightClass: "economy",
} as const;
const ESTIMATE = { totalKg: 1234.5, inputs: INPUTS, country: "GB", date: new Date("2026-11-16") };
const SENT = { reference: "BC-7K3Q-9M", estimate: ESTIMATE };

test("what was sent is read back", () => {
  expect(readSent(new URLSearchParams(sentQuery(SENT, KEY)), KEY)).toEqual(SENT);
  const plain = { ...SENT, estimate: null };
  expect(readSent(new URLSearchParams(sentQuery(plain, KEY)), KEY)).toEqual(plain);
  expect(sentQuery({ ...SENT, estimate: { ...ESTIMATE, totalKg: 1e-9 } }, KEY)).toContain("footprint=0.00000000100000");
});

test("nothing is read of a query that was made up, changed, or made with another key", () => {
  const changed = (change: (query: URLSearchParams) => void) => {
    const query = new URLSearchParams(sentQuery(SENT, KEY));
    change(query);
    return readSent(query, KEY);
  };
  expect(changed((query) => query.set("reference", "BC-0000-00"))).toBeNull();
  expect(changed((query) => query.set("footprint", "1"))).toBeNull();
  expect(changed((query) => query.delete("footprint"))).toBeNull();
  expect(changed((query) => query.set("inputs", "{}"))).toBeNull();
  expect(changed((query) => query.set("country", "FR"))).toBeNull();
  expect(changed((query) => query.set("date", "2020-01-01"))).toBeNull();
  expect(changed((query) => query.delete("code"))).toBeNull();
  expect(readSent(new URLSearchParams(sentQuery(SENT, KEY)), new Uint8Array(32))).toBeNull();
});

test("the problems of a refused message are read back, and only as they were written", () => {
  const query = new URLSearchParams(problemsQuery("Car: Did you mean 1500 or 1.5?", KEY));
  expect(readProblems(query, KEY)).toBe("Car: Did you mean 1500 or 1.5?");
  expect(readSent(query, KEY)).toBeNull();
  query.set("problems", "Call this number");
  expect(readProblems(query, KEY)).toBeNull();
  expect(readProblems(new URLSearchParams(sentQuery(SENT, KEY)), KEY)).toBeNull();
});
