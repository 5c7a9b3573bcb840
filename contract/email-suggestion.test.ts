import { expect, test } from "vitest";
import { suggestEmail } from "./email-suggestion.ts";

test.each<[meant: string | null, ...typed: string[]]>([
  ["ada@gmail.com", "ada@gmail", "ada@gmial.com", "ada@gmil.com", "ada@gnail.com", "ada@gmaill.com"],
  ["Ada.L+site@gmail.com", "Ada.L+site@GMAIL.con"],
  ["ada@hotmail.com", "ada@hotmial", "ada@hotmail.co"],
  ["ada@yahoo.co.uk", "ada@yahoo.co.ukk"],
  [null, "", "ada", "ada@", "ada@company", "ada@small-company.con"],
  [null, "ada@gmail.com", "ada@GMAIL.COM", "ada@live.co.uk", "ada@example.com", "ada@small-company.co"],
  // Real providers whose names differ from another by one letter.
  [null, "ada@email.com", "ada@mail.com", "ada@ymail.com", "ada@gmx.de", "ada@gmx.at", "ada@outlook.de"],
])("suggests %s for %s", (meant, ...typed) => {
  expect(typed.map((address) => [address, suggestEmail(address)])).toEqual(typed.map((address) => [address, meant]));
});
