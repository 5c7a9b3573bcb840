import { expect, test } from "vitest";
import { splitQuotes } from "../../contract/quoted-text.ts";
import { createRandom } from "../../tests/support/fuzz.ts";
import { RAW_MAILS, rawMail, SITE_URL, TEAM_ADDRESSES, THREAD } from "../../tests/support/raw-mails.ts";
import { cluesOf, isSender, judge, readHead, readReport, teamOf } from "./mail.ts";
import { attachmentsOf, storable, textOf } from "./text.ts";

const TEAM = teamOf(TEAM_ADDRESSES, SITE_URL);
const LONG = 50_000;

test.each(RAW_MAILS)("$name: $kind", async ({ raw, kind, text = [], quoted, isSender: isMeant, part, reason }) => {
  const head = await readHead(raw);
  const report = head.program === "report" ? await readReport(raw) : null;
  const judged = judge(head, report, [THREAD], TEAM);
  expect(judged.kind).toBe(kind);
  if (isMeant !== undefined) expect(isSender(head, THREAD)).toBe(isMeant);
  if (part !== undefined) expect(judged.part).toBe(part);
  if (reason !== undefined) expect(report?.reason).toBe(reason);
  const stored = (await textOf(raw, raw.length)) ?? "could not be read";
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
      const [head, report] = [await readHead(broken), await readReport(broken)];
      expect(judge(head, report, [THREAD], TEAM)).toHaveProperty("kind");
      expect(cluesOf(head, report).mailIds.length).toBeLessThanOrEqual(22);
      expect((await textOf(broken, broken.length)) ?? "").not.toContain("\0");
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
  expect(await textOf(raw, raw.length)).toBe(`${"x".repeat(LONG)}\n\n[Cut; the whole is in the mailbox.]`);
  expect(await textOf(rawMail({ From: "ada@example.org" }, "begin"), 40_000_000)).toMatch(/^begin\n\n\[Cut/);
});

test("a mail of many lines is read up to its 20,000th, and says so", async () => {
  const raw = rawMail({ From: "ada@example.org" }, `begin${"\n".repeat(30_000)}end`);
  expect(await textOf(raw, raw.length)).toMatch(/^begin\n\n\[Cut/);
});

test.each([["<a "], ["<p>Hi<a <br>"]])(
  "a tag that does not end takes no time: %s",
  { timeout: 10_000 },
  async (tag) => {
    const part = `--b\nContent-Type: text/html\n\n${tag}${"href = ".repeat(14_000)}`;
    const raw = rawMail({ "Content-Type": "multipart/mixed; boundary=b" }, `--b\n\nbegin\n${part}<br>`);
    expect(await textOf(raw, raw.length)).toMatch(/^begin\s.*<a .*\[Cut/s);
  },
);

test("attachments are listed with their names and sizes, also deep inside", () => {
  const pdf = {
    type: "application/pdf",
    size: 78_000,
    encoding: "base64",
    parameters: { name: "=?utf-8?q?pl=C3=A4ne.pdf?=" },
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
