import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type BuildManifest, manifestFile } from "../../contract/build-manifest.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const TAGLINES = ["Our company is carbon-neutral, and we could not be prouder", "Green power for everyone"] as const;

async function makeSiteDir(): Promise<string> {
  const siteDir = await makeScratchFolder();
  const settings = { footerTagline: TAGLINES[0], contactTagline: TAGLINES[1] };
  await writeFile(`${siteDir}/site.ts`, `export const site = ${JSON.stringify(settings)};`);
  return siteDir;
}

/** Runs the command in a pseudo terminal, where the test answers each question. */
function review(siteDir: string, ...parameters: string[]) {
  const command = [process.execPath, "scripts/claims.ts", "review", ...parameters].join(" ");
  const env = { ...process.env, SITE_DIR: siteDir, NO_COLOR: "1" };
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { env });
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
    exited: () => exitOf(child),
  };
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? (await once(child, "exit"))[0];
}

const ledgerOf = (siteDir: string) => JSON.parse(readFileSync(`${siteDir}/claims.json`, "utf8")) as unknown[];

test("a review in a terminal repeats only the question with a wrong answer, and saves who decided what", async () => {
  const siteDir = await makeSiteDir();
  const on = new Date().toISOString().slice(0, 10);
  const until = `${Number(on.slice(0, 4)) + 1}-12-31`;
  const [WHO, WHAT] = ["Who reviews (name or role): ", "n, c, r, s, b, w, q or h: "];
  const first = review(siteDir);
  await first.answer(WHO, "");
  await first.answer(WHO, "Ada, editor");
  const shown = await first.answer(WHAT, "H");
  expect(shown).toMatch(
    /1 of \d+: \/ and \d+ more\r\n {2}Our company is .*\r\n {4}“neutral”: says that nothing is left to/,
  );
  expect(shown).toMatch(/Annex I, 4c: .*\r\n {2}Better: Our credits pay for reductions elsewhere/);
  expect(await first.answer(WHAT, "x")).toContain("claim: a reader could ask");
  expect(await first.answer(WHAT, "C")).toMatch(/^x\r\n$/);
  await first.answer("What proves it (text, a number from the list above, or empty for nothing yet): ", "Audit");
  await first.answer("Where is the proof (a URL, a file, or a document's name with its date): ", "shared drive");
  await first.answer("Where is the proof (a URL, a file, or a document's name with its date): ", "audit.pdf");
  await first.answer(" at the latest): ", "31.12.2027");
  await first.answer(" at the latest): ", until);
  await first.answer("Why may it stay: ", "a test");
  expect(await first.answer(WHAT, "b")).toContain(TAGLINES[1]);
  expect(await first.answer(WHAT, "s")).toContain(`Previous decision: claim (Ada, editor, ${on})`);
  await first.answer(WHAT, "c");
  expect(await first.answer("What proves it", "1")).toContain(`1  Audit (until ${until})`);
  await first.answer(WHAT, "Q");
  expect(await first.exited()).toBe(0);
  const evidence = { shows: "Audit", at: "audit.pdf", until };
  const signed = { verdict: "claim", evidence, by: "Ada, editor", on };
  expect(ledgerOf(siteDir)).toEqual([
    { text: TAGLINES[0], ...signed, reason: "a test" },
    { text: TAGLINES[1], ...signed },
  ]);

  const again = review(siteDir, "everyone");
  expect(await again.answer(WHAT, "w")).toContain(`Ada, editor reviews.`);
  await again.answer(WHO, "Bob");
  await again.answer(WHAT, "r");
  expect(await again.exited()).toBe(0);
  expect(ledgerOf(siteDir)[1]).toEqual({ text: TAGLINES[1], verdict: "no claim", by: "Bob", on });
}, 180_000);

test("build and command find the same sentences for any site URL, and ask a company only about its own", async () => {
  const siteDir = await makeSiteDir();
  const settings = {
    brand: "Northwind",
    legalName: "Northwind Ltd",
    contactEmail: "hello@northwind-climate.com",
    contactTagline: TAGLINES[1],
  };
  await writeFile(`${siteDir}/site.ts`, `export const site = ${JSON.stringify(settings)};`);
  const { outDir, remove } = makePagesBuild();
  onTestFinished(remove);
  const env = { SITE_DIR: siteDir, SITE_URL: "https://www.northwind-climate.com" };
  const { output } = buildPages({ pagesDir: `${siteDir}/pages`, outDir }, "draft", env);
  expect(output.match(/^Not reviewed: .*\n {2}.*$/gm), output).toEqual([`Not reviewed: /contact\n  ${TAGLINES[1]}`]);
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/claims.ts", "--json"], {
    env: { ...process.env, SITE_DIR: siteDir },
  });
  const { unreviewed, withoutEvidence } = JSON.parse(stdout) as Record<string, { text: string; where: string }[]>;
  expect(unreviewed).toEqual([{ text: TAGLINES[1], where: "/contact" }]);
  const { claims } = JSON.parse(readFileSync(manifestFile(outDir), "utf8")) as BuildManifest;
  expect(claims).toMatchObject({ unreviewed: 1, withoutEvidence: withoutEvidence?.length });
}, 180_000);

test("input that never ends stops the review instead of filling the memory", { timeout: 120_000 }, async () => {
  const env = { ...process.env, SITE_DIR: await makeSiteDir() };
  const child = spawn(process.execPath, ["--max-old-space-size=512", "scripts/claims.ts", "review"], { env });
  onTestFinished(() => void child.kill());
  let [sent, errors] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  child.stdout.resume();
  const part = "x".repeat(2 ** 16);
  const send = () => {
    while (child.stdin.writable && child.stdin.write(part)) sent += part.length;
    sent += part.length;
  };
  child.stdin.on("drain", send).on("error", () => {});
  send();
  expect(await exitOf(child)).toBe(0);
  expect(errors).toContain("The review ended before");
  expect(sent).toBeLessThan(2 ** 24);
});
