import { expect, test } from "vitest";
import { suggestEmail } from "./email-suggestion.tsx";

test.each([
  ["ada@gmail", "ada@gmail.com"],
  ["Ada.L+site@GMAIL.con", "Ada.L+site@gmail.com"],
  ["ada@gmial.com", "ada@gmail.com"],
  ["ada@gmil.com", "ada@gmail.com"],
  ["ada@gnail.com", "ada@gmail.com"],
  ["ada@gmaill.com", "ada@gmail.com"],
  ["ada@hotmial", "ada@hotmail.com"],
  ["ada@hotmail.co", "ada@hotmail.com"],
  ["ada@yahoo.co.ukk", "ada@yahoo.co.uk"],
  ["ada@small-company.con", "ada@small-company.com"],
])("asks whether %s means %s", (typed, meant) => expect(suggestEmail(typed)).toBe(meant));

test("asks whether an address without a dot is complete", () => {
  expect(suggestEmail("ada@company")).toBe("ada@company");
});

test.each([
  "",
  "ada",
  "ada@",
  "ada@gmail.com",
  "ada@GMAIL.COM",
  "ada@mail.com",
  "ada@ymail.com",
  "ada@gmx.de",
  "ada@gmx.at",
  "ada@live.co.uk",
  "ada@outlook.de",
  "ada@small-company.co",
  "ada@example.com",
])("asks nothing about %j", (typed) => expect(suggestEmail(typed)).toBeNull());
