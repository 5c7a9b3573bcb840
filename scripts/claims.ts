// `npm run claims`: lists what is open in the company's texts, asks for it, adds the missing entries, signs files.
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { adviceLine, programName } from "../contract/commands.ts";
import { plural, visible } from "../contract/text.ts";
import {
  articlesOf,
  type Entry,
  explain,
  isDenial,
  isName,
  listOpen,
  placeProblem,
  readClaims,
  stateInWords,
  strongWordsOf,
  writeLedger,
} from "../prerender/claims.ts";
import { problemsError, readSettings, siteDirProblems } from "../prerender/site-dir.ts";
import { readTexts } from "../prerender/texts.ts";

const flag = { type: "boolean" } as const;
const options = { review: flag, write: flag, json: flag, sign: { type: "string" }, ours: flag } as const;
// Not strict, so that a mistyped option shows the usage instead of a stack.
const { values, tokens } = parseArgs({ options, strict: false, tokens: true });
const { review, write, json, sign = "", ours = false } = values;
const isKnown = tokens.every((token) => token.kind === "option" && token.name in options);
if (!isKnown || typeof sign !== "string" || (sign.trim() === "" && "sign" in values)) {
  console.error(
    `Usage: npm run claims [-- --review | --write | --json | --sign "NAME"] [--ours]; docs/claims.md explains it.`,
  );
  process.exit(2);
}

const today = new Date().toISOString().slice(0, 10);
// The ledger of the software is for its authors.
const siteDir = ours ? "app/" : parseBuildSettings(process.env).settings.siteDir;
const missing = siteDirProblems(siteDir);
if (missing.length > 0) {
  console.error(missing.map((problem) => adviceLine(problem)).join("\n"));
  process.exit(1);
}
const { texts, problems } = await readTexts(siteDir);
if (problems.length > 0) console.error(problemsError(problems).message);
const company = await readSettings(siteDir).catch(({ message }: Error) => {
  console.error(message);
  process.exit(1);
});
const report = await readClaims({ ...company, siteDir, texts, today, isOurs: ours === true });
const { claims, unsigned, policies, outdated, ledger, ledgerFile } = report;
const inState = (state: string) => claims.filter((claim) => claim.state === state);

if (json) {
  const [open, expired, withoutEvidence] = ["open", "expired", "withoutEvidence"].map(inState);
  const files = unsigned.map(({ file }) => ({ file }));
  console.log(JSON.stringify({ open, expired, withoutEvidence, unsigned: files }, null, 1));
} else if (review) {
  await reviewAll();
} else if (write) {
  const added = inState("open").map(
    ({ text, page }): Entry => ({ text, page, evidence: { shows: "", at: "", until: "" }, by: "", on: "" }),
  );
  await writeLedger([...ledger, ...added], ledgerFile);
  const advice = `Fill in the evidence, who signs it and when; or write "noClaim": "why" instead of evidence.`;
  console.log(`${ledgerFile} has ${plural(added.length, "new entry")}. ${advice}`);
} else if (sign !== "") {
  if (!isName(sign)) {
    console.error(`“${sign}” is not the name of a person.`);
    process.exit(2);
  }
  showFiles();
  await signFiles([], sign);
} else {
  console.log(listOpen(report, programName(process.env)) || "Nothing is open.");
  for (const problem of policies) console.log(problem);
  for (const { where, text, shows } of claims.filter(({ isOurs, state }) => isOurs && state !== "settled"))
    console.log(`The default site, ${where}: ${visible(text)}${shows ? `; this would prove it: ${shows}` : ""}`);
}

function showFiles(): void {
  for (const { file, sentences } of unsigned) console.log([`\n${file}`, ...sentences.map(marked)].join("\n  "));
  for (const problem of policies) console.log(`\n${problem}`);
}

async function signFiles(answered: readonly Entry[], by: string): Promise<void> {
  const signed = [...unsigned, ...outdated].map(({ file, sha256, ours: replaced }): Entry => {
    return { file, sha256, ...(replaced && { ours: replaced }), by, on: today };
  });
  await writeLedger([...ledger, ...answered, ...signed], ledgerFile);
  console.log(`\n${by} has signed ${plural(signed.length, "file")} in ${ledgerFile}.`);
}

/** Asks for each sentence that is not settled, shows the files that changed, and asks who signs. */
async function reviewAll(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  /** Repeats the question until the answer has no problem. An end of the input ends the command. */
  const ask = async (question: string, problemOf: (answer: string) => string | null = () => null): Promise<string> => {
    process.stdout.write(`${question} `);
    const { value, done } = await lines.next();
    if (done) {
      console.error("\nNothing was signed, because the answers ended.");
      process.exit(1);
    }
    const problem = problemOf(value.trim());
    if (problem === null) return value.trim();
    console.log(`  ${problem}`);
    return ask(question, problemOf);
  };
  const isGiven = (answer: string) => (answer === "" ? "Please answer." : null);
  const isLater = (answer: string) => {
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(answer) && !Number.isNaN(Date.parse(answer));
    return isDay && answer >= today
      ? null
      : `Give a day from ${today} on, such as ${Number(today.slice(0, 4)) + 1}-01-31.`;
  };

  const answered: Entry[] = [];
  const signature = { by: "", on: today };
  for (const claim of claims.filter(({ isOurs, state }) => state !== "settled" && (ours || !isOurs))) {
    const { text, page, where } = claim;
    console.log(`\n${where}, on ${page}:\n  ${marked(text)}\n  (${stateInWords(claim)})`);
    for (const line of explain(text)) console.log(`  ${line}`);
    const articles = articlesOf(text);
    const mayDeny = articles.length === 0 || isDenial(text);
    const choices = mayDeny ? "evidence (e), no claim (n)" : "evidence (e)";
    const answer = await ask(`There is ${choices}, or you change the text and come back (c):`, (given) =>
      (mayDeny ? /^[enc]$/ : /^[ec]$/).test(given) ? null : "Answer with one of the letters in brackets.",
    );
    if (answer === "n") {
      const noClaim = await ask("  Why does it claim nothing?", isGiven);
      answered.push({ text, page, noClaim, ...signature });
    } else if (answer === "e") {
      const shows = await ask("  What does the evidence show?", isGiven);
      const at = await ask("  Where is it: an address, a document, or a file beside claims.json?", (given) =>
        given === "" ? isGiven(given) : placeProblem(given, dirname(ledgerFile)),
      );
      const exemption =
        articles.length > 0
          ? await ask("  The official recognition that allows the wording, by name; or nothing:")
          : "";
      const until = await ask("  Its last day; it counts for two years at most:", isLater);
      const law = articles.length > 0 && { law: articles.join("; ") };
      answered.push({
        text,
        page,
        evidence: { shows, at, until, ...(exemption && { exemption }) },
        ...signature,
        ...law,
      });
    } else console.log(`  Change ${where}, and run this again.`);
  }
  showFiles();
  if (answered.length + unsigned.length + outdated.length === 0) return console.log("Nothing is open.");
  const by = await ask("\nYou sign the files and answers above. Your name:", (given) =>
    isName(given) ? null : "Give the name of a person.",
  );
  await signFiles(
    answered.map((entry) => ({ ...entry, by })),
    by,
  );
}

function marked(text: string): string {
  const found = strongWordsOf(text).map(({ word }) => RegExp.escape(word).replaceAll("\\x20", "[\\s\\p{Pd}]+"));
  return visible(text).replaceAll(new RegExp(found.join("|") || "$^", "giu"), "**$&**");
}
