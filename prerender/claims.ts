import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import type { ListedClaim } from "../contract/build-manifest.ts";
import { commandLine } from "../contract/commands.ts";
import { plural, visible } from "../contract/text.ts";
import { type CompanySettings, refusal, settingStrings, shown, siteFolder } from "./site-dir.ts";
import { STRONG_WORDS } from "./strong-words.ts";
import type { SiteText } from "./texts.ts";

/** The strong sentences of the default site, and the hashes of its texts as they were released. */
const OUR_LEDGER = "prerender/claims.json";
const OUR_SETTINGS = "app/site.ts";

const words = z.string();
const day = z.union([z.literal(""), z.iso.date()], "must be a day, such as 2026-01-31");
const entrySchema = z.strictObject({
  file: words.optional(),
  sha256: words.optional(),
  ours: words.optional(),
  /** A sentence with a strong word, and the page that shows it. */
  text: words.optional(),
  page: words.optional(),
  /** `at` is an address, a file beside the ledger or the name of a document; `exemption` an official recognition. */
  evidence: z.strictObject({ shows: words, at: words, until: day, exemption: words.optional() }).optional(),
  noClaim: words.optional(),
  by: words,
  on: day,
  /** The articles whose text was shown to who signed, for wording that they forbid. */
  law: words.optional(),
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

interface Company extends CompanySettings {
  siteDir: string;
  texts: readonly SiteText[];
  today?: string;
  /** Reads the ledger of the software as that of the company. */
  isOurs?: boolean;
}

/** `ours` is the hash of our policy that the file takes the place of. */
type FileSignature = Pick<Entry, "ours"> & { file: string; sha256: string };

interface Claims {
  claims: readonly ListedClaim[];
  /** The files that nobody has signed as they are, with all their sentences, and why a signature does not count. */
  unsigned: readonly (FileSignature & { sentences: readonly string[]; problem: string | null })[];
  /** What to check in the company's own policies. */
  policies: readonly string[];
  /** The policies that are signed, but before ours changed. To sign them again says that somebody compared them. */
  outdated: readonly FileSignature[];
  ledger: readonly Entry[];
  ledgerFile: string;
}

export async function readClaims(company: Company): Promise<Claims> {
  const { site, files, siteDir, texts, today = new Date().toISOString().slice(0, 10), isOurs = false } = company;
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
    const problem = entry && entryProblem(entry, dirname(ledgerFile), today);
    const { shows, until } = entry?.evidence ?? {};
    const end = entry && until ? lastDay(until, entry.on) : until;
    const hasEnded = Boolean(end && end < today && !entry?.evidence?.exemption);
    const state = !entry ? "open" : problem ? "withoutEvidence" : hasEnded ? "expired" : "settled";
    const isOurSentence = shippedKeys.has(key);
    const place = { text, page, where: `${file}:${line}`, isForbidden, isOurs: isOurSentence };
    claims.set(key, { ...place, state, shows, until: end, problem: problem ?? undefined, isShortened: end !== until });
  }

  const unsigned = new Map<string, Claims["unsigned"][number]>();
  const policies: string[] = [];
  const outdated: FileSignature[] = [];
  for (const file of [siteFile, OUR_SETTINGS, ...files.slice(1).map(shown), ...texts.map((text) => text.file)]) {
    const sha256 = await hashOf(file);
    const inFolder = relative(folder, resolve(file));
    const name = isOurs || inFolder.startsWith("..") ? file : inFolder;
    const replaced = name.startsWith("policies/") && name !== file && join("app", name);
    const ours = replaced && existsSync(replaced) ? { ours: await hashOf(replaced) } : {};
    const written = ledger.find((one) => one.file === name && one.sha256 === sha256);
    const problem = written ? signatureProblem(written, today) : null;
    const signature = problem === null ? written : undefined;
    if (replaced) policies.push(...retentionProblems(name, await readFile(file, "utf8")));
    if (signature && signature.ours !== ours.ours) {
      policies.push(`app/${name} has changed since ${name} was signed: compare them, and sign yours again`);
      outdated.push({ file: name, sha256, ...ours });
    }
    if (signature || (!isOurs && shipped.some((one) => one.sha256 === sha256))) continue;
    const decoration = texts.find((text) => text.file === file)?.decoration ?? [];
    const sentences = [
      ...places.filter((place) => place.file === file).map(({ text }) => text),
      ...decoration.map((picture) => `(a picture that says nothing to people who cannot see it: ${picture})`),
    ];
    unsigned.set(name, { file: name, sha256, ...ours, sentences, problem });
  }
  return { claims: [...claims.values()], unsigned: [...unsigned.values()], policies, outdated, ledger, ledgerFile };
}

async function hashOf(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** What this software deletes, and when, which a privacy policy says. */
const RETENTION_FACTS = ["deliveredKept", "failedKept", "quarantinedKept", "backupsKept", "requestLogKept"];

function retentionProblems(name: string, text: string): string[] {
  const missing = RETENTION_FACTS.filter((fact) => name.endsWith("/privacy.md") && !text.includes(`{${fact}}`));
  return missing.length > 0 ? [`${name} does not say ${missing.map((fact) => `{${fact}}`).join(", ")}`] : [];
}

/** Settings that no visitor reads as words. */
const NO_TEXT = /^(href|url|file|type|media|contactEmail|referencePrefix|look|heroFilm|network|unit)$/;
/** Where settings are shown; all others are in the frame of every page. */
const PAGE_OF: Readonly<Record<string, string>> = {
  hero: "/",
  heroPicture: "/",
  contactTagline: "/contact",
  pricePerTonne: "/contact",
  mailSignature: "replies",
};

/** Wording that the law forbids claims nothing only in a sentence that denies it. */
export function mayClaimNothing(text: string): boolean {
  return articlesOf(text).length === 0 || /\b(not?|never|neither|nor|cannot|without)\b|n['’]t\b/i.test(text);
}

/** Evidence counts for at most two years from its signature. */
function lastDay(until: string, signedOn: string): string {
  const limit = `${Number(signedOn.slice(0, 4)) + 2}${signedOn.slice(4)}`;
  return until > limit ? limit : until;
}

/** Why the signature does not count; `null` if it does. */
function signatureProblem({ by, on }: Pick<Entry, "by" | "on">, today: string): string | null {
  if (by.trim() === "" || on === "") return "nobody has signed it";
  if (!isName(by)) return `“${by}” is not the name of a person`;
  return on > today ? `it was signed on ${on}, which is in the future` : null;
}

/** A word of two letters or more, and no placeholder of a document. */
export function isName(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !/^(your )?name$/i.test(text.trim());
}

/** Why there is no such evidence; `null` if there may be. A file must be beside the ledger. */
export function placeProblem(at: string, folder: string): string | null {
  const isFile = /^[^/:][^:]*\.(pdf|docx?|odt|xlsx?|ods|csv|txt|md|html?|eml|zip|png|jpe?g)$/i.test(at);
  return isFile && !existsSync(join(folder, at)) ? `the file ${at} does not exist beside claims.json` : null;
}

export function articlesOf(text: string): string[] {
  return [...new Set(strongWordsOf(text).flatMap(({ law }) => law?.split(":")[0] ?? []))];
}

/** Why the entry does not settle its sentence. */
function entryProblem(entry: Entry, folder: string, today: string): string | null {
  const { evidence, noClaim, text = "", law = "" } = entry;
  const articles = articlesOf(text);
  const signature = signatureProblem(entry, today);
  if (signature !== null) return signature;
  if (noClaim && mayClaimNothing(text)) return null;
  if (noClaim) return "“noClaim” does not allow wording that the law forbids, unless the sentence denies it";
  const { shows = "", at = "", until = "", exemption = "" } = evidence ?? {};
  if (shows === "") return "its evidence does not say what it shows";
  if (at === "") return "its evidence does not say where it is";
  const place = placeProblem(at, folder);
  if (place !== null) return place;
  if (articles.length > 0 && exemption !== "") return null;
  if (until === "") return "its evidence has no last day";
  return articles.every((article) => law.includes(article))
    ? null
    : "the law forbids the wording, and its text was not shown to who signed";
}

/** Why each strong word matters, the law that forbids it, and a better sentence. */
export function explain(text: string): string[] {
  const groups = new Map(strongWordsOf(text).map((group) => [group.why, group]));
  const better = [...groups.values()].find((group) => group.better)?.better;
  return [
    ...[...groups.values()].map(
      ({ word, why, law }) => `“${word}”: ${why}${why.endsWith("?") ? "" : "."}${law ? ` Forbidden by ${law}.` : ""}`,
    ),
    ...(better ? [`Better: ${better}`] : []),
  ];
}

export function stateInWords({ state, until, problem }: ListedClaim): string {
  if (state === "open") return "needs an entry";
  if (problem) return problem;
  return state === "expired" ? `its evidence ended on ${until}` : `its evidence ends on ${until}`;
}

export function listOpen({ claims, unsigned }: Claims, program?: string): string {
  const files = unsigned.map(({ file, problem }) => (problem ? `  ${file} (${problem})` : `  ${file}`));
  const open = claims.filter(({ isOurs, state }) => !isOurs && state !== "settled");
  const sentences = open.flatMap((claim) => [
    `  ${claim.where}: ${visible(claim.text)} (${stateInWords(claim)})`,
    ...explain(claim.text).map((line) => `    ${line}`),
  ]);
  const sign = `To read and sign: ${commandLine('claims --sign "NAME"', program)}`;
  const review = `To answer them one by one: ${commandLine("claims --review", program)}`;
  return [
    ...(files.length > 0 ? [`Not signed as it is now: ${plural(files.length, "file")}`, ...files, sign] : []),
    ...(sentences.length > 0 ? [`${plural(open.length, "sentence")} with strong words:`, ...sentences, review] : []),
  ].join("\n");
}

const SEGMENTER = new Intl.Segmenter("en-GB", { granularity: "sentence" });

/** Also finds words with accents, invisible characters or in a hashtag, such as `#GoGreen`. */
export function strongWordsOf(sentence: string) {
  const letters = sentence
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{DI}]/gu, "")
    .replaceAll("’", "'");
  const words = letters.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|_/gu, " ").replaceAll(/[\s\p{Pd}]+/gu, " ");
  const plain = words.toLowerCase();
  return STRONG_WORDS.flatMap((group) =>
    group.with?.test(plain) === false ? [] : (plain.match(group.words) ?? []).map((word) => ({ word, ...group })),
  );
}

/** Without extra spaces, invisible characters and the final full stop. */
export function sentencesOf(text: string): string[] {
  // Marks of direction stay: they change what a visitor sees.
  const seen = text.replaceAll(/(?![\u202A-\u202E\u2066-\u2069])\p{DI}/gu, "").replaceAll(/\s+/g, " ");
  const segments = [...SEGMENTER.segment(seen.trim())];
  return segments.map(({ segment }) => segment.trim().replace(/\s*\.$/, "")).filter((sentence) => sentence !== "");
}
