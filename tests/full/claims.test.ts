import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { type BuildManifest, manifestFile } from "../../contract/build-manifest.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const TAGLINES = ["Our company is carbon-neutral, and we could not be prouder", "Green power for everyone"] as const;

async function makeSiteDir(settings: object): Promise<string> {
  const siteDir = await makeScratchFolder();
  await writeFile(`${siteDir}/site.ts`, `export const site = ${JSON.stringify(settings)};`);
  return siteDir;
}

/** Runs the command; the test answers each question. */
function claims(siteDir: string, ...parameters: string[]) {
  const env = { ...process.env, SITE_DIR: siteDir };
  const child = spawn(process.execPath, ["--max-old-space-size=512", "scripts/claims.ts", ...parameters], { env });
  onTestFinished(() => void child.kill());
  let unread = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    unread += part;
  });
  return {
    child,
    /** Waits for the question, answers it, and returns the output before it. */
    async answer(question: string, text: string): Promise<string> {
      await expect.poll(() => unread, { timeout: 60_000 }).toContain(question);
      const [before = ""] = unread.split(question, 1);
      unread = unread.slice(before.length + question.length);
      child.stdin.write(`${text}\n`);
      return before;
    },
    async output(): Promise<string> {
      expect(await exitOf(child)).toBe(0);
      return unread;
    },
  };
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? (await once(child, "close"))[0];
}

const ledgerOf = (siteDir: string) => JSON.parse(readFileSync(`${siteDir}/claims.json`, "utf8")) as unknown[];
const WHO = "Who reviews (name or role): ";
const WHAT = "e, m, n, s or q: ";

test("a review shows a page, decides on strong words one by one, and signs the rest with one name", async () => {
  const siteDir = await makeSiteDir({
    footerTagline: TAGLINES[0],
    contactTagline: TAGLINES[1],
    login: { label: "Enter", href: "/" },
  });
  const until = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
  const first = claims(siteDir, "review");
  await first.answer(WHO, "");
  await first.answer(WHO, "Ada, editor");
  const shown = await first.answer(WHAT, "x");
  expect(shown).toMatch(
    /\n\/\n(?: {2}.*\n)* {2}Enter\n(?: {2}.*\n)*\n\/ and 9 more\n {2}Our company is \*\*carbon-neutral/,
  );
  expect(shown).toMatch(
    /“carbon-neutral”: says that a product .*\n {4}Directive .* 4c: .*\n {4}Better: We have retired/,
  );
  await first.answer(WHAT, "e");
  await first.answer("What proves it (text, or a number from the list above): ", "Audit");
  await first.answer("Where is the proof (a URL, a file, or a document's name with its year): ", "shared drive");
  await first.answer("Where is the proof (a URL, a file, or a document's name with its year): ", "audit.pdf");
  await first.answer("Until which day is the proof valid (such as 2026-01-31): ", "2099-12-31");
  await first.answer("Until which day is the proof valid (such as 2026-01-31): ", until);
  await first.answer("Why may the forbidden wording stay: ", "a test");
  await first.answer(
    "Ada, editor has read the 1 sentence of / without a marked word, and signs (y: yes, s: skip, q: quit): ",
    "y",
  );
  await first.answer(WHAT, "e");
  expect(await first.answer("What proves it", "1")).toContain(`1  Audit (until ${until})`);
  await first.output();
  const on = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const evidence = { shows: "Audit", at: "audit.pdf", until };
  const signed = { by: "Ada, editor", on };
  expect(ledgerOf(siteDir)).toEqual([
    { text: "Enter", ...signed },
    { text: TAGLINES[1], verdict: "claim", evidence, ...signed },
    { text: TAGLINES[0], verdict: "claim", reason: "a test", evidence, ...signed },
  ]);

  const again = claims(siteDir, "review", "for everyone", "--name", "Bob");
  expect(await again.answer(WHAT, "m")).toContain("Before: claim (Ada, editor");
  await again.answer("What would prove it: ", "the contract");
  await again.output();
  expect(ledgerOf(siteDir)[1]).toEqual({ text: TAGLINES[1], verdict: "claim", needs: "the contract", by: "Bob", on });
  const list = await claims(siteDir).output();
  expect(list).toContain(`${TAGLINES[1]}\n  needs the contract`);
  expect(list).toMatch(/carbon-neutral.*\n.*\n {2}forbidden by law; accepted by Ada, editor on .*: a test\n/);
  expect(list).toMatch(/\d+ sentences, 0 of them not signed\.\n$/);
});

test("build and command find the same sentences for any site URL, and ask a company only about its own", async () => {
  const names = { brand: "Green Harbour", legalName: "Green Harbour Ltd", contactEmail: "hello@green-harbour.com" };
  const siteDir = await makeSiteDir({ ...names, contactTagline: TAGLINES[1] });
  await mkdir(`${siteDir}/pages`);
  const { outDir, remove } = makePagesBuild();
  onTestFinished(remove);
  const env = { SITE_DIR: siteDir, SITE_URL: "https://www.green-harbour.com", RETENTION: "delivered=60d" };
  const { output } = buildPages({ pagesDir: `${siteDir}/pages`, outDir }, "draft", env);
  const unsigned = [
    { text: "[brand]: Green Harbour", where: "settings" },
    { text: "[legal name]: [brand] Ltd", where: "settings" },
    { text: TAGLINES[1], where: "/contact" },
  ];
  const lines = unsigned.map(({ text }) =>
    expect.stringMatching(RegExp(`^  .*site\\.ts(:1)?: ${RegExp.escape(text)}$`)),
  );
  expect(
    output.split("\n").filter((line) => line.startsWith("  ")),
    output,
  ).toEqual(lines);
  expect(buildPages({ pagesDir: `${siteDir}/pages`, outDir }, "production", env)).toMatchObject({ status: 1 });
  const found = JSON.parse(await claims(siteDir, "--json").output()) as Record<
    string,
    { text: string; where: string }[]
  >;
  expect(found.unsigned).toEqual(unsigned);
  expect(Object.keys(found)).toEqual(["unsigned", "unreviewed", "expired", "withoutEvidence", "acceptedForbidden"]);
  const { claims: built } = JSON.parse(readFileSync(manifestFile(outDir), "utf8")) as BuildManifest;
  expect(built).toMatchObject(found);
});

test("input that never ends stops the review instead of filling the memory", async () => {
  const { child } = claims(await makeSiteDir({ contactTagline: TAGLINES[1] }), "review");
  let [sent, errors] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  const part = "x".repeat(2 ** 16);
  const send = () => {
    while (child.stdin.writable && child.stdin.write(part)) sent += part.length;
    sent += part.length;
  };
  child.stdin.on("drain", send).on("error", () => {});
  send();
  expect(await exitOf(child)).toBe(0);
  expect(errors).toContain("The review has ended");
  expect(sent).toBeLessThan(2 ** 24);
});
