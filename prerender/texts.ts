import { existsSync, globSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import type { z } from "zod";
import { FACT_NAMES, SITE_FACTS } from "../app/facts.ts";
import { type MailTexts, TECHNICAL_PATH } from "../contract/build-manifest.ts";
import { MAIL_MATTER, NO_MATTER, PAGE_MATTER, type ReadText, readText } from "./markdown.ts";
import { type ResizedPicture, readPicture } from "./pictures.ts";
import { type Problem, shown, siteFolder } from "./site-dir.ts";

export interface SiteText extends Pick<ReadText<object>, "blocks" | "links" | "ids"> {
  file: string;
  /** The path of the page, or the mail's name. */
  page: string;
}

export interface Pages {
  /** All of them. Their paths are not checked yet. */
  pages: readonly SiteText[];
  /** Those without a problem, as JavaScript modules whose default export is the page for app/screens/text-pages.tsx. */
  modules: readonly { file: string; code: string }[];
  problems: Problem[];
}

export interface SiteTexts extends Pages {
  texts: readonly SiteText[];
  mails: MailTexts;
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
const ACKNOWLEDGEMENT_FACTS = { facts: [...FACT_NAMES, "reference"] };
/** An acknowledgement contains nothing that the visitor wrote, because anybody may have entered the address. */
const REPLY_FACTS = { facts: [...ACKNOWLEDGEMENT_FACTS.facts, "name", "total"] };

export async function readTexts(siteDir: string): Promise<SiteTexts> {
  const folder = siteFolder(siteDir);
  const { pages, modules, problems } = await readPages(join(folder, "pages"));
  const texts = [...pages];
  const read = async <Matter extends Record<string, string>>(
    file: string,
    page: string,
    schema: z.ZodType<Matter>,
    facts: Parameters<typeof readText>[2],
  ) => {
    const report = (line: number, message: string) => void problems.push({ file, line, message });
    const text = readText(await readFile(file, "utf8"), schema, facts, report);
    texts.push({ file, page, ...text });
    return { matter: text.matter, body: text.markdown.trim() };
  };
  for (const [file, page] of Object.entries(OUR_PAGES)) await read(file, page, PAGE_MATTER, PAGE_FACTS);

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
  return { texts, pages, modules, mails: { acknowledgement, replies }, problems };
}

/** Reads every page in the folder and below it, with its pictures. A folder that does not exist has no pages. */
export async function readPages(dir: string): Promise<Pages> {
  const names = existsSync(dir) ? await readdir(dir, { recursive: true }) : [];
  const pages: SiteText[] = [];
  const modules: Pages["modules"][number][] = [];
  const problems: Problem[] = [];
  for (const name of names.toSorted((a, b) => pathOf(a).localeCompare(pathOf(b), "en"))) {
    if (!/\.(mdx?|markdown)$/i.test(name) || /^readme\.md$/i.test(basename(name))) continue;
    const path = join(dir, name);
    const [file, page] = [shown(path), pathOf(name)];
    const found = problems.length;
    const report = (line: number, message: string) => void problems.push({ file, line, message });
    const renamed = basename(name).replace(/\.\w+$/, ".md");
    if (!name.endsWith(".md")) report(1, `Pages end in .md: rename it to ${renamed}.`);
    const { matter, markdown, ...text } = readText(await readFile(path, "utf8"), PAGE_MATTER, PAGE_FACTS, report);
    const pictures = new Map<string, ResizedPicture>();
    for (const { source, line } of text.pictures) {
      const picture = await readPicture(dir, path, source);
      if (typeof picture === "string") report(line, picture);
      else pictures.set(source, picture);
    }
    pages.push({ file, page, ...text });
    const content = { file, path: page, ...matter, markdown };
    if (problems.length === found) modules.push({ file: path, code: textModule(content, pictures) });
  }
  return { pages, modules, problems };
}

/** `articles/first.md` is `/articles/first`, `articles/index.md` is `/articles`. */
function pathOf(name: string): string {
  const path = name.replaceAll(sep, "/").replace(/\.\w+$/, "");
  return `/${path.replace(/(^|\/)index$/, "")}`;
}

/** One of our pages as a module. `readTexts` reports its problems. */
export function ourTextModule(source: string): string {
  const { matter, markdown } = readText(source, PAGE_MATTER, PAGE_FACTS, () => {});
  return textModule({ title: "", description: "", ...matter, markdown }, new Map());
}

/** A module with a text for the renderer. It imports pictures, because only Vite knows their URLs. */
function textModule(text: object, pictures: ReadonlyMap<string, ResizedPicture>): string {
  const imports: string[] = [];
  const described = [...pictures].map(([source, { width, height, sources }]) => {
    const urls = sources.map((one) => {
      imports.push(`import picture${imports.length} from ${JSON.stringify(`${resolve(one.file)}?url`)};`);
      return `{ url: picture${imports.length - 1}, width: ${one.width} }`;
    });
    return `${JSON.stringify(source)}: { width: ${width}, height: ${height}, sources: [${urls}] }`;
  });
  return `${imports.join("\n")}\nexport default { ...${JSON.stringify(text)}, pictures: { ${described} } };\n`;
}

/** The API, and the pages that static hosts show for errors. */
const RESERVED_PATH = /^\/(send-email|healthz|readyz|404|500)$/;
const PLAIN_PATH = /^(\/[a-z0-9]+(-[a-z0-9]+)*)+$|^\/$/;

/** Checks the pages' paths against each other and against the site's existing paths, in any letter case. */
export function findPathProblems(
  pages: readonly Pick<SiteText, "file" | "page">[],
  specifiedPaths: readonly string[],
): Problem[] {
  const taken = new Map(specifiedPaths.map((path) => [path.toLowerCase(), "a page of the site"]));
  return pages.flatMap(({ file, page }) => {
    const lowerPath = page.toLowerCase();
    const messages: string[] = [];
    const other = taken.get(lowerPath);
    if (other === undefined) taken.set(lowerPath, file);
    else messages.push(`${page} is already the address of ${other}. Give the file another name.`);
    if (TECHNICAL_PATH.test(lowerPath) || RESERVED_PATH.test(lowerPath))
      messages.push(`${page} is reserved for technical files. Give the file another name.`);
    if (!PLAIN_PATH.test(page))
      messages.push(`${page} cannot be an address. Rename the file: use letters a to z, digits and single hyphens.`);
    return messages.map((message) => ({ file, line: 1, message }));
  });
}
