import { expect, test } from "vitest";
import { longestText } from "../tests/support/longest-text.ts";
import { canonicalEmail, problemWithEmail, suggestEmail } from "./email-address.ts";

const problemWith = (typed: string) => problemWithEmail(canonicalEmail(typed));
const LONGEST_LABEL = "x".repeat(63);

test.each([
  ...["ada", "ada@", "@example.com", "a b@example.com", "a@b@c.com", "a@b,c@d.com", "a@exa mple.com", "<a@b.c>"],
  ...["a@b..c", "a@.b", "a@b.", "a@-b.c", "a@b-.c", `a@b.${LONGEST_LABEL}x`, `a@${LONGEST_LABEL}-x.c`],
  ...["a@b.c;d@e.f", "a(b)@c.d", "a@[127.0.0.1]", "mailto:a@b.c?bcc=d@e.f"],
  // Hidden characters, other spaces and punctuation, and a mark that would stand on the @.
  ...["jo\u200dsé@b.c", "jos\u3164é@b.c", "jos\ufe0fé@b.c", "jo\u2003sé@b.c", "jo“sé@b.c", "\u0301é@b.c", "é😀@b.c"],
  ...["é@ü/b.c", "é@ü:25", "é@ü%2e.c", "é@ü#.c", "é@", `é@${"ü".repeat(60)}.c`, "é@ü..c", "é@١.2", "é@\u0301ü.c"],
])("refuses %j as an email address", (typed) =>
  expect(problemWith(typed)).toBe("Enter an email address like name@example.com."),
);

test.each([
  "a@b",
  "a.b+c@d-e.f--g.h",
  "-@0",
  `a@b.${LONGEST_LABEL}`,
  "A@B.C",
  "o'neil@b.c",
  "用户@xn--fsqu00a.xn--g6w251d",
])("accepts %s as it is", (typed) => expect([problemWith(typed), canonicalEmail(typed)]).toEqual([undefined, typed]));

test.each([
  ["JOSÉ@Example.org", "josé@Example.org"],
  ["jose\u0301@example.org", "josé@example.org"],
  ["Name@BÜCHER.example", "Name@xn--bcher-kva.example"],
  ["Ｎame＠ｅxample．org", "Name@example.org"],
  ["用户@例子。测试", "用户@xn--fsqu00a.xn--0zwm56d"],
  ["иван+news@пример.рф", "иван+news@xn--e1afmkfd.xn--p1ai"],
  ["संपर्क@उदाहरण.भारत", "संपर्क@xn--p1b6ci4b4b3a.xn--h2brj9c"],
  ["ΧΡΉΣΤΗΣ@παράδειγμα.ελ", "χρήστης@xn--hxajbheg2az3al.xn--qxam"],
  ["علي@مثال.مصر", "علي@xn--mgbh0fb.xn--wgbh1c"],
])("accepts %s as %s", (typed, email) => {
  expect([problemWith(typed), canonicalEmail(typed)]).toEqual([undefined, email]);
  expect(canonicalEmail(email)).toBe(email);
});

test("refuses what no mail server takes, or what looks like another address, with a sentence that helps", () => {
  expect(problemWith('"ada lovelace"@example.org')).toBe("Enter an email address without quotation marks.");
  // The first letter is Cyrillic.
  for (const typed of ["аda@example.org", "ada@аda.example"]) {
    expect(problemWith(typed)).toMatch(/letters of two alphabets/);
  }
  expect(problemWith("ada.ада@example.org")).toBeUndefined();
});

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

test("looks at no text that is far too long for an address", async () => {
  const address = `${"e\u0301".repeat(30_000)}@gmial.com`;
  expect(await longestText("e\u0301", () => suggestEmail(address))).toBe(0);
});
