import type { RenderedPage, RenderedSite } from "../../app/render.tsx";
import type { ClaimsState, ListedSentence } from "../../contract/build-manifest.ts";
import { commandLine } from "../../contract/commands.ts";
import { plural } from "../../contract/plural.ts";
import { quote, replySubject } from "../../contract/quote.ts";
import { visible } from "../../contract/visible-text.ts";
import { findText, sourceFiles } from "../site-dir.ts";
import { type Entry, isForbidden, OUR_LEDGER, readLedger } from "./ledger.ts";
import { sentencesOfHtml, sentencesOfText } from "./sentences.ts";
import { strongWordsOf } from "./strong-words.ts";

/** A sentence with its ledger entry: the company's, or otherwise ours. */
export interface Sentence extends ListedSentence {
  /** The first page that shows it, or another part of the site. */
  page: string;
  /** The file that contains it, unless it comes from the sources of the site. */
  file: string | null;
  entry: Entry | undefined;
}

export type ClaimsReport = Record<"sentences" | keyof ClaimsState, Sentence[]>;

/** The development server reads one page at a time. */
type Page = Pick<RenderedPage, "name" | "html"> & Partial<RenderedPage>;
type Site = Omit<RenderedSite, "pages" | "comingSoon" | "failure"> & { pages: readonly Page[] };

/** Looks up every sentence that a visitor can read in both ledgers. Several renderings count as one site. */
export async function reportClaims(sites: readonly Site[], today: string): Promise<ClaimsReport> {
  const ledgers = [OUR_LEDGER, ...new Set(sites.map(({ siteDir }) => `${siteDir}claims.json`))];
  const entries = await Promise.all(ledgers.map((file) => readLedger(file, today)));
  const signed = new Map(entries.flat().map((entry) => [entry.text, entry]));
  const places = Map.groupBy(sites.flatMap(placedSentences), ({ text }) => text);
  const sentences = [...places.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const more = new Set(others.map(({ page }) => page).filter((page) => page !== first.page));
    const where = more.size > 2 ? `${first.page} and ${more.size} more` : [first.page, ...more].join(", ");
    return { ...first, where, entry: signed.get(first.text) };
  });
  return {
    sentences,
    unsigned: sentences.filter(({ entry }) => !entry),
    unreviewed: sentences.filter(({ text, entry }) => !entry?.verdict && strongWordsOf(text).length > 0),
    withEvidence: sentences.filter(({ entry }) => entry?.evidence),
    expired: sentences.filter(({ entry }) => entry?.evidence && entry.evidence.until < today),
    withoutEvidence: sentences.filter(({ entry }) => entry?.verdict === "claim" && !entry.evidence),
    acceptedForbidden: sentences.filter(({ text, entry }) => entry && isForbidden(text)),
  };
}

/** Every sentence with its place. A name is a sentence of its own, and a placeholder in the others. */
function placedSentences({ site, siteDir, settingsShown, pages, scriptTexts }: Site) {
  const { brand, legalName, acknowledgement } = site;
  const ofText = (text: string) => sentencesOfText(text, settingsShown);
  const ofHtml = (html: string) => sentencesOfHtml(html, settingsShown);
  const names = [`[brand]: ${brand}`, `[legal name]: ${legalName.replace(brand, "[brand]")}`];
  const quoted = quote({ acceptedAt: new Date(0), name: "{name}", message: "" });
  const mails = [acknowledgement.subject, acknowledgement.body, replySubject("{reference}"), quoted];
  const at = (page: string, file: string | null, texts: string[]) => texts.map((text) => ({ text, page, file }));
  return [
    at("settings", `${siteDir}site.ts`, names),
    ...pages.map(({ name, file = null, html, saveDataHtml, socialCard }) =>
      at(name, file, [html, saveDataHtml ?? "", socialCard?.headline ?? ""].flatMap(ofHtml)),
    ),
    at("contact form", null, ofHtml(scriptTexts)),
    at("mails", null, mails.flatMap(ofText)),
  ].flat();
}

/** The sentences that stop a build, each with its file and line; empty if all are signed. */
export async function listUnsigned(
  { unsigned, unreviewed }: ClaimsReport,
  siteDir: string,
  program?: string,
): Promise<string> {
  const open = new Set([...unsigned, ...unreviewed]);
  if (open.size === 0) return "";
  const lines = [`Nobody has signed ${plural(open.size, "sentence")}:`];
  for (const { text, page, file } of open) {
    const source = await findText(text.split(/\[[^\]]*\]|\{\w+\}|#/), file ? [file] : sourceFiles(siteDir));
    lines.push(`  ${source ?? file ?? page}: ${visible(text)}`);
  }
  return [...lines, `To read and sign: ${commandLine("claims review", program)}`].join("\n");
}
