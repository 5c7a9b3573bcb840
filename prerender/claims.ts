import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import type { SiteSettings } from "../app/site-schema.ts";
import type { ListedClaim } from "../contract/build-manifest.ts";
import { commandLine } from "../contract/commands.ts";
import { plural } from "../contract/plural.ts";
import { visible } from "../contract/visible-text.ts";
import { shown } from "./page-files.ts";
import { refusal } from "./refusal.ts";
import { siteFolder } from "./site-dir.ts";
import { sentencesOf, strongWordsOf } from "./strong-words.ts";
import type { SiteText } from "./texts.ts";

/** The strong sentences of the default site, and the files of `app/` as they were released. */
export const OUR_LEDGER = "prerender/claims.json";

const signature = { by: z.string(), on: z.union([z.literal(""), z.iso.date()]) };
const fileEntry = z.strictObject({ file: z.string(), sha256: z.string(), ...signature });
const claimEntry = z.strictObject({
  text: z.string(),
  page: z.string(),
  evidence: z
    .strictObject({
      shows: z.string(),
      /** A web address, a path of the site, a file beside the ledger, or the name of a document. */
      at: z.string(),
      until: z.union([z.literal(""), z.iso.date()]),
      /** The official recognition that allows a forbidden wording, such as an EU Ecolabel licence. */
      exemption: z.string().optional(),
    })
    .optional(),
  /** Why a sentence with a strong word claims nothing. */
  noClaim: z.string().optional(),
  ...signature,
});
/** An entry of 1.1.0, which has no page. */
const oldEntry = z.looseObject({
  text: z.string(),
  evidence: claimEntry.shape.evidence,
  reason: z.string().optional(),
});

type ClaimEntry = z.infer<typeof claimEntry>;
export interface Ledger {
  files: z.infer<typeof fileEntry>[];
  claims: ClaimEntry[];
  old: z.infer<typeof oldEntry>[];
}

/** A missing file is an empty ledger. Rejects with every problem and its entry. */
export async function readLedger(file: string): Promise<Ledger> {
  const ledger: Ledger = { files: [], claims: [], old: [] };
  if (!existsSync(file)) return ledger;
  const content: unknown = await readFile(file, "utf8")
    .then(JSON.parse)
    .catch(({ message }: Error) => Promise.reject(refusal(`${file} is not valid: ${message}`)));
  const problems: string[] = [];
  for (const [index, entry] of (Array.isArray(content) ? content : [content]).entries()) {
    const add = <Entry>(schema: z.ZodType<Entry>, list: Entry[]) => {
      const { data, error } = schema.safeParse(entry);
      if (data !== undefined) list.push(data);
      for (const { path, message } of error?.issues ?? [])
        problems.push(`entry ${index + 1}: ${[...path, message].join(": ")}`);
    };
    const keys = Object.keys(Object(entry));
    if (keys.includes("file")) add(fileEntry, ledger.files);
    else if (keys.includes("page")) add(claimEntry, ledger.claims);
    else add(oldEntry, ledger.old);
  }
  if (problems.length > 0) throw refusal(`${file} is not valid:\n  ${problems.join("\n  ")}`);
  return ledger;
}

/** One line for each entry, sorted, so that two changes can be merged. The file is never half written. */
export async function writeLedger({ files, claims, old }: Ledger, file: string): Promise<void> {
  const sorted = <Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => string) =>
    [...new Map(entries.map((entry) => [keyOf(entry), entry])).entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, entry]) => JSON.stringify(entry));
  const lines = [...sorted(files, (entry) => entry.file), ...sorted(claims, keyOf), ...sorted(old, ({ text }) => text)];
  await writeFile(`${file}.new`, `[\n${lines.join(",\n")}\n]\n`);
  await rename(`${file}.new`, file);
}

/** A sentence needs an entry for each page that shows it. */
export function keyOf({ page, text }: { page: string; text: string }): string {
  return `${page}\n${text}`;
}

/** A file that nobody has signed as it is, with all its sentences. */
export interface UnsignedFile {
  file: string;
  sha256: string;
  sentences: readonly string[];
}

export interface Claims {
  claims: readonly ListedClaim[];
  unsigned: readonly UnsignedFile[];
  /** The company's ledger, and the folder that its entries refer to. */
  ledger: Ledger;
  ledgerFile: string;
}

interface ClaimsOptions {
  /** The complete settings, and their folder. */
  site: SiteSettings;
  siteDir: string;
  texts: readonly SiteText[];
  today: string;
  /** Reads the ledger of the software as that of the company. */
  isOurs?: boolean;
}

/** Reads all that a company can write, and looks up its files and its sentences with strong words in the ledgers. */
export async function readClaims({ site, siteDir, texts, today, isOurs = false }: ClaimsOptions): Promise<Claims> {
  const ledgerFile = isOurs ? OUR_LEDGER : `${siteDir}claims.json`;
  const [ours, ledger] = [await readLedger(OUR_LEDGER), await readLedger(ledgerFile)];
  const [shipped, own] = [ours.claims, ledger.claims].map((list) => new Map(list.map((one) => [keyOf(one), one])));
  const folder = siteFolder(siteDir);
  const siteFile = shown(join(folder, "site.ts"));
  const siteLines = (await readFile(siteFile, "utf8")).split("\n");
  const lineOf = (text: string) =>
    1 +
    Math.max(
      0,
      siteLines.findIndex((line) => line.includes(text.slice(0, 40))),
    );
  const strings = stringsOf(site).map(({ text, page }) => ({
    file: siteFile,
    page,
    blocks: [{ text, line: lineOf(text) }],
  }));
  const places = [...strings, ...texts].flatMap(({ file, page, blocks }) =>
    blocks.flatMap(({ text, line }) => sentencesOf(text).map((sentence) => ({ file, page, line, text: sentence }))),
  );

  const found = new Map<string, ListedClaim>();
  for (const { file, page, line, text } of places) {
    const strong = strongWordsOf(text);
    const key = keyOf({ page, text });
    if (strong.length === 0 || found.has(key)) continue;
    const entry = own?.get(key) ?? shipped?.get(key);
    const isForbidden = strong.some(({ law }) => law);
    const state = stateOf(entry, isForbidden, dirname(ledgerFile), today);
    const { shows, until } = entry?.evidence ?? {};
    const where = `${file}:${line}`;
    found.set(key, { text, page, where, state, isForbidden, isOurs: shipped?.has(key) === true, shows, until });
  }

  const unsigned: UnsignedFile[] = [];
  for (const file of new Set([siteFile, "app/site.ts", ...texts.map((text) => text.file)])) {
    const sha256 = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    const inFolder = relative(folder, resolve(file));
    const name = isOurs || inFolder.startsWith("..") ? file : inFolder;
    const isSigned = ledger.files.some((one) => one.file === name && one.sha256 === sha256 && one.by !== "");
    if (isSigned || (!isOurs && ours.files.some((one) => one.sha256 === sha256))) continue;
    const sentences = places.filter((place) => place.file === file).map(({ text }) => text);
    unsigned.push({ file: name, sha256, sentences });
  }
  return { claims: [...found.values()], unsigned, ledger, ledgerFile };
}

/** Settings that no visitor reads as words. */
const NO_TEXT = /^(href|url|file|type|media|contactEmail|referencePrefix|look|heroFilm|network|currency|unit)$/;
/** Where the settings are shown; all others are in the frame of every page. */
const PAGE_OF: Readonly<Record<string, string>> = {
  hero: "/",
  heroPicture: "/",
  contactTagline: "/contact",
  pricePerTonne: "/contact",
  mailSignature: "replies",
};

function stringsOf(value: unknown, page = ""): { text: string; page: string }[] {
  if (typeof value === "string") return [{ text: value, page }];
  return Object.entries(Object(value)).flatMap(([name, inner]) => {
    if (!Array.isArray(value) && NO_TEXT.test(name)) return [];
    return stringsOf(inner, page || (PAGE_OF[name] ?? "every page"));
  });
}

const DENIAL = /\b(not?|never|neither|nor|cannot|without)\b|n['’]t\b/i;

function stateOf(
  entry: ClaimEntry | undefined,
  isForbidden: boolean,
  folder: string,
  today: string,
): ListedClaim["state"] {
  if (!entry) return "open";
  const { evidence, noClaim, by, on, text } = entry;
  if (by === "" || on === "") return "withoutEvidence";
  if (noClaim && (!isForbidden || DENIAL.test(text))) return "settled";
  if (!evidence?.shows || !evidence.at || !isPlace(evidence.at, folder)) return "withoutEvidence";
  if (isForbidden && evidence.exemption) return "settled";
  if (!evidence.until) return "withoutEvidence";
  return evidence.until < today ? "expired" : "settled";
}

/** A file that an entry names must exist. */
function isPlace(at: string, folder: string): boolean {
  const isFile = /^[^\s:]+\.\w{2,5}$/.test(at) && !at.startsWith("/");
  return !isFile || existsSync(join(folder, at));
}

/** A sentence that may not be published yet. */
export function isOpen({ state }: ListedClaim): boolean {
  return state !== "settled";
}

const STATE = {
  open: "needs an entry",
  withoutEvidence: "its entry is not complete",
  expired: "its evidence has ended",
};

/** What stops a build: whatever is open in the company's own texts. Empty if nothing is. */
export function listOpen({ claims, unsigned, ledgerFile }: Claims, program?: string): string {
  const files = unsigned.map(({ file }) => `  ${file}`);
  const sentences = claims.flatMap(({ where, text, state, isOurs }) =>
    isOurs || state === "settled" ? [] : `  ${where}: ${visible(text)} (${STATE[state]})`,
  );
  return [
    ...(files.length > 0
      ? [
          `Nobody has signed ${plural(files.length, "file")} as ${files.length === 1 ? "it is" : "they are"}:`,
          ...files,
          `To read and sign: ${commandLine('claims --sign "NAME"', program)}`,
        ]
      : []),
    ...(sentences.length > 0
      ? [
          `${plural(sentences.length, "sentence")} with strong words:`,
          ...sentences,
          `To add missing entries to ${ledgerFile}: ${commandLine("claims --write", program)}`,
        ]
      : []),
  ].join("\n");
}
