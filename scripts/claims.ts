// `npm run claims`: lists what is open about the company's texts, adds the missing entries, signs files.
import { parseArgs } from "node:util";
import { completeSettings } from "../app/settings.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { visible } from "../contract/visible-text.ts";
import { isOpen, listOpen, readClaims, writeLedger } from "../prerender/claims.ts";
import { problemsError } from "../prerender/page-files.ts";
import { readOwnSettings } from "../prerender/site-dir.ts";
import { strongWordsOf } from "../prerender/strong-words.ts";
import { readTexts } from "../prerender/texts.ts";

const USAGE = `Usage: npm run claims [-- --write | --json | --sign "NAME"] [--ours]; docs/claims.md explains it.`;
const flag = { type: "boolean" } as const;
const options = { write: flag, json: flag, sign: { type: "string" }, ours: flag } as const;
const { values, tokens } = parseArgs({ options, strict: false, allowPositionals: true, tokens: true });
const { write, json, sign, ours } = values;
const isKnown = tokens.every((token) => token.kind === "option" && token.name in options);
if (!isKnown || sign === true || sign === "") {
  console.error(USAGE);
  process.exit(2);
}

const today = new Date().toISOString().slice(0, 10);
// The ledger of the software is for its authors.
const siteDir = ours ? "app/" : parseBuildSettings(process.env).settings.siteDir;
const { texts, problems } = await readTexts(siteDir);
if (problems.length > 0) console.error(problemsError(problems).message);
const site = completeSettings(await readOwnSettings(siteDir));
const report = await readClaims({ site, siteDir, texts, today, isOurs: ours === true });
const { claims, unsigned, ledger, ledgerFile } = report;

if (json) {
  const inState = (state: string) => claims.filter((claim) => claim.state === state);
  const [open, expired, withoutEvidence] = ["open", "expired", "withoutEvidence"].map(inState);
  console.log(
    JSON.stringify({ open, expired, withoutEvidence, unsigned: unsigned.map(({ file }) => ({ file })) }, null, 1),
  );
} else if (write) {
  const added = claims
    .filter((claim) => claim.state === "open")
    .map(({ text, page }) => {
      const old = ledger.old.find((entry) => withFacts(entry.text) === text);
      const { by = "", on = "" } = old?.evidence ? (old as { by?: string; on?: string }) : {};
      return { text, page, evidence: old?.evidence ?? { shows: "", at: "", until: "" }, by, on };
    });
  await writeLedger(
    { ...ledger, claims: [...ledger.claims, ...added], old: ledger.old.filter(({ evidence }) => evidence) },
    ledgerFile,
  );
  console.log(
    `${ledgerFile}: ${added.length} entries added. Fill in their evidence, or replace it by "noClaim": "why".`,
  );
} else if (typeof sign === "string") {
  for (const { file, sha256, sentences } of unsigned) {
    console.log(`\n${file}`);
    for (const text of sentences) console.log(`  ${marked(text)}`);
    ledger.files = [...ledger.files.filter((entry) => entry.file !== file), { file, sha256, by: sign, on: today }];
  }
  await writeLedger(ledger, ledgerFile);
  console.log(`\n${sign} has signed ${unsigned.length} files in ${ledgerFile}.`);
} else {
  console.log(listOpen(report) || "Nothing is open.");
  for (const { where, text, shows } of claims.filter((claim) => claim.isOurs && isOpen(claim)))
    console.log(`The default site, ${where}: ${visible(text)}${shows ? `; this would prove it: ${shows}` : ""}`);
}

/** 1.1.0 wrote facts in brackets. */
function withFacts(text: string): string {
  const names = { brand: "brand", "legal name": "legalName", email: "contactEmail", "website URL": "websiteUrl" };
  return Object.entries(names).reduce((all, [shown, name]) => all.replaceAll(`[${shown}]`, `{${name}}`), text);
}

function marked(text: string): string {
  const found = strongWordsOf(text).map(({ word }) => RegExp.escape(word));
  return visible(text).replaceAll(new RegExp(found.join("|") || "$^", "gi"), "**$&**");
}
