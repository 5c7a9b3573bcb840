import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import type { SiteSettings } from "../app/site-schema.ts";
import type { ListedClaim } from "../contract/build-manifest.ts";
import { commandLine } from "../contract/commands.ts";
import { plural, visible } from "../contract/text.ts";
import { refusal, settingStrings, shown, siteFolder } from "./site-dir.ts";
import STRONG_WORDS from "./strong-words.json" with { type: "json" };
import type { SiteText } from "./texts.ts";

/** The strong sentences of the default site, and the hashes of its texts as they were released. */
const OUR_LEDGER = "prerender/claims.json";
const OUR_SETTINGS = "app/site.ts";

const words = z.string();
const day = z.union([z.literal(""), z.iso.date()], "must be a day, such as 2026-01-31");
const entrySchema = z.strictObject({
  file: words.optional(),
  sha256: words.optional(),
  /** A sentence with a strong word. Entries of 1.1.0 have no page; their other fields follow below. */
  text: words.optional(),
  page: words.optional(),
  /** `at` is an address, a file beside the ledger or the name of a document; `exemption` an official recognition. */
  evidence: z.strictObject({ shows: words, at: words, until: day, exemption: words.optional() }).optional(),
  noClaim: words.optional(),
  by: words,
  on: day,
  verdict: words.optional(),
  reason: words.optional(),
  needs: words.optional(),
});
export type Entry = z.infer<typeof entrySchema>;

/** A missing file is an empty ledger. Rejects with every problem and its entry. */
export async function readLedger(file: string): Promise<Entry[]> {
  if (!existsSync(file)) return [];
  const refuse = (why: string) => refusal(`${file} is not valid:\n${why}`);
  const content: unknown = await readFile(file, "utf8")
    .then(JSON.parse)
    .catch(({ message }: Error) => Promise.reject(refuse(message)));
  const { data, error } = z.array(entrySchema).safeParse(content);
  if (error) throw refuse(z.prettifyError(error));
  return data;
}

/** One line for each entry, sorted, so that two changes can be merged. The file is never half written. */
export async function writeLedger(entries: readonly Entry[], file: string): Promise<void> {
  const newest = new Map(entries.map((entry) => [keyOf(entry), JSON.stringify(entry)]));
  const lines = [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  await writeFile(`${file}.new`, `[\n${lines.join(",\n")}\n]\n`);
  await rename(`${file}.new`, file);
}

/** A sentence needs an entry for each page that shows it. */
function keyOf({ file = "", page = "", text = "" }: Partial<Entry>): string {
  return [file === "" ? 1 : 0, file, page, text].join("\n");
}

interface Company {
  site: SiteSettings;
  siteDir: string;
  texts: readonly SiteText[];
  today?: string;
  /** Reads the ledger of the software as that of the company. */
  isOurs?: boolean;
}

interface Claims {
  claims: readonly ListedClaim[];
  /** The files that nobody has signed as they are, with all their sentences. */
  unsigned: readonly { file: string; sha256: string; sentences: readonly string[] }[];
  ledger: readonly Entry[];
  ledgerFile: string;
}

export async function readClaims(company: Company): Promise<Claims> {
  const { site, siteDir, texts, today = new Date().toISOString().slice(0, 10), isOurs = false } = company;
  const ledgerFile = isOurs ? OUR_LEDGER : `${siteDir}claims.json`;
  const [shipped, ledger] = [await readLedger(OUR_LEDGER), await readLedger(ledgerFile)];
  const shippedKeys = new Set(shipped.map(keyOf));
  const entries = new Map([...shipped, ...ledger].map((entry) => [keyOf(entry), entry]));
  const folder = siteFolder(siteDir);
  const siteFile = shown(join(folder, "site.ts"));
  const settings = (await settingStrings(site, siteDir)).flatMap(({ names, value, file, line }) => {
    const page = PAGE_OF[names[0] ?? ""] ?? "every page";
    return names.some((name) => NO_TEXT.test(name)) ? [] : { file, page, blocks: [{ text: value, line }] };
  });
  const places = [...settings, ...texts].flatMap(({ file, page, blocks }) =>
    blocks.flatMap(({ text, line }) => sentencesOf(text).map((sentence) => ({ file, page, line, text: sentence }))),
  );

  const claims = new Map<string, ListedClaim>();
  for (const { file, page, line, text } of places) {
    const strong = strongWordsOf(text);
    const key = keyOf({ page, text });
    if (strong.length === 0 || claims.has(key)) continue;
    const entry = entries.get(key);
    const isForbidden = strong.some(({ law }) => law);
    const state = entry ? stateOf(entry, isForbidden, dirname(ledgerFile), today) : "open";
    const { shows, until } = entry?.evidence ?? {};
    const isShipped = shippedKeys.has(key);
    claims.set(key, { text, page, where: `${file}:${line}`, state, isForbidden, isOurs: isShipped, shows, until });
  }

  const unsigned = new Map<string, Claims["unsigned"][number]>();
  for (const file of [siteFile, OUR_SETTINGS, ...texts.map((text) => text.file)]) {
    const content = await readFile(file);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const inFolder = relative(folder, resolve(file));
    const name = isOurs || inFolder.startsWith("..") ? file : inFolder;
    const isSigned = ledger.some((one) => one.file === name && one.sha256 === sha256 && one.by !== "");
    if (isSigned || (!isOurs && shipped.some((one) => one.sha256 === sha256))) continue;
    const sentences = places.filter((place) => place.file === file).map(({ text }) => text);
    unsigned.set(name, { file: name, sha256, sentences });
  }
  return { claims: [...claims.values()], unsigned: [...unsigned.values()], ledger, ledgerFile };
}

/** Settings that no visitor reads as words. */
const NO_TEXT = /^(href|url|file|type|media|contactEmail|referencePrefix|look|heroFilm|network|currency|unit)$/;
/** Where settings are shown; all others are in the frame of every page. */
const PAGE_OF: Readonly<Record<string, string>> = {
  hero: "/",
  heroPicture: "/",
  contactTagline: "/contact",
  pricePerTonne: "/contact",
  mailSignature: "replies",
};

const DENIAL = /\b(not?|never|neither|nor|cannot|without)\b|n['’]t\b/i;

function stateOf(entry: Entry, isForbidden: boolean, folder: string, today: string): ListedClaim["state"] {
  const { evidence, noClaim, by, on, text = "" } = entry;
  if (by === "" || on === "") return "withoutEvidence";
  if (noClaim && (!isForbidden || DENIAL.test(text))) return "settled";
  const { shows = "", at = "", until = "", exemption = "" } = evidence ?? {};
  // A file that an entry names must exist.
  const isFile = /^[^\s:/][^\s:]*\.\w{2,5}$/.test(at);
  if (shows === "" || at === "" || (isFile && !existsSync(join(folder, at)))) return "withoutEvidence";
  if (isForbidden && exemption !== "") return "settled";
  if (until === "") return "withoutEvidence";
  return until < today ? "expired" : "settled";
}

const STATE = {
  open: "needs an entry",
  withoutEvidence: "its entry is not complete",
  expired: "its evidence has ended",
};

export function listOpen({ claims, unsigned, ledgerFile }: Claims, program?: string): string {
  const files = unsigned.map(({ file }) => `  ${file}`);
  const sentences = claims.flatMap(({ where, text, state, isOurs }) =>
    isOurs || state === "settled" ? [] : `  ${where}: ${visible(text)} (${STATE[state]})`,
  );
  const sign = `To read and sign: ${commandLine('claims --sign "NAME"', program)}`;
  const write = `To add missing entries to ${ledgerFile}: ${commandLine("claims --write", program)}`;
  return [
    ...(files.length > 0 ? [`Not signed as it is now: ${plural(files.length, "file")}`, ...files, sign] : []),
    ...(sentences.length > 0
      ? [`${plural(sentences.length, "sentence")} with strong words:`, ...sentences, write]
      : []),
  ].join("\n");
}

/** `words` make a sentence a claim, if it also has a word of `with`; `law` is the article that forbids the wording. */
const WORD_GROUPS: readonly { words: string; with?: string; law?: string }[] = STRONG_WORDS;
const PATTERNS = WORD_GROUPS.map(({ words, with: others, ...group }) => {
  return { pattern: patternOf(words), needed: others === undefined ? /^/ : patternOf(others), group };
});
const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

/** `*` matches any letters; a space matches a space, a hyphen or nothing; `#` matches a figure. */
function patternOf(words: string): RegExp {
  const wholeWord = words.replaceAll(".", "\\.").replaceAll(/(?<=^|, )(?!\*)/g, "(?<!\\p{L})");
  const endings = wholeWord.replaceAll(/(?<=^|, )\*/g, "").replaceAll(/(?<![)\]])\*/g, "[\\p{L}\\d]*");
  const alternatives = endings.replaceAll(", ", "|").replaceAll(" ", "[\\s\\-‐-―]*").replaceAll("#", "[\\d#{]\\S*");
  return new RegExp(`(?:${alternatives})(?!\\p{L})`, "giu");
}

/** Also finds words with accents, invisible characters or in a hashtag, such as `#GoGreen`. */
export function strongWordsOf(sentence: string) {
  const letters = sentence
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{DI}]/gu, "")
    .replaceAll("’", "'");
  const plain = letters.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, " ").toLowerCase();
  const found = PATTERNS.filter(({ pattern, needed }) => plain.search(pattern) >= 0 && plain.search(needed) >= 0);
  return found.flatMap(({ pattern, group }) => (plain.match(pattern) ?? []).map((word) => ({ word, ...group })));
}

/** Without extra spaces, invisible characters and the final full stop. */
export function sentencesOf(text: string): string[] {
  // Marks of direction stay: they change what a visitor sees.
  const seen = text.replaceAll(/(?![\u202A-\u202E\u2066-\u2069])\p{DI}/gu, "").replaceAll(/\s+/g, " ");
  const segments = [...SEGMENTER.segment(seen.trim())];
  return segments.map(({ segment }) => segment.trim().replace(/\s*\.$/, "")).filter((sentence) => sentence !== "");
}
