// `npm run claims`: lists what is open in the company's texts, asks for it, adds the missing entries, signs files.
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { z } from "zod";
import { endsSoon, type ListedClaim } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { adviceLine, programName } from "../contract/commands.ts";
import { plural, visible } from "../contract/text.ts";
import {
  articlesOf,
  type Entry,
  explain,
  isName,
  listOpen,
  mayClaimNothing,
  placeProblem,
  readClaims,
  stateInWords,
  strongWordsOf,
  writeLedger,
} from "../prerender/claims.ts";
import { problemsError, readSettings, siteDirProblems } from "../prerender/site-dir.ts";
import { readTexts } from "../prerender/texts.ts";

const flag = { type: "boolean" } as const;
const { review, write, json, sign, ours = false } = readOptions();
const today = new Date().toISOString().slice(0, 10);
// The ledger of the software is for its authors.
const siteDir = ours ? "app/" : parseBuildSettings(process.env).settings.siteDir;
const missing = siteDirProblems(siteDir);
if (missing.length > 0) exit(missing.map((problem) => adviceLine(problem)).join("\n"));
const { texts, problems } = await readTexts(siteDir);
if (problems.length > 0) console.error(problemsError(problems).message);
const report = await readSettings(siteDir)
  .then((company) => readClaims({ ...company, siteDir, texts, today, isOurs: ours }))
  .catch(({ message }: Error) => exit(message));
const { claims, unsigned, policies, outdated, ledger, ledgerFile } = report;
const inState = (state: string) => claims.filter((claim) => claim.state === state);

if (json) {
  const [open, expired, withoutEvidence] = ["open", "expired", "withoutEvidence"].map(inState);
  const files = unsigned.map(({ file }) => ({ file }));
  console.log(JSON.stringify({ open, expired, withoutEvidence, unsigned: files }, null, 1));
} else if (write) {
  const added = inState("open").map(
    ({ text, page }): Entry => ({ text, page, evidence: { shows: "", at: "", until: "" }, by: "", on: "" }),
  );
  await writeLedger([...ledger, ...added], ledgerFile);
  const advice = `Fill in the evidence, who signs it and when; or write "noClaim": "why" instead of evidence.`;
  console.log(`${ledgerFile} has ${plural(added.length, "new entry")}. ${advice}`);
} else if (review || sign !== undefined) {
  await reviewAndSign();
} else {
  console.log(listOpen(report, programName(process.env)) || "Nothing is open.");
  for (const problem of policies) console.log(problem);
  for (const { where, text, shows } of claims.filter(({ isOurs, state }) => isOurs && state !== "settled"))
    console.log(`The default site, ${where}: ${visible(text)}${shows ? `; this would prove it: ${shows}` : ""}`);
}

function readOptions() {
  const options = { review: flag, write: flag, json: flag, sign: { type: "string" }, ours: flag } as const;
  try {
    const { values } = parseArgs({ options });
    return values.sign === undefined || isName(values.sign) ? values : exit(notName(values.sign), 2);
  } catch (error) {
    const usage = `Usage: npm run claims [-- --review | --write | --json | --sign "NAME"] [--ours]; docs/claims.md explains it.`;
    return exit(`${(error as Error).message}\n${usage}`, 2);
  }
}

function exit(problem: string, status = 1): never {
  console.error(problem);
  process.exit(status);
}

/** With `--review` asks for each sentence that is not settled, or whose evidence ends soon. Shows the files that changed, and signs. */
async function reviewAndSign(): Promise<void> {
  const terminal = createInterface({ input: process.stdin });
  const lines = terminal[Symbol.asyncIterator]();
  /** Repeats the question until the answer has no problem. An end of the input ends the command. */
  const ask = async (question: string, problemOf: (answer: string) => string | null = () => null): Promise<string> => {
    process.stdout.write(`${question} `);
    const { value, done } = await lines.next();
    if (done) exit("\nNothing was signed, because the answers ended.");
    const problem = problemOf(value.trim());
    if (problem === null) return value.trim();
    console.log(`  ${problem}`);
    return ask(question, problemOf);
  };

  const answered: Entry[] = [];
  const isToAsk = (claim: ListedClaim) => claim.state !== "settled" || endsSoon(claim, new Date());
  const toAsk = claims.filter((claim) => isToAsk(claim) && (ours || !claim.isOurs));
  for (const claim of review ? toAsk : []) {
    const { text, page, where } = claim;
    console.log(`\n${where}, on ${page}:\n  ${marked(text)}\n  (${stateInWords(claim)})`);
    for (const line of explain(text)) console.log(`  ${line}`);
    const [choices, letters] = mayClaimNothing(text)
      ? ["evidence (e), no claim (n)", /^[enc]$/]
      : ["evidence (e)", /^[ec]$/];
    const answer = await ask(`There is ${choices}, or you change the text and come back (c):`, (given) =>
      letters.test(given) ? null : "Answer with one of the letters in brackets.",
    );
    if (answer === "c") console.log(`  Change ${where}, and run this again.`);
    else
      answered.push({ text, page, ...(await (answer === "e" ? askEvidence(text) : askReason())), by: "", on: today });
  }

  async function askReason() {
    return { noClaim: await ask("  Why does it claim nothing?", isGiven) };
  }

  async function askEvidence(text: string) {
    const shows = await ask("  What does the evidence show?", isGiven);
    const at = await ask(
      "  Where is it: an address, a document, or a file beside claims.json?",
      (given) => isGiven(given) ?? placeProblem(given, dirname(ledgerFile)),
    );
    const law = articlesOf(text).join("; ");
    const recognition = "  The official recognition that allows the wording, by name; or nothing:";
    const exemption = law && (await ask(recognition));
    const until = await ask("  Its last day; it counts for two years at most:", isLater);
    return { evidence: { shows, at, until, ...(exemption && { exemption }) }, ...(law && { law }) };
  }

  for (const { file, sentences } of unsigned) console.log([`\n${file}`, ...sentences.map(marked)].join("\n  "));
  for (const problem of policies) console.log(`\n${problem}`);
  const files = [...unsigned, ...outdated];
  if (answered.length + files.length === 0) console.log("Nothing is open.");
  else {
    const by =
      sign ??
      (await ask("\nYou sign the files and answers above. Your name:", (given) =>
        isName(given) ? null : notName(given),
      ));
    const signed = files.map(
      ({ file, sha256, ours }): Entry => ({ file, sha256, ...(ours && { ours }), by, on: today }),
    );
    await writeLedger([...ledger, ...answered.map((entry) => ({ ...entry, by })), ...signed], ledgerFile);
    console.log(`\n${by} has signed ${plural(signed.length, "file")} in ${ledgerFile}.`);
  }
  // A terminal would keep the process waiting for more lines.
  terminal.close();
}

function isGiven(answer: string): string | null {
  return answer === "" ? "Please answer." : null;
}

function isLater(answer: string): string | null {
  const isDay = z.iso.date().safeParse(answer).success && answer >= today;
  return isDay ? null : `Give a day from ${today} on, such as ${Number(today.slice(0, 4)) + 1}-01-31.`;
}

function notName(text: string): string {
  return `“${text}” is not the name of a person.`;
}

function marked(text: string): string {
  const found = strongWordsOf(text).map(({ word }) => RegExp.escape(word).replaceAll("\\x20", "[\\s\\p{Pd}]+"));
  return visible(text).replaceAll(new RegExp(found.join("|") || "$^", "giu"), "**$&**");
}
