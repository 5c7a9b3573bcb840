import { existsSync, globSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { ours } from "virtual:texts";
import { FACT_NAMES, SITE_FACT_NAMES } from "../app/facts.ts";
import { type MailTexts, TECHNICAL_PATH } from "../contract/build-manifest.ts";
import { MAIL_MATTER, NO_MATTER, PAGE_MATTER, type ReadText, readText, type TextKind } from "./markdown.ts";
import { type ResizedPicture, readPicture } from "./pictures.ts";
import { type Problem, shown, siteFolder } from "./site-dir.ts";

export interface SiteText extends ReadText {
  file: string;
  /** The path of the page, or the mail's name. */
  page: string;
}

interface PageText extends SiteText {
  resized: ReadonlyMap<string, ResizedPicture>;
}

export interface SiteTexts {
  texts: readonly SiteText[];
  /** Those of the company. Their paths are not checked yet. */
  pages: readonly PageText[];
  /** The code of the module `virtual:texts`. */
  module: string;
  mails: MailTexts;
  problems: Problem[];
}

/** The pages that come with the software, and their texts. */
const OUR_PAGES: Readonly<Record<keyof typeof ours, string>> = {
  "/privacy": "app/policies/privacy.md",
  "/terms": "app/policies/terms.md",
  "/cancellation": "app/policies/refunds.md",
  "/delivery": "app/policies/delivery.md",
  "/assets/carbon": "app/explanations/carbon.md",
  "/assets/footprint": "app/explanations/footprint.md",
  "/assets/accessibility": "app/explanations/accessibility.md",
};
const OUR_FILES = Object.values(OUR_PAGES);

/** A file of the same name in `policies/` of SITE_DIR takes its place. */
function isPolicy(file: string): boolean {
  return basename(dirname(file)) === "policies";
}

/** Used if SITE_DIR has no acknowledgement of its own. */
const OUR_ACKNOWLEDGEMENT = "app/replies/acknowledgement.md";
const PAGE: TextKind = { schema: PAGE_MATTER, facts: FACT_NAMES, matterFacts: SITE_FACT_NAMES };
/** An acknowledgement contains nothing that the visitor wrote, because anybody may have entered the address. */
const ACKNOWLEDGEMENT: TextKind = { schema: MAIL_MATTER, facts: [...FACT_NAMES, "reference"] };
const REPLY: TextKind = { schema: NO_MATTER, facts: [...ACKNOWLEDGEMENT.facts, "name", "total"] };

export async function readTexts(siteDir: string): Promise<SiteTexts> {
  const folder = siteFolder(siteDir);
  const pages = await readPages(join(folder, "pages"));
  const policyFiles = globSync("*", { cwd: join(folder, "policies") }).map((name) => join(folder, "policies", name));
  const policyOf = (file: string) => policyFiles.find((own) => isPolicy(file) && basename(own) === basename(file));
  const our = await Array.fromAsync(Object.entries(OUR_PAGES), ([page, file]) => {
    const path = policyOf(file) ?? file;
    return readPage(path, page, dirname(path));
  });
  const unknown = policyFiles.filter(
    (file) => !OUR_FILES.some((one) => isPolicy(one) && basename(one) === basename(file)),
  );
  const known = OUR_FILES.filter(isPolicy).map((file) => basename(file));
  const policyProblems = unknown.map((file): Problem => {
    return { file: shown(file), line: 1, message: `There is no such policy. Name it ${known.join(", ")}.` };
  });

  const own = join(folder, "replies/acknowledgement.md");
  const file = existsSync(own) ? own : OUR_ACKNOWLEDGEMENT;
  const acknowledgement = await readSiteText(file, "acknowledgement", ACKNOWLEDGEMENT);
  if (!acknowledgement.markdown.includes("{reference}"))
    acknowledgement.problems.push({ line: 1, message: "The mail must contain {reference}." });
  const names = globSync("*.md", { cwd: join(folder, "replies") }).filter((name) => name !== basename(own));
  const replies = await Array.fromAsync(names.toSorted(), (name) =>
    readSiteText(join(folder, "replies", name), `replies/${name}`, REPLY),
  );
  const texts = [...pages, ...our, acknowledgement, ...replies];
  return {
    texts,
    pages,
    module: textsModule(our, pages),
    mails: {
      acknowledgement: { subject: acknowledgement.matter.subject ?? "", body: acknowledgement.markdown.trim() },
      replies: replies
        .map(({ page, markdown }) => ({ name: basename(page, ".md"), text: markdown.trim() }))
        .filter(({ text }) => text !== ""),
    },
    problems: [...policyProblems, ...textProblems(texts)],
  };
}

export function textProblems(texts: readonly SiteText[]): Problem[] {
  return texts.flatMap(({ file, problems }) => problems.map((problem) => ({ file, ...problem })));
}

async function readSiteText(path: string, page: string, kind: TextKind): Promise<SiteText> {
  return { file: shown(path), page, ...readText(await readFile(path, "utf8"), kind) };
}

/** Reads every page in the folder and below it. A folder that does not exist has no pages. */
export async function readPages(dir: string): Promise<PageText[]> {
  const names = existsSync(dir) ? await readdir(dir, { recursive: true }) : [];
  const files = names.filter((name) => /\.(mdx?|markdown)$/i.test(name) && !/^readme\.md$/i.test(basename(name)));
  const sorted = files.toSorted((a, b) => pagePath(a).localeCompare(pagePath(b), "en"));
  return Array.fromAsync(sorted, (name) => readPage(join(dir, name), pagePath(name), dir));
}

/** Reads a page with its pictures, which are in `dir`. */
async function readPage(path: string, page: string, dir: string): Promise<PageText> {
  const text = await readSiteText(path, page, PAGE);
  const { problems, pictures } = text;
  if (!path.endsWith(".md")) {
    const renamed = basename(path).replace(/\.\w+$/, ".md");
    problems.unshift({ line: 1, message: `Pages end in .md: rename it to ${renamed}.` });
  }
  const resized = new Map<string, ResizedPicture>();
  for (const { source, line } of pictures) {
    const picture = await readPicture(dir, path, source);
    if (typeof picture === "string") problems.push({ line, message: picture });
    else resized.set(source, picture);
  }
  return { ...text, resized };
}

/** `articles/first.md` is `/articles/first`, `articles/index.md` is `/articles`. */
function pagePath(name: string): string {
  const path = name.replaceAll(sep, "/").replace(/\.\w+$/, "");
  return `/${path.replace(/(^|\/)index$/, "")}`;
}

/** A module with the pages for the renderer. It imports pictures, because only Vite knows their URLs. */
function textsModule(our: readonly PageText[], pages: readonly PageText[]): string {
  const imports: string[] = [];
  const codeOf = ({ file, page, matter, markdown, resized }: PageText) => {
    const pictures = [...resized].map(([source, { width, height, sources }]) => {
      const urls = sources.map((one) => {
        imports.push(`import picture${imports.length} from ${JSON.stringify(`${resolve(one.file)}?url`)};`);
        return `{ url: picture${imports.length - 1}, width: ${one.width} }`;
      });
      return `${JSON.stringify(source)}: { width: ${width}, height: ${height}, sources: [${urls}] }`;
    });
    const text = { file, path: page, title: "", description: "", ...matter, markdown };
    return `{ ...${JSON.stringify(text)}, pictures: { ${pictures} } }`;
  };
  const ours = our.map((text) => `${JSON.stringify(text.page)}: ${codeOf(text)}`);
  return `export const ours = { ${ours} };\nexport const pages = [${pages.map(codeOf)}];\n${imports.join("\n")}`;
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
