import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { Country } from "world-countries";
import { isKnownCountry, parseContactMessage } from "./contact-message.ts";

const GOOD = { name: "Ada", email: "ada@example.com", phone: "+44 1", country: "GB", message: "Hello" };
const fieldsOf = (input: Record<string, unknown>) => {
  const parsed = parseContactMessage(input);
  return parsed.ok ? {} : parsed.fields;
};

test("keeps a good message, trimmed, and ignores fields it does not know", () => {
  const parsed = parseContactMessage({ ...GOOD, name: "  Ada ", message: "\r\nA\r\nB\n", extra: 1 });
  expect(parsed).toEqual({ ok: true, message: { ...GOOD, message: "A\nB" } });
});

test("lets the country be empty or missing", () => {
  expect(fieldsOf({ ...GOOD, country: "" })).toEqual({});
  const { country: _, ...without } = GOOD;
  expect(fieldsOf(without)).toEqual({});
});

test("names every missing required field at once", () => {
  expect(fieldsOf({ name: " ", email: "\t" })).toEqual({
    name: "Enter your name.",
    email: "Enter your e-mail address.",
    phone: "Enter your phone number.",
    message: "Enter your message.",
  });
});

test.each([
  ["name", 100],
  ["phone", 40],
  ["message", 5000],
] as const)("holds %s to %i characters", (field, limit) => {
  expect(fieldsOf({ ...GOOD, [field]: "x".repeat(limit) })).toEqual({});
  expect(Object.keys(fieldsOf({ ...GOOD, [field]: "x".repeat(limit + 1) }))).toEqual([field]);
});

test("holds the e-mail address to 254 characters", () => {
  const long = (length: number) => `${"x".repeat(length - 12)}@example.com`;
  expect(fieldsOf({ ...GOOD, email: long(254) })).toEqual({});
  expect(fieldsOf({ ...GOOD, email: long(255) }).email).toContain("254");
});

test.each(["ada", "ada@", "@example.com", "a b@example.com", "a@b@c.com", "a@b,c@d.com", "a@exa mple.com", "<a@b.c>"])(
  "refuses %s as an e-mail address",
  (email) => expect(fieldsOf({ ...GOOD, email }).email).toMatch(/like name@example.com/),
);

test.each([
  ["name", "Ada\nBcc: x@example.com"],
  ["phone", "1\u00002"],
  ["email", "ada@example.com\r\nBcc: x@example.com"],
  ["message", "a\u0000b"],
  ["message", "\u001b[31mred"],
  ["name", "half \ud800 a pair"],
] as const)("refuses characters in %s that could forge a line or cannot be stored", (field, value) => {
  expect(Object.keys(fieldsOf({ ...GOOD, [field]: value }))).toEqual([field]);
});

test.each([null, 1, true, [], {}])("refuses %j where text belongs", (value) => {
  expect(fieldsOf({ ...GOOD, name: value }).name).toBe("Send your name as text.");
});

test("takes nothing from a prototype", () => {
  expect(Object.keys(fieldsOf(Object.create(GOOD)))).toEqual(["name", "email", "phone", "message"]);
});

test("knows exactly the countries of world-countries", () => {
  const countries: readonly Country[] = createRequire(import.meta.url)("world-countries");
  expect(countries.filter(({ cca2 }) => !isKnownCountry(cca2))).toEqual([]);
  for (const code of ["gb", "ZZ", "G", "GB ", "A B", ""]) expect(isKnownCountry(code)).toBe(false);
  expect(fieldsOf({ ...GOOD, country: "ZZ" }).country).toBe("Choose a country from the list.");
});
