import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { RenderedSite } from "../../app/render.tsx";
import type { ClaimsState } from "../../contract/build-manifest.ts";
import { parseContactMessage } from "../../contract/contact-message.ts";
import { sourceFiles } from "../site-dir.ts";
import { type ForbiddenWording, forbiddenWording } from "./forbidden.ts";
import { ledgerFile, type Review } from "./ledger.ts";
import { type Sentence, sentencesOfHtml, sentencesOfText } from "./sentences.ts";

/** A sentence that a visitor can read, and that speaks of the environment. */
export interface Statement {
  text: string;
  /** The first page that has it, or what else it is part of. */
  page: string;
  /** All of them. */
  pages: string[];
  /** Where it is written, if it can be found. */
  file: string | null;
  line: number | null;
  words: readonly { start: number; end: number }[];
  forbidden: ForbiddenWording | null;
}

export interface ClaimsReport {
  /** Where the ledger is. */
  ledger: string;
  statements: readonly Statement[];
  forbidden: readonly Statement[];
  unreviewed: readonly Statement[];
  /** Reviewed, but the evidence has ended, or there never was any. */
  expired: readonly Statement[];
  withoutEvidence: readonly Statement[];
  /** Reviews of sentences that are no longer on the site. */
  lost: readonly Review[];
}

export function reportClaims(rendered: RenderedSite, reviews: readonly Review[], now: Date): ClaimsReport {
  const statements = statementsOf(rendered);
  const byText = new Map(reviews.map((review) => [review.text, review]));
  const today = now.toISOString().slice(0, 10);
  const reviewed = (isKind: (review: Review) => boolean) =>
    statements.filter(({ text, forbidden }) => {
      const review = byText.get(text);
      return review !== undefined && forbidden === null && isKind(review);
    });
  return {
    ledger: ledgerFile(rendered.siteDir),
    statements,
    forbidden: statements.filter(({ forbidden }) => forbidden),
    unreviewed: statements.filter(({ text, forbidden }) => !forbidden && !byText.has(text)),
    expired: reviewed(({ evidence }) => evidence != null && evidence.until < today),
    withoutEvidence: reviewed(({ verdict, evidence }) => verdict === "claim" && evidence === null),
    lost: reviews.filter(({ text }) => !statements.some((statement) => statement.text === text)),
  };
}

/** What preflight needs to know, also on a later day. */
export function claimsState(report: ClaimsReport, reviews: readonly Review[]): ClaimsState {
  const lost = new Set(report.lost);
  return {
    unreviewed: report.unreviewed.length,
    withoutEvidence: report.withoutEvidence.map(({ text }) => text),
    evidence: reviews.flatMap((review) =>
      review.evidence && !lost.has(review) ? [{ text: review.text, until: review.evidence.until }] : [],
    ),
  };
}

/** What a build prints about them: one line for the reviews, then what the company has to prove. */
export function claimsToDo({ ledger, unreviewed, expired, withoutEvidence }: ClaimsReport): string[] {
  const open = [
    ...(unreviewed.length > 0 ? [`${unreviewed.length} sentences about the environment are not reviewed`] : []),
    ...(expired.length > 0 ? [`the evidence for ${expired.length} has ended`] : []),
  ];
  return [
    ...(open.length > 0 ? [`${open.join(", ")}; npm run claims`] : []),
    ...(withoutEvidence.length > 0 ? [`To do before launch, show the evidence in ${ledger} for:`] : []),
    ...withoutEvidence.map(({ text }) => `  ${text}`),
  ];
}

/** Why the build stops; empty if it does not. */
export function forbiddenText({ forbidden }: ClaimsReport): string {
  return forbidden
    .map(({ text, forbidden: wording, ...place }) =>
      [`${placeText(place)}: ${text}`, `  forbidden: ${wording?.law}`, `  better: ${wording?.better}`].join("\n"),
    )
    .join("\n");
}

export function placeText({ page, file, line }: Pick<Statement, "page" | "file" | "line">): string {
  return file === null ? page : `${page} (${file}${line === null ? "" : `:${line}`})`;
}

function statementsOf(rendered: RenderedSite): Statement[] {
  const found = new Map<string, Statement>();
  const read = (file: string): [string, string] => [file, readFileSync(file, "utf8")];
  const { site, siteDir } = rendered;
  const sources = sourceFiles(siteDir).map(read);
  const add = (page: string, file: string | null, sentences: readonly Sentence[]) => {
    for (const sentence of sentences) {
      const { text } = sentence;
      const known = found.get(text);
      if (known) {
        if (!known.pages.includes(page)) known.pages.push(page);
        continue;
      }
      const words = wordsToReview(text, [site.legalName, site.brand]);
      const forbidden = forbiddenWording(sentence);
      if (words.length === 0 && !forbidden) continue;
      const place = findSource(text, file === null ? sources : [read(relative("", file))]);
      found.set(text, { text, page, pages: [page], ...place, words, forbidden });
    }
  };
  for (const { name, file, html, saveDataHtml } of [...rendered.pages, rendered.comingSoon, rendered.failure])
    add(name, file, [...sentencesOfHtml(html), ...sentencesOfHtml(saveDataHtml ?? "")]);
  const parsed = parseContactMessage({});
  const fieldErrors = parsed.ok ? [] : Object.values(parsed.fields).flatMap((text) => sentencesOfText(text));
  add("contact form", null, [...sentencesOfHtml(rendered.scriptTexts), ...fieldErrors]);
  const { subject, body } = site.acknowledgement;
  add(
    "mail to senders",
    null,
    [subject, body].flatMap((text) => sentencesOfText(text)),
  );
  return [...found.values()];
}

/** Looks for the first words of a sentence, whatever markup is between them. */
function findSource(
  text: string,
  sources: readonly [file: string, source: string][],
): Pick<Statement, "file" | "line"> {
  const longestRun = text.split(/\{\w+\}/).reduce((longest, run) => (run.length > longest.length ? run : longest));
  const words = longestRun.match(/[\p{L}\d]+/gu)?.slice(0, 8) ?? [];
  const pattern = new RegExp(`(?<![\\p{L}\\d])${words.join("(?:<[^>]*>|\\]\\([^)]*\\)|[^\\p{L}\\d<])+")}`, "u");
  for (const [file, source] of sources) {
    const index = source.search(pattern);
    if (index >= 0) return { file, line: source.slice(0, index).split("\n").length };
  }
  return { file: null, line: null };
}

const LINES = readFileSync(new URL("vocabulary.txt", import.meta.url), "utf8").split("\n");
const WORDS = LINES.filter((line) => line.includes(":") && !line.startsWith("#")).flatMap((line) =>
  line.slice(line.indexOf(":") + 1).split(","),
);

const SUBJECT_TO_REVIEW = new RegExp(`(?<![\\p{L}\\d])(?:${WORDS.map(patternOf).join("|")})(?![\\p{L}\\d])`, "giu");

function patternOf(word: string): string {
  const literal = word.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return literal.replaceAll("\\*", "\\p{L}*").replaceAll(" ", "[\\s\\-‐-―]*");
}

/** The words that make a sentence subject to review; none if it is not. Our own names do not count. */
export function wordsToReview(sentence: string, ourNames: readonly string[]): { start: number; end: number }[] {
  // CO₂ and CO² count as CO2. Only digits are replaced, so that positions stay the same.
  const plain = sentence.replaceAll(/[²₀-₉]/g, (digit) => digit.normalize("NFKC"));
  const others = ourNames.reduce((text, name) => text.replaceAll(name, " ".repeat(name.length)), plain);
  return [...others.matchAll(SUBJECT_TO_REVIEW)].map(({ index, 0: word }) => ({
    start: index,
    end: index + word.length,
  }));
}
