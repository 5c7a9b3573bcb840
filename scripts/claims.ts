// `npm run claims`: lists what is open in the company's texts, adds the missing entries, signs files.
import { parseArgs } from "node:util";
import { completeSettings } from "../app/settings.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { programName } from "../contract/commands.ts";
import { plural, visible } from "../contract/text.ts";
import { type Entry, listOpen, readClaims, strongWordsOf, writeLedger } from "../prerender/claims.ts";
import { problemsError, readOwnSettings } from "../prerender/site-dir.ts";
import { readTexts } from "../prerender/texts.ts";

const flag = { type: "boolean" } as const;
const options = { write: flag, json: flag, sign: { type: "string" }, ours: flag } as const;
// Not strict, so that a mistyped option shows the usage instead of a stack.
const { values, tokens } = parseArgs({ options, strict: false, tokens: true });
const { write, json, sign = "", ours = false } = values;
const isKnown = tokens.every((token) => token.kind === "option" && token.name in options);
if (!isKnown || typeof sign !== "string" || (sign === "" && "sign" in values)) {
  console.error(`Usage: npm run claims [-- --write | --json | --sign "NAME"] [--ours]; docs/claims.md explains it.`);
  process.exit(2);
}

const today = new Date().toISOString().slice(0, 10);
// The ledger of the software is for its authors.
const siteDir = ours ? "app/" : parseBuildSettings(process.env).settings.siteDir;
const { texts, problems } = await readTexts(siteDir);
if (problems.length > 0) console.error(problemsError(problems).message);
const own = await readOwnSettings(siteDir).catch(({ message }: Error) => {
  console.error(message);
  process.exit(1);
});
const site = completeSettings(own);
const report = await readClaims({ site, siteDir, texts, today, isOurs: ours === true });
const { claims, unsigned, ledger, ledgerFile } = report;
const inState = (state: string) => claims.filter((claim) => claim.state === state);

if (json) {
  const [open, expired, withoutEvidence] = ["open", "expired", "withoutEvidence"].map(inState);
  const files = unsigned.map(({ file }) => ({ file }));
  console.log(JSON.stringify({ open, expired, withoutEvidence, unsigned: files }, null, 1));
} else if (write) {
  const current = ledger.filter(({ file, page }) => file !== undefined || page !== undefined);
  const old = ledger.filter((entry) => !current.includes(entry) && entry.evidence);
  const added = inState("open").map(({ text, page }): Entry => {
    const found = old.find((entry) => sameText(entry.text) === sameText(text));
    const { evidence = { shows: "", at: "", until: "" }, by = "", on = "" } = found ?? {};
    return { text, page, evidence, by, on };
  });
  const isTaken = (entry: Entry) => added.some(({ text }) => sameText(text) === sameText(entry.text));
  await writeLedger([...current, ...added, ...old.filter((entry) => !isTaken(entry))], ledgerFile);
  const advice = `Fill in the evidence, who signs it and when; or write "noClaim": "why" instead of evidence.`;
  console.log(`${ledgerFile} has ${plural(added.length, "new entry")}. ${advice}`);
} else if (sign !== "") {
  for (const { file, sentences } of unsigned) console.log([`\n${file}`, ...sentences.map(marked)].join("\n  "));
  const signed = unsigned.map(({ file, sha256 }) => ({ file, sha256, by: sign, on: today }));
  await writeLedger([...ledger, ...signed], ledgerFile);
  console.log(`\n${sign} has signed ${plural(signed.length, "file")} in ${ledgerFile}.`);
} else {
  console.log(listOpen(report, programName(process.env)) || "Nothing is open.");
  for (const { where, text, shows } of claims.filter(({ isOurs, state }) => isOurs && state !== "settled"))
    console.log(`The default site, ${where}: ${visible(text)}${shows ? `; this would prove it: ${shows}` : ""}`);
}

/** 1.1.0 wrote facts in brackets, and `CO<sub>2</sub>` was read as CO2. */
function sameText(text = ""): string {
  const names = { brand: "brand", "legal name": "legalName", email: "contactEmail", "website URL": "websiteUrl" };
  const plain = text.normalize("NFKD");
  return Object.entries(names).reduce((all, [shown, name]) => all.replaceAll(`[${shown}]`, `{${name}}`), plain);
}

function marked(text: string): string {
  const found = strongWordsOf(text).map(({ word }) => RegExp.escape(word));
  return visible(text).replaceAll(new RegExp(found.join("|") || "$^", "gi"), "**$&**");
}
