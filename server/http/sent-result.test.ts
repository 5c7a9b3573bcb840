import { expect, test } from "vitest";
import { problemsQuery, readProblems, readSent, sentQuery } from "./sent-result.ts";

const KEY = new Uint8Array(32).fill(7);
const SENT = sentQuery("BC-7K3Q-9M", KEY);

test("the address holds the reference and a code, and nothing else", () => {
  expect(SENT).toMatch(/^reference=BC-7K3Q-9M&code=[\w-]{16}$/);
  expect(readSent(new URLSearchParams(SENT), KEY)).toBe("BC-7K3Q-9M");
});

test("nothing is read of a query that was made up, changed, or made with another key", () => {
  expect(readSent(new URLSearchParams(SENT.replace("9M", "9N")), KEY)).toBeNull();
  expect(readSent(new URLSearchParams("reference=BC-7K3Q-9M"), KEY)).toBeNull();
  expect(readSent(new URLSearchParams(SENT), new Uint8Array(32))).toBeNull();
});

test("the problems of a refused message are read back, and only as they were written", () => {
  const query = new URLSearchParams(problemsQuery("Enter your name.", KEY));
  expect(readProblems(query, KEY)).toBe("Enter your name.");
  expect(readSent(query, KEY)).toBeNull();
  query.set("problems", "Call this number");
  expect(readProblems(query, KEY)).toBeNull();
  expect(readProblems(new URLSearchParams(SENT), KEY)).toBeNull();
});
