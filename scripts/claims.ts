// `npm run claims`: lists the sentences of the site that need attention, and signs them.
import { parseArgs } from "node:util";
import { z } from "zod";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { plural } from "../contract/plural.ts";
import { visible } from "../contract/visible-text.ts";
import { listUnsigned, reportClaims, type Sentence } from "../prerender/claims/claims.ts";
import {
  type Entry,
  entrySchema,
  isForbidden,
  OUR_LEDGER,
  readLedger,
  writeLedger,
} from "../prerender/claims/ledger.ts";
import { strongWordsOf } from "../prerender/claims/strong-words.ts";
import { renderFromSources } from "../prerender/load-renderer.ts";

const USAGE = `Usage: npm run claims [-- --json | -- review ["WORDS"] [--name "NAME"] [--ours]]; docs/claims.md explains it.`;
const JSON_KEYS = "unsigned unreviewed expired withoutEvidence acceptedForbidden text where entry by on reason needs";
const DECISIONS = `  e: claim with evidence, m: claim whose evidence is missing, n: no claim, s: skip, I will reword it, q: quit
e, m, n, s or q: `;
/** Input beyond these limits does not come from a person. */
const MAX = { attempts: 5, length: 1000 };

const flag = { type: "boolean" } as const;
const options = { help: flag, json: flag, ours: flag, name: { type: "string" } } as const;
// Not strict, so that a mistyped option shows the usage instead of a stack.
const { values, positionals, tokens } = parseArgs({ options, allowPositionals: true, strict: false, tokens: true });
const [command = "", wanted = ""] = positionals;
const signer = typeof values.name === "string" ? values.name : undefined;
const isKnown = tokens.every((token) => token.kind !== "option" || token.name in options);
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (!isKnown || positionals.length > 2 || !["", "review"].includes(command)) {
  console.error(USAGE);
  process.exit(2);
}
const on = new Date().toISOString().slice(0, 10);
const { siteDir } = parseBuildSettings(process.env).settings;
const sites = [await renderFromSources()];
// With these settings the site shows the sentences of ours that the defaults leave out.
if (values.ours) sites.push(await renderFromSources("tests/fixtures/every-setting/variables.env"));
const report = await reportClaims(sites, on);
const { sentences, unsigned, unreviewed, expired, withoutEvidence, acceptedForbidden } = report;
if (values.json) console.log(JSON.stringify(report, JSON_KEYS.split(" "), 1));
else if (command === "review") {
  const again = sentences.filter(({ text }) => text.toLowerCase().includes(wanted.toLowerCase()));
  const open = wanted ? again : [...new Set([...unsigned, ...unreviewed, ...expired])];
  const file = values.ours ? OUR_LEDGER : `${siteDir}claims.json`;
  await review(open, file).catch(({ message }: Error) => console.error(`\n${message}`));
  process.stdin.destroy();
} else {
  for (const { text, where, entry } of new Set([...withoutEvidence, ...expired, ...acceptedForbidden])) {
    console.log(`${where}\n  ${text}`);
    if (entry?.needs) console.log(`  needs ${entry.needs}`);
    if (entry?.evidence) console.log(`  evidence until ${entry.evidence.until}`);
    if (entry?.reason) console.log(`  forbidden by law; accepted by ${entry.by} on ${entry.on}: ${entry.reason}`);
  }
  const list = await listUnsigned(report, siteDir);
  console.log(`${list && `${list}\n`}${plural(sentences.length, "sentence")}, ${unsigned.length} of them not signed.`);
}

/** Shows the sentences page by page. Asks about each one with a strong word, and for one signature for the others. */
async function review(open: readonly Sentence[], file: string): Promise<void> {
  // Not readline, which buffers unread input in memory without a limit.
  const lines = process.stdin.setEncoding("utf8").flatMap((chunk: string) => chunk.replace(/\n$/, "").split("\n"));
  const input = lines[Symbol.asyncIterator]();
  const ledger = await readLedger(file, on);
  const { by: notEmpty, evidence: proof } = entrySchema(on).shape;
  const by = signer ?? (await ask("Who reviews (name or role): ", notEmpty));
  for (const [page, shown] of Map.groupBy(open, (sentence) => sentence.page)) {
    console.log(`\n${page}`);
    for (const { text } of shown) console.log(`  ${highlighted(text)}`);
    const plain = shown.filter(({ text }) => strongWordsOf(text).length === 0);
    for (const sentence of shown) if (!plain.includes(sentence)) await decide(sentence);
    const signs = `${by} has read the ${plural(plain.length, "sentence")} of ${page} without a marked word, and signs`;
    const answer = plain.length > 0 && (await ask(`\n${signs} (y: yes, s: skip, q: quit): `, z.enum(["y", "s"])));
    if (answer === "y") ledger.push(...plain.map(({ text }) => ({ text, by, on })));
    await writeLedger(ledger, file);
  }

  async function decide({ text, where, entry }: Sentence): Promise<void> {
    console.log(`\n${where}\n  ${highlighted(text)}`);
    for (const { word, why, law, better } of strongWordsOf(text))
      console.log(`    “${word}”: ${why}${law ? `\n    ${law}.\n    Better: ${better}` : ""}`);
    if (entry?.verdict) console.log(`  Before: ${entry.verdict} (${entry.by}, ${entry.on})`);
    const answer = await ask(DECISIONS, z.enum(["e", "m", "n", "s"]));
    if (answer === "s") return;
    const verdict = answer === "n" ? "no claim" : "claim";
    const evidence = answer === "e" && { evidence: await askEvidence() };
    const needs = answer === "m" && { needs: await ask("What would prove it: ", notEmpty) };
    const reason = isForbidden(text) && { reason: await ask("Why may the forbidden wording stay: ", notEmpty) };
    ledger.push({ text, verdict, ...reason, ...evidence, ...needs, by, on });
    await writeLedger(ledger, file);
  }

  async function askEvidence(): Promise<NonNullable<Entry["evidence"]>> {
    const known = new Map(ledger.map(({ evidence }) => [JSON.stringify(evidence), evidence]));
    const valid = [...known.values()].filter((evidence) => evidence && evidence.until >= on);
    for (const [index, one] of valid.entries()) console.log(`  ${index + 1}  ${one?.shows} (until ${one?.until})`);
    const { shows, at, until } = proof.unwrap().shape;
    const text = await ask("What proves it (text, or a number from the list above): ", shows);
    const place = () => ask("Where is the proof (a URL, a file, or a document's name with its year): ", at);
    const end = () => ask("Until which day is the proof valid (such as 2026-01-31): ", until);
    return valid[Number(text) - 1] ?? { shows: text, at: await place(), until: await end() };
  }

  /** Repeats the question until the answer is valid. Rejects when the reviewer quits, or the input ends. */
  async function ask<Answer extends string>(question: string, valid: z.ZodType<Answer>): Promise<Answer> {
    for (let attempt = 0; attempt < MAX.attempts; attempt += 1) {
      process.stdout.write(question);
      const { value: line = "q" } = await input.next();
      if (line.trim() === "q") break;
      const { data, error } = valid.safeParse(line.length > MAX.length ? "" : line.trim());
      if (data !== undefined) return data;
      console.log(`  ${error?.issues[0]?.message}`);
    }
    throw new Error("The review has ended. All earlier answers are saved.");
  }
}

function highlighted(text: string): string {
  const found = strongWordsOf(text).map(({ word }) => RegExp.escape(word));
  return visible(text).replaceAll(new RegExp(found.join("|") || "$^", "gi"), "**$&**");
}
