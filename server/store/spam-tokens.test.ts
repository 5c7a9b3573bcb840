import { expect, test } from "vitest";
import { looksLikeSpam, MAX_TOKENS, signsOf, tokensOf } from "./spam-tokens.ts";

const tokens = (message: string, email = "ada@Example.com") => tokensOf({ message, email });

test("reads words, pairs, hosts, the domain and shapes, whatever letters and hidden characters they are written in", () => {
  expect(tokens("Win FREE ﬁsh at HTTPS://Pills.example/a?b, call 08001")).toEqual([
    "address: example.com",
    "links: 1",
    "words in capitals: 2",
    "numbers: 1",
    "letters: Latin",
    "link: pills.example",
    "number like: 00000",
    ...["win", "free", "fish", "at", "https", "pills", "example", "a", "b", "call", "08001"],
    ...["win free", "free fish", "fish at", "at https", "https pills", "pills example", "example a", "a b", "b call"],
    "call 08001",
  ]);
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

test("decides only when enough of both kinds was taught, and shows five signs at most, the heaviest first", () => {
  const counts = new Map([
    ["pills", { spam: 20, good: 0 }],
    ["now", { spam: 20, good: 10 }],
    ...["a", "b", "c", "d", "e"].map((token) => [token, { spam: 10, good: 0 }] as const),
    ["office", { spam: 0, good: 20 }],
  ]);
  const bad = ["now", "a", "b", "c", "d", "e", "pills", "never seen"];
  expect(looksLikeSpam(bad, counts, { spam: 20, good: 20 })).toBe(true);
  expect(looksLikeSpam(bad, counts, { spam: 19, good: 500 })).toBe(false);
  expect(looksLikeSpam(bad, counts, { spam: 500, good: 19 })).toBe(false);
  expect(looksLikeSpam(["now"], counts, { spam: 20, good: 20 })).toBe(false);
  expect(looksLikeSpam([...bad, "office"], new Map(), { spam: 20, good: 20 })).toBe(false);
  expect(signsOf([...bad, "office"], counts, { spam: 20, good: 20 })).toEqual(["pills", "a", "b", "c", "d"]);
  expect(signsOf(["office"], counts, { spam: 20, good: 20 })).toEqual([]);
});
