import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { FACT_NAMES, SITE_FACTS } from "../app/facts.ts";
import type { MailTexts } from "../contract/build-manifest.ts";
import { type Block, MAIL_MATTER, NO_MATTER, PAGE_MATTER, readText } from "./markdown.ts";
import { type Problem, readPageTexts, shown, textModule } from "./page-files.ts";
import { siteFolder } from "./site-dir.ts";

/** A text that a company can write: a page, a policy or a mail. */
export interface SiteText {
  file: string;
  /** The path of the page, or the mail's name. */
  page: string;
  blocks: readonly Block[];
}

export interface SiteTexts {
  texts: readonly SiteText[];
  mails: MailTexts;
  problems: readonly Problem[];
}

/** The texts that come with the software, and their pages. */
const OUR_PAGES: Readonly<Record<string, string>> = {
  "app/policies/privacy.md": "/privacy",
  "app/policies/terms.md": "/terms",
  "app/policies/refunds.md": "/cancellation",
  "app/policies/delivery.md": "/delivery",
  "docs/carbon.md": "/assets/carbon",
  "docs/footprint.md": "/assets/footprint",
  "app/policies/accessibility.md": "/assets/accessibility",
};
/** Used if SITE_DIR has no acknowledgement of its own. */
const OUR_ACKNOWLEDGEMENT = "app/replies/acknowledgement.md";
const PAGE_FACTS = { facts: FACT_NAMES, matterFacts: Object.keys(SITE_FACTS) };
const ACKNOWLEDGEMENT_FACTS = [...FACT_NAMES, "reference"];
/** An acknowledgement contains nothing that the visitor wrote, because anybody may have entered the address. */
const REPLY_FACTS = [...ACKNOWLEDGEMENT_FACTS, "name", "total"];

/** Reads every text, and lists the problems of all of them. */
export async function readTexts(siteDir: string, pagesDir = join(siteFolder(siteDir), "pages")): Promise<SiteTexts> {
  const folder = siteFolder(siteDir);
  const pages = await readPageTexts(pagesDir);
  const problems: Problem[] = [...pages.problems];
  const texts: SiteText[] = pages.texts.map(({ file, path, blocks }) => ({ file: shown(file), page: path, blocks }));
  const read = async (file: string, page: string, schema: Parameters<typeof readText>[1], facts: readonly string[]) => {
    const report = (line: number, message: string) => void problems.push({ file, line, message });
    const text = readText(await readFile(file, "utf8"), schema, { facts }, report);
    texts.push({ file, page, blocks: text.blocks });
    return { matter: text.matter, body: text.markdown.trim() };
  };
  for (const [file, page] of Object.entries(OUR_PAGES)) await read(file, page, PAGE_MATTER, PAGE_FACTS.facts);

  const own = shown(join(folder, "replies/acknowledgement.md"));
  const file = existsSync(own) ? own : OUR_ACKNOWLEDGEMENT;
  const { matter, body } = await read(file, "acknowledgement", MAIL_MATTER, ACKNOWLEDGEMENT_FACTS);
  if (!body.includes("{reference}")) problems.push({ file, line: 1, message: "The mail must contain {reference}." });
  const replies: MailTexts["replies"] = [];
  for (const name of globSync("*.md", { cwd: join(folder, "replies") }).toSorted()) {
    if (name === basename(own)) continue;
    const reply = shown(join(folder, "replies", name));
    const { body: text } = await read(reply, `replies/${name}`, NO_MATTER, REPLY_FACTS);
    if (text !== "") replies.push({ name: basename(name, ".md"), text });
  }
  const acknowledgement = { subject: matter.subject ?? "", body };
  return { texts, mails: { acknowledgement, replies }, problems };
}

/** One of our pages as a module. `readTexts` reports its problems. */
export function ourTextModule(source: string): string {
  const { matter, markdown } = readText(source, PAGE_MATTER, PAGE_FACTS, () => {});
  return textModule({ title: "", description: "", ...matter, markdown });
}
