import { expect, test } from "vitest";
import type { Messages } from "../server/store/messages.ts";
import type { StoredMessage } from "../server/store/model.ts";
import { storedWith } from "../tests/store-contract/samples.ts";
import { exportMessages, toCsv, visibleJson } from "./export-messages.ts";
import { messageJson } from "./message-view.ts";

test("writes JSON that is safe to print and has the same meaning", () => {
  const value = { text: "a\u001b[2J\u009b\u202E\u{E0001}\n日本", list: [1, null] };
  const json = visibleJson(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(json).toContain("日本");
});

test.each([
  ["=1+1", "'=1+1"],
  ["+44 20", "'+44 20"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "\"'\t'=1\""],
  ["\tabc", '"\'\tabc"'],
  ["  =1+1", "'  =1+1"],
  ["\u200B\uFEFF@SUM(A1)", "'\u200B\uFEFF@SUM(A1)"],
  ["\uFF1D1", "'\uFF1D1"],
  ["\uFF20SUM(A1)", "'\uFF20SUM(A1)"],
  [" \uFE661", "' \uFE661"],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ["a, b", '"a, b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["a\tb", '"a\tb"'],
  ["a - b + c @ d", "a - b + c @ d"],
  ["", ""],
])("writes %j as %j in CSV", (text, cell) => {
  expect(toCsv([[text, "x"]])).toBe(`${cell},x\r\n`);
});

test.each([
  ["x;=1+1;", '"x;\'=1+1;"'],
  ["x; =1+1", '"x;\' =1+1"'],
  ['x;"=1+1"', `"x;'""=1+1"""`],
  ["x\t@SUM(A1)", '"x\t\'@SUM(A1)"'],
  ["Dear all,\n\n+1", '"Dear all,\n\n\'+1"'],
])("keeps %j inert in a spreadsheet that separates cells at ; or tab", (text, cell) => {
  expect(toCsv([["x", text]])).toBe(`x,${cell}\r\n`);
  for (const separator of [";", "\t"]) {
    // If a row does not start with a quote, such a spreadsheet reads quotes as text, or ignores them at the start of
    // a cell.
    const cells = toCsv([["x", text]]).split(new RegExp(`[${separator}\r\n]`));
    expect(cells.filter((seen) => /^[\s"]*[=+\-@]/.test(seen))).toEqual([]);
  }
});

const MANY = Array.from({ length: 600 }, (_, id) => storedWith({ id, message: "]\n[" }));

async function partsOf(format: "csv" | "json", messages: readonly StoredMessage[]): Promise<string[]> {
  const store: Pick<Messages, "list" | "notes"> = {
    notes: async () => new Map(),
    async list({ after, limit = Number.POSITIVE_INFINITY }) {
      const start = after ? messages.findIndex(({ id }) => id === after.id) + 1 : 0;
      return messages.slice(start, start + limit);
    },
  };
  return Array.fromAsync(exportMessages({ filter: {}, format }, store));
}

test.each([0, 1, 250, 251, 600])("an export of %i messages in parts is one file", async (count) => {
  const messages = MANY.slice(0, count);
  const json = await partsOf("json", messages);
  expect(json).toHaveLength(Math.ceil(count / 250) + 1);
  expect(json.join("")).toBe(visibleJson(messages.map((message) => messageJson(message))));
  const csv = await partsOf("csv", messages);
  expect(csv).toHaveLength(Math.ceil(count / 250) + 1);
  expect(csv.join("")).toMatch(/^\uFEFFreference,/);
  expect(csv.join("").split("\r\n")).toHaveLength(count + 2);
});
