import { expect, test } from "vitest";
import { plural } from "./plural.ts";

test("one is singular, and everything else plural", () => {
  expect([0, 1, 2].map((count) => plural(count, "message"))).toEqual(["0 messages", "1 message", "2 messages"]);
  expect([1, 2].map((count) => plural(count, "country", (number) => `${number}.0`))).toEqual([
    "1.0 country",
    "2.0 countries",
  ]);
});
