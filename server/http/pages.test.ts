import { expect, test } from "vitest";
import { chooseEncoding, chooseRange, isUnchanged } from "./pages.ts";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["BR ; Q=0.1", "br"],
  ["gzip;q=0.000", "identity"],
  ["brotli, xbr", "identity"],
])("for Accept-Encoding %j sends %s", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
});

test.each([
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
])("If-None-Match %j contains the tag: %s", (header, isSame) => {
  expect(isUnchanged(header, '"a"')).toBe(isSame);
});

test("reads only the start of a long list, so that it costs no more than a short one", () => {
  expect(chooseEncoding(`${"x,".repeat(140)}br`)).toBe("br");
  expect(chooseEncoding(`${"x,".repeat(150)}br`)).toBe("identity");
  expect(isUnchanged(`${'"b",'.repeat(70)}"a"`, '"a"')).toBe(true);
  expect(isUnchanged(`${'"b",'.repeat(75)}"a"`, '"a"')).toBe(false);
});

test.each([
  [undefined, { kind: "all" }],
  ["bytes=0-", { kind: "part", start: 0, end: 99 }],
  ["bytes=10-19", { kind: "part", start: 10, end: 19 }],
  ["bytes=90-500", { kind: "part", start: 90, end: 99 }],
  ["bytes=-10", { kind: "part", start: 90, end: 99 }],
  ["bytes=-500", { kind: "part", start: 0, end: 99 }],
  ["bytes=100-", { kind: "unsatisfiable" }],
  ["bytes=-0", { kind: "unsatisfiable" }],
  ["bytes=5-2", { kind: "all" }],
  ["bytes=-", { kind: "all" }],
  ["bytes=0-1,5-6", { kind: "all" }],
  ["items=0-1", { kind: "all" }],
  ["bytes=a-b", { kind: "all" }],
])("for Range %j of 100 bytes gives %j", (header, answer) => {
  expect(chooseRange(header, 100)).toEqual(answer);
});
