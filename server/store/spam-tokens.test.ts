import { expect, test } from "vitest";
import {
  AS_TEXT,
  type Counts,
  isTaughtEnough,
  looksLikeSpam,
  MAX_TOKENS,
  signsOf,
  tokensOf,
  weightOf,
} from "./spam-tokens.ts";

const tokens = (message: string, email = "ada@Example.com") => tokensOf({ message, email }, AS_TEXT);

test("reads words, pairs, hosts, the domain and features, with any letters and hidden characters", () => {
  expect(tokens("Win FREE ﬁsh at HTTPS://Pills.example/a?b, call 0800 1!")).toEqual([
    "address: example.com",
    "links: 1",
    "words in capitals: 2",
    "exclamation marks: 1",
    "numbers: 2",
    "long numbers: 1",
    "prices: none",
    "letters: Latin",
    "link: pills.example",
    ...["win", "free", "win free", "fish", "free fish", "at", "fish at", "https", "at https", "pills", "https pills"],
    ...["example", "pills example", "a", "example a", "b", "a b", "call", "b call"],
    ...["0800", "call 0800", "number like: 0000", "1", "0800 1", "number like: 0"],
  ]);
  expect(tokens("only £5, or 10 €, or 7")).toContain("prices: 2");
  expect(tokens("vi\u200Bag\u202Era\u0000 now")).toEqual(tokens("viagra now"));
  expect(tokens("免费 бесплатно")).toEqual(
    expect.arrayContaining(["letters: Han", "letters: Cyrillic", "免 费", "бесплатно"]),
  );
});

test.each<[string, string]>([
  ["5,000 characters without a space", "x".repeat(5000)],
  [
    "5,000 different letters without a space",
    String.fromCodePoint(
      ...Array(5000)
        .keys()
        .map((at) => 0x4e00 + at),
    ),
  ],
  ["10,000 links", Array.from({ length: 10_000 }, (_, index) => `https://${index}.example`).join(" ")],
  ["every script of Unicode", String.fromCodePoint(...Array(0xd7ff).keys())],
  ["letters that are many when they are normalised", "\uFDFA".repeat(5000)],
  ["bidi marks", "\u202E\u2066\u200F".repeat(1600)],
  ["half a letter", "\uD800 \uDC00"],
  ["nothing", ""],
])("makes at most 400 tokens of a hostile message: %s", (_, message) => {
  const found = tokens(message, "@");
  expect(found.length).toBeLessThanOrEqual(MAX_TOKENS);
  expect(found.every((token) => token.length <= 120)).toBe(true);
  expect(new Set(found).size).toBe(found.length);
});

test("reads the beginning and the end of a long message", () => {
  const found = tokens(`first ${"filler ".repeat(700)} last`);
  expect(found).toEqual(expect.arrayContaining(["first", "first filler", "filler last", "last"]));
  expect(tokens(`${"filler ".repeat(350)} middle ${"filler ".repeat(350)}`)).not.toContain("middle");
});

test("decides by the share of evidence for spam, and shows at most five signs, strongest first", () => {
  const taught: Counts = { spam: 20, good: 20 };
  const weight = (spam: number, good: number) => weightOf({ spam, good }, taught);
  expect([weight(20, 20), weight(0, 0)]).toEqual([0, 0]);
  expect(weight(20, 0)).toBeCloseTo(-weight(0, 20));
  const [heavy, light, against] = [weight(20, 0), weight(20, 10), weight(0, 20)];
  expect(looksLikeSpam([light, ...Array(5).fill(weight(10, 0)), heavy, 0])).toBe(true);
  expect(looksLikeSpam([light])).toBe(false);
  expect(looksLikeSpam([heavy])).toBe(false);
  expect(looksLikeSpam([heavy, heavy, heavy])).toBe(true);
  expect(looksLikeSpam([heavy, heavy, heavy, against])).toBe(false);
  expect(looksLikeSpam([])).toBe(false);
  const names = ["now", "a", "b", "c", "d", "e", "pills", "office", "never seen"];
  const weights = [light, ...Array(5).fill(weight(10, 0)), heavy, against, 0];
  expect(signsOf(names, weights)).toEqual(["pills", "a", "b", "c", "d"]);
  expect(signsOf(["office"], [against])).toEqual([]);
  expect(
    [
      [20, 20],
      [19, 500],
      [500, 19],
    ].map(([spam = 0, good = 0]) => isTaughtEnough({ spam, good })),
  ).toEqual([true, false, false]);
});
