import { expect, test } from "vitest";
import { chooseEncoding, chooseRange } from "./pages.ts";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["BR ; Q=0.1", "br"],
  ["brotli, xbr", "identity"],
  ["gzip;q=1.0, br ; q=0.0, identity", "gzip"],
])("for Accept-Encoding %j sends %s", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
});

test.each([
  [undefined, null],
  ["bytes=0-", { start: 0, end: 99 }],
  ["bytes=10-19", { start: 10, end: 19 }],
  ["bytes=90-500", { start: 90, end: 99 }],
  ["bytes=100-", null],
  ["bytes=5-2", null],
  ["bytes=-10", null],
  ["bytes=-", null],
  ["bytes=0-1,5-6", null],
  ["items=0-1", null],
])("for Range %j of 100 bytes gives %j", (header, range) => {
  expect(chooseRange(header, 100)).toEqual(range);
});
