import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { Country } from "world-countries";
import { longestText } from "../tests/support/longest-text.ts";
import { CONTACT_FIELDS, COUNTRY_CODES, parseContactMessage } from "./contact-message.ts";

const GOOD = { name: "Ada", email: "ada@example.com", phone: "+44 1", country: "GB", message: "Hello" };
const fieldsOf = (input: Record<string, unknown>) => {
  const parsed = parseContactMessage(input);
  return parsed.ok ? {} : parsed.fields;
};

test("trims a valid message, and ignores unknown fields", () => {
  const parsed = parseContactMessage({ ...GOOD, name: "  Ada ", message: "\r\nA\r\nB\n", extra: 1 });
  expect(parsed).toEqual({ ok: true, message: { ...GOOD, message: "A\nB" } });
});

test("accepts an empty or missing country", () => {
  expect(fieldsOf({ ...GOOD, country: "" })).toEqual({});
  const { country: _, ...without } = GOOD;
  expect(fieldsOf(without)).toEqual({});
});

test.each([
  ["name", 100, ""],
  ["email", 254, "@example.com"],
  ["phone", 40, ""],
  ["message", 5000, ""],
] as const)("limits the length of %s to %i characters", (field, limit, end) => {
  const text = (length: number) => (field === "email" ? "x" : "é").repeat(length - end.length) + end;
  expect(fieldsOf({ ...GOOD, [field]: text(limit) })).toEqual({});
  expect(fieldsOf({ ...GOOD, [field]: text(limit + 1) })).toEqual({
    [field]: expect.stringContaining(limit.toLocaleString("en-GB")),
  });
});

test("no check reads a text that is much longer than its field, and the text is refused", async () => {
  for (const [field, { maxLength }] of Object.entries(CONTACT_FIELDS)) {
    for (const piece of ["é", "\u0301", " ", "@", "०", "ａ", "\u200b"]) {
      const value = `é${piece.repeat(60_000)}é`;
      const longest = await longestText("é", () =>
        expect(Object.keys(fieldsOf({ ...GOOD, [field]: value }))).toEqual([field]),
      );
      expect(longest, field).toBeLessThanOrEqual(4 * maxLength);
    }
  }
});

test("a text with spaces or decomposed letters may be longer than its field", () => {
  const email = `${" ".repeat(300)}${"e\u0302\u0301".repeat(50)}@example.com`;
  const parsed = parseContactMessage({ ...GOOD, email, message: `${"\r\n".repeat(4000)}A` });
  expect(parsed).toMatchObject({ ok: true, message: { email: `${"ế".repeat(50)}@example.com`, message: "A" } });
});

test("stores an address in its canonical spelling, and a phone number with ASCII digits", () => {
  const parsed = parseContactMessage({ ...GOOD, email: " JOSÉ＠Bücher.example", phone: "＋９１ ०१२ ٣٤" });
  const email = "josé@xn--bcher-kva.example";
  expect(parsed).toEqual({ ok: true, message: { ...GOOD, email, phone: "+91 012 34" } });
});

test("limits an address by its bytes, in its canonical spelling", () => {
  const email = (length: number) => `${"é".repeat(length)}@ü.example`;
  expect(fieldsOf({ ...GOOD, email: email(119) })).toEqual({});
  expect(fieldsOf({ ...GOOD, email: email(120) }).email).toMatch(/254/);
});

test.each([
  ["name", "Ada\nBcc: x@example.com"],
  ["name", "Ada\u2028Bcc: x@example.com"],
  ["email", "ada@example.com\r\nBcc: x@example.com"],
  ["message", "a\u0000b"],
  ["message", "a\r.\rMAIL FROM:<x@example.net>"],
  ["name", "half \ud800 a pair"],
] as const)("refuses characters in %s that could forge a line or cannot be stored", (field, value) => {
  expect(Object.keys(fieldsOf({ ...GOOD, [field]: value }))).toEqual([field]);
});

test.each([
  ["nothing", ""],
  ["spaces of all kinds", " \t\u00a0\u2003\u3000"],
  ["zero-width characters", "\u200b\u200c\u200d\u2060\ufeff"],
  ["Hangul fillers", "\u115f\u1160\u3164\uffa0"],
  ["blank Braille", "\u2800"],
  ["variation selectors", "\ufe0f\u{e0100}"],
])("treats a field that contains only %s as empty", (_kind, value) => {
  expect(fieldsOf({ name: value, email: value, phone: value, message: `\n${value} ` })).toEqual({
    name: "Enter your name.",
    email: "Enter your email address.",
    phone: "Enter your phone number.",
    message: "Enter your message.",
  });
});

test("removes invisible characters at both ends, such as those around a number copied from an address book", () => {
  const pasted = { name: "\ufeffAda\u200b", email: " \u2068ada@example.com\u2069", phone: "\u202d+44 1\u202c\n" };
  const parsed = parseContactMessage({ ...GOOD, ...pasted, message: "\u200fHello\u2800 " });
  expect(parsed).toEqual({ ok: true, message: GOOD });
});

test.each([
  ["name", "Ada \u202egro.elpmaxe@ada\u202c Lovelace"],
  ["name", "A\u200bda"],
  ["name", "A\u00adda"],
  ...["\u034f", "\u115f", "\u3164", "\uffa0", "\u17b4", "\u2800", "\ufe0f"].map(
    (hidden) => ["name", `A${hidden}da`] as const,
  ),
  ["phone", "+44\u3164 20"],
  ["phone", "+44 \u202a20\u202c 1"],
  ["email", "ada\u200b@example.com"],
  ["email", "ada@b\u00adücher.example"],
  ["message", "See \u202emoc.elpmaxe\u202c now"],
] as const)("refuses an invisible character in %s, which could make two values look the same (%#)", (field, value) => {
  expect(Object.keys(fieldsOf({ ...GOOD, [field]: value }))).toEqual([field]);
  expect(fieldsOf({ ...GOOD, [field]: value })[field]).toMatch(/^Type your .+ again: /);
});

test.each([
  ["name", "علی\u200cرضا"],
  ["name", "ශ්\u200dරී"],
  ["name", "പവി\u0d24\u0d4d\u200dരൻ"],
  ["message", "葛\u{e0100}城 👩\u200d🚀 ❤\ufe0f"],
  ["message", "שלום \u200e+44 20\u200f, \u2067abc\u2069 \u202a+44 1\u202c\nمرحبا!"],
  ["message", "From Scotland \u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"],
] as const)("keeps every character in %s that a script or an emoji needs (%#)", (field, value) => {
  expect(parseContactMessage({ ...GOOD, [field]: value })).toEqual({ ok: true, message: { ...GOOD, [field]: value } });
});

test.each([null, 1, true, [], {}])("refuses %j instead of text", (value) => {
  expect(fieldsOf({ ...GOOD, name: value }).name).toBe("Send your name as text.");
});

test("ignores fields of a prototype", () => {
  expect(Object.keys(fieldsOf(Object.create(GOOD)))).toEqual(["name", "email", "phone", "message"]);
});

test("accepts exactly the country codes of world-countries", () => {
  const countries: readonly Country[] = createRequire(import.meta.url)("world-countries");
  expect([...COUNTRY_CODES]).toEqual(countries.map(({ cca2 }) => cca2).toSorted());
  expect(fieldsOf({ ...GOOD, country: "ZZ" }).country).toBe("Choose a country from the list.");
});
