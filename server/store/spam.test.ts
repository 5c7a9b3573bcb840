import { expect, test } from "vitest";
import { type Language, sampleMessages } from "../../tests/support/spam-samples.ts";
import type { Lesson } from "./model.ts";
import { learn, wordsOf } from "./spam.ts";

const words = (message: string, email = "ada@Example.com") => wordsOf({ message, email });

test("reads words, hosts, the domain and the number of links, with any letters and hidden characters", () => {
  expect(words("Win FREE ﬁsh at HTTPS://Pills.example/a?b, call 0800 1!")).toEqual([
    ...["address: example.com", "links: 1", "link: pills.example"],
    ...["win", "free", "fish", "at", "https", "pills", "example", "a", "b", "call", "0800", "1"],
  ]);
  expect(words("www.a.org www.b.org www.c.org www.d.org")).toContain("links: 3 or more");
  expect(words("vi\u200Bag\u202Era\u0000 now")).toEqual(words("viagra now"));
  expect(words("免费注册 бесплатно")).toEqual(expect.arrayContaining(["免费", "注册", "бесплатно"]));
});

test.each<[string, string]>([
  [
    "5,000 different letters without a space",
    String.fromCodePoint(...Array.from({ length: 5000 }, (_, at) => 0x4e00 + at)),
  ],
  ["10,000 links", Array.from({ length: 10_000 }, (_, index) => `https://${index}.example`).join(" ")],
  ["every script of Unicode", String.fromCodePoint(...Array(0xd7ff).keys())],
  ["letters that are many when they are normalised", "\uFDFA".repeat(5000)],
  ["half a letter", "\uD800 \uDC00"],
])("reads at most 1,200 short words of a hostile message: %s", (_, message) => {
  const found = words(message, "@");
  expect(found.length).toBeLessThanOrEqual(1200);
  expect(found.every((word) => word.length <= 120)).toBe(true);
  expect(new Set(found).size).toBe(found.length);
});

test("reads the beginning and the end of a long message", () => {
  const found = words(`first ${"filler ".repeat(700)} last`);
  expect(found).toEqual(expect.arrayContaining(["first", "last"]));
  expect(words(`${"first".padStart(800)} ${"last".padEnd(300)}`)).toEqual(expect.arrayContaining(["first", "last"]));
  expect(words(`${"filler ".repeat(350)} middle ${"filler ".repeat(350)}`)).not.toContain("middle");
});

const textOf = (message: string) => ({ message, email: "ada@Example.com" });
const taught = (kind: Lesson, texts: readonly string[]) => texts.map((text) => ({ ...textOf(text), taught: kind }));

/** Messages spread over all openings and closings. */
const some = (language: Language, kind: Lesson, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const all = sampleMessages(language, kind, "lessons");
    return all[(index * 7) % all.length] ?? "";
  });

test("judges only with 20 lessons of each kind, by the words that are more frequent in spam, and shows five signs", () => {
  const spam = "please win cheap pills today with our casino bonus";
  const marked = taught("spam", Array(20).fill(spam));
  const good = taught("good", Array(19).fill("please tell me the price of our flight with our children"));
  expect(learn([...marked, ...good]).looksLikeSpam(textOf(spam))).toBe(false);
  const { looksLikeSpam, signsOf } = learn([...marked, ...good, ...taught("good", ["please call me today"])]);
  expect(looksLikeSpam(textOf(spam))).toBe(true);
  expect(looksLikeSpam(textOf("please tell me the price of a casino with pills"))).toBe(false);
  expect(signsOf(textOf(spam))).toHaveLength(5);
  expect(signsOf(textOf(spam))).not.toContain("please");
});

test("holds no genuine message in a second language, however few good lessons it has in it", () => {
  const counts = ["7 0", "10 0", "40 0", "10 1", "40 1", "40 3", "40 10"];
  for (const [own, second] of [
    ["English", "German"],
    ["German", "English"],
  ] as const) {
    for (const [spam = 0, good = 0] of counts.map((pair) => pair.split(" ").map(Number))) {
      const { looksLikeSpam } = learn([
        ...(["spam", "good"] as const).flatMap((kind) => taught(kind, some(own, kind, 40))),
        ...taught("spam", some(second, "spam", spam)),
        ...taught("good", some(second, "good", good)),
      ]);
      const held = sampleMessages(second, "good", "tests").filter((text) => looksLikeSpam(textOf(text)));
      expect([own, spam, good, held]).toEqual([own, spam, good, []]);
    }
  }
});
