import { expect, onTestFinished, test } from "vitest";
import { splitQuotes } from "../../contract/quoted-text.ts";
import { createRandom } from "../../tests/support/fuzz.ts";
import { RAW_MAILS, rawMail, SITE_URL, TEAM_ADDRESSES, THREAD } from "../../tests/support/raw-mails.ts";
import { attachmentsOf, cluesOf, isSender, judge, storable, teamOf } from "./mail.ts";
import { parseMail } from "./parse.ts";
import { createParser } from "./parser.ts";

const TEAM = teamOf(TEAM_ADDRESSES, SITE_URL);
const LONG = 50_000;

/** As the server sends it. */
function headersOf(raw: Buffer): Buffer {
  const end = raw.indexOf("\r\n\r\n");
  return raw.subarray(0, end < 0 ? 1_000_000 : end + 4);
}

const readHead = async (raw: Buffer) => (await parseMail(headersOf(raw))).head;
const parse = (raw: Buffer) => parseMail(raw).catch(() => null);

test.each(RAW_MAILS)("$name: $kind", async ({ raw, kind, text = [], quoted, isSender: isMeant, part, reason }) => {
  const [head, content] = [await readHead(raw), await parse(raw)];
  const report = content?.report ?? null;
  const judged = judge(head, report, [THREAD], TEAM);
  expect(judged.kind).toBe(kind);
  if (isMeant !== undefined) expect(isSender(head, THREAD)).toBe(isMeant);
  if (part !== undefined) expect(judged.part).toBe(part);
  if (reason !== undefined) expect(report?.reason).toBe(reason);
  const stored = content?.text ?? "could not be read";
  for (const one of text) expect(stored).toContain(one);
  expect(stored).toBe(storable(stored, LONG * 2));
  const folded = splitQuotes(stored);
  expect(folded.map((one) => one.text).join("\n")).toBe(stored);
  expect(folded.find((one) => one.isQuoted)?.text.slice(0, quoted?.length)).toBe(quoted);
});

test("no mail makes reading fail, whatever is cut out of it, repeated or put in", async () => {
  for (const [index, { raw }] of RAW_MAILS.filter(({ raw }) => raw.length < 20_000).entries()) {
    const random = createRandom(1, index);
    for (let count = 0; count < 8; count += 1) {
      const [from, to, at] = [random.int(raw.length + 1), random.int(raw.length + 1), random.int(raw.length + 1)];
      const added = random.pick([
        raw.subarray(from, to),
        Buffer.from(random.bytes(9), "latin1"),
        Buffer.from("\r\n\r\n"),
      ]);
      const broken = Buffer.concat([raw.subarray(0, at), added, raw.subarray(random.pick([at, from, to]))]);
      const [head, content] = [await readHead(broken), await parse(broken)];
      const report = content?.report ?? null;
      expect(judge(head, report, [THREAD], TEAM)).toHaveProperty("kind");
      const { mailIds } = cluesOf(head, report);
      expect(mailIds.length).toBeLessThanOrEqual(22);
      expect(mailIds.join()).not.toContain("\0");
      expect(content?.text ?? "").not.toContain("\0");
    }
  }
});

test("a mail names at most the last 20 of its References", async () => {
  const many = Array.from({ length: 100 }, (_, index) => `<${index}@list.example>`);
  const { related } = await readHead(
    rawMail({ From: "a@b.example", "In-Reply-To": "<first@b.example>", References: many }),
  );
  expect(related).toEqual(["<first@b.example>", ...many.slice(-20).reverse()]);
});

test("the team is the configured addresses, the website's host and its parent, never a top-level domain", () => {
  const isOf = (siteUrl: string, ...domains: readonly string[]) =>
    domains.map((domain) => teamOf(["A@post.example"], siteUrl)(`a@${domain}`));
  expect(isOf("https://www.a.example", "www.a.example", "a.example", "post.example")).toEqual([true, true, true]);
  expect(isOf("https://a.example", "a.example", "example", "b.example", "www.a.example")).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a long text is cut, and says so", async () => {
  const raw = rawMail({ From: "ada@example.org" }, "x".repeat(60_000));
  expect((await parseMail(raw)).text).toBe(`${"x".repeat(LONG)}\n\n[Cut; the whole is in the mailbox.]`);
  const first = rawMail({ From: "ada@example.org" }, "begin");
  expect((await parseMail(first, 40_000_000)).text).toMatch(/^begin\n\n\[Cut/);
});

const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;

test.each([
  [encoded("Ada <ada@example.org>"), "Ada"],
  [encoded("ada@example.org"), "ada@example.org"],
  [`<${encoded("ada@example.org")}>`, "ada@example.org"],
  [`"${encoded("Ada <ada@example.org>")}"`, "Ada"],
])("an encoded word is a name and no address: %s", async (From, name) => {
  const raw = rawMail({ From, "In-Reply-To": `<${THREAD.reference}.${THREAD.id}@brighter.example>` });
  const head = await readHead(raw);
  expect(head.sender.name).toBe(name);
  expect(isSender(head, THREAD)).toBe(false);
  // It is kept, as of another address.
  expect(judge(head, null, [THREAD], TEAM).kind).toBe("answer");
});

const innocent = rawMail({ From: "ada@example.org", Subject: "Re: wind" }, "Thanks");

test.each([
  ["time", "a tag that does not end", `<a ${"href = ".repeat(140_000)}`],
  ["memory", "empty lines", "\n".repeat(1_000_000)],
])("a mail that takes too much %s is not read, and stops no other: %s", { timeout: 60_000 }, async (what, _, text) => {
  const enough = { ms: 600_000, bytes: Number.MAX_SAFE_INTEGER };
  const limits = { ...enough, ...(what === "time" ? { ms: 50 } : { bytes: 60_000_000 }) };
  const parser = createParser(limits);
  onTestFinished(() => parser.close());
  const html = { From: "ada@example.org", "Content-Type": "text/html" };
  expect(await parser.parse(rawMail(html, Buffer.from(text)))).toBeNull();
  // A loaded machine may be slow.
  Object.assign(limits, enough);
  expect(await parser.parse(innocent)).toMatchObject({ head: { subject: "Re: wind" }, text: "Thanks" });
});

test("an answer with a large table is read, although its lines take too much memory", async () => {
  const parser = createParser();
  onTestFinished(() => parser.close());
  const table = `--b\nContent-Type: text/csv; name=meter.csv\nContent-Disposition: attachment\n\n${"00:15,0.25\n".repeat(90_000)}`;
  const raw = rawMail({ "Content-Type": "multipart/mixed; boundary=b" }, `--b\n\nPlease see the table.\n${table}--b--`);
  expect(await parser.parse(raw)).toMatchObject({ text: expect.stringContaining("Please see the table.") });
});

test("what a receiver says of a mail that came back names no address", async () => {
  const words = "550 5.1.1 <carol@example.net>: no such user (carol%40example.net), rfc822;carol@example.net";
  const raw = rawMail(
    { "Content-Type": "multipart/report; boundary=b" },
    `--b\nContent-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; ${words}\n--b--`,
  );
  expect((await parseMail(raw)).report?.reason).toBe("550 5.1.1 <address>: no such user (<address>), rfc822;<address>");
});

test("attachments are listed with their names and sizes, also deep inside", () => {
  const pdf = {
    type: "application/pdf",
    size: 78_000,
    encoding: "base64",
    parameters: { name: "pläne.pdf" },
  };
  const text = { type: "text/plain", size: 10 };
  const related = {
    type: "multipart/related",
    childNodes: [text, { type: "image/png", size: 5, disposition: "inline" }],
  };
  expect(attachmentsOf({ type: "multipart/mixed", childNodes: [related, pdf] })).toEqual([
    { name: "image/png", bytes: 5 },
    { name: "pläne.pdf", bytes: 57_000 },
  ]);
  expect(attachmentsOf({ ...text })).toEqual([]);
});

test.each([
  ["a text without a quote", "Hello\nworld", []],
  ["a sentence that ends with a colon", "My questions:\n1. When?", []],
  ["what is all quoted", "> only\n> this", []],
  ["the form's own quote", "Yes\n\nOn 2026-11-19, Ada wrote:\n> Hello", ["On 2026-11-19, Ada wrote:\n> Hello"]],
  [
    "an attribution in a language without a rule",
    "Sí\n\n2026年11月19日 Brighter:\n\n> Hola",
    ["2026年11月19日 Brighter:\n\n> Hola"],
  ],
  ["fields of somebody's own", "From: London\nI travel tomorrow.\nSee you", []],
])("folds %s", (_name, text, quoted) => {
  const parts = splitQuotes(text);
  expect(parts.flatMap((part) => (part.isQuoted ? part.text : []))).toEqual(quoted);
});
