import type { RenderedPage, RenderedSite } from "../../app/render.tsx";
import type { ClaimsState } from "../../contract/build-manifest.ts";
import { plural } from "../../contract/plural.ts";
import { OUR_LEDGER, type Review, readLedger } from "./ledger.ts";
import { sentencesOfHtml, sentencesOfText } from "./sentences.ts";
import { type StrongWord, strongWordsOf } from "./strong-words.ts";

/** A sentence with a strong word, its place, and its ledger entry: the company's, or otherwise ours. */
export interface Statement {
  text: string;
  words: readonly StrongWord[];
  pages: string[];
  where: string;
  review: Review | undefined;
}

export interface ClaimsReport {
  statements: Statement[];
  unreviewed: Statement[];
  /** Reviewed, but the evidence has expired or is missing. */
  expired: Statement[];
  withoutEvidence: Statement[];
  /** The company's entries for sentences that no longer exist. */
  lost: Review[];
}

type Page = Pick<RenderedPage, "name" | "html"> & Partial<RenderedPage>;
type Words = Omit<RenderedSite, "pages" | "comingSoon" | "failure"> & { pages: readonly Page[] };

/** Looks up in both ledgers every sentence that a visitor can read. */
export async function reportClaims(words: Words, now: Date): Promise<ClaimsReport> {
  const { site, settingsShown, siteDir, scriptTexts } = words;
  const own = await readLedger(`${siteDir}claims.json`);
  const reviews = new Map([...(await readLedger(OUR_LEDGER)), ...own].map((review) => [review.text, review]));
  // Replaces setting values by their names, so that our sentences are the same for every company. Values with strong
  // words stay.
  const names = settingsShown.filter(([, value]) => strongWordsOf(value).length === 0);
  const read = new Map<string, Statement>();
  const add = (page: string, sentences: readonly string[]) => {
    for (const sentence of new Set(sentences)) {
      const untitled = sentence.replace(` | ${site.brand}`, "").replace(`${site.brand}: `, "");
      const text = names.reduce((all, [name, value]) => all.replaceAll(value, `[${name}]`), untitled);
      const { words, pages: others } = read.get(text) ?? { words: strongWordsOf(text), pages: [] };
      const pages = [...new Set([...others, page])];
      const where = pages.length > 3 ? `${pages[0]} and ${pages.length - 1} more` : pages.join(", ");
      read.set(text, { text, words, pages, where, review: reviews.get(text) });
    }
  };
  for (const { name, html, saveDataHtml, socialCard } of words.pages)
    add(name, [html, saveDataHtml ?? "", socialCard?.headline ?? ""].flatMap(sentencesOfHtml));
  add("contact form", sentencesOfHtml(scriptTexts));
  add("mail to senders", [site.acknowledgement.subject, site.acknowledgement.body].flatMap(sentencesOfText));
  const statements = [...read.values()].filter(({ words }) => words.length > 0);
  const today = now.toISOString().slice(0, 10);
  return {
    statements,
    unreviewed: statements.filter(({ review }) => !review),
    expired: statements.filter(({ review }) => review?.evidence && review.evidence.until < today),
    withoutEvidence: statements.filter(({ review }) => review?.verdict === "claim" && !review.evidence),
    lost: own.filter(({ text }) => !statements.some((statement) => statement.text === text)),
  };
}

/** The facts from which preflight can judge the claims on any later day. */
export function claimsState({ statements, unreviewed, withoutEvidence }: ClaimsReport): ClaimsState {
  const evidenceUntil = statements.flatMap(({ review }) => review?.evidence?.until ?? []).sort();
  return { unreviewed: unreviewed.length, withoutEvidence: withoutEvidence.length, evidenceUntil };
}

/** The tasks that a build prints. `command` lists the claims. */
export function claimsToDo(
  { unreviewed, expired, withoutEvidence }: ClaimsReport,
  command = "npm run claims",
): string[] {
  const claims = ({ length }: Statement[], rest: string) => (length > 0 ? `${plural(length, "claim")} ${rest}` : []);
  return [
    ...unreviewed.map((statement) => `Not reviewed: ${statementText(statement)}`),
    claims(expired, `with expired evidence; ${command}`),
    claims(withoutEvidence, `without evidence; ${command}`),
  ].flat();
}

/** The sentence, its place and its strong words. */
export function statementText({ text, words, where }: Statement): string {
  const whys = new Set(words.map(({ word, why }) => `\n    “${word}”: ${why}`));
  return `${where}\n  ${text}${[...whys].join("")}`;
}
