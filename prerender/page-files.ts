import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { compile } from "@mdx-js/mdx";
import type { Section } from "../app/components/contents.tsx";
import { TECHNICAL_PATH } from "../contract/build-manifest.ts";
import { headingId, type Node, tables, textOf } from "./markdown.ts";
import { type ResizedPicture, resizePicture } from "./pictures.ts";
import { refusal } from "./refusal.ts";

/** Why the build refuses a file, and what to do about it. */
export interface Problem {
  file: string;
  line: number;
  message: string;
}

/** Lists every problem at once. */
export function problemsError(problems: readonly Problem[]): Error {
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  return refusal(`The pages cannot be built:\n${lines.join("\n")}`);
}

/** `app/pages/articles/first.mdx` is `/articles/first`. */
export interface FilePath {
  file: string;
  path: string;
}

/** A page from a file. */
export interface PageFile extends FilePath {
  /** Other addresses that show it. */
  also: readonly string[];
  title: string;
  description: string;
  /** A JavaScript module. Its default export is the text; `page` describes it for app/screens/page.tsx. */
  code: string;
}

export interface PageFiles {
  /** The pages whose text has no problem. Their paths are not checked yet. */
  pages: readonly PageFile[];
  /** The paths of all files, including those with a problem, and their other addresses. */
  paths: readonly FilePath[];
  problems: readonly Problem[];
}

/** Reads and compiles every page in the folder and below it. A folder that does not exist has no pages. */
export async function readPageFiles(dir: string): Promise<PageFiles> {
  const names = await readdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.toSorted();
  const problems: Problem[] = files
    .filter(
      (name) => /\.(mdx?|markdown)$/i.test(name) && !name.endsWith(".mdx") && !/^readme\.md$/i.test(basename(name)),
    )
    .map((name) => ({
      file: shown(join(dir, name)),
      line: 1,
      message: `Pages end in .mdx. Rename the file to ${basename(name).replace(/\.\w+$/, ".mdx")}.`,
    }));
  const paths = files
    .filter((name) => name.endsWith(".mdx"))
    .map((name) => ({ file: join(dir, name), path: pathOf(name) }))
    .toSorted((a, b) => a.path.localeCompare(b.path, "en"));
  const pages: PageFile[] = [];
  const aliases: FilePath[] = [];
  for (const place of paths) {
    const report = (line: number, message: string) => problems.push({ file: shown(place.file), line, message });
    const found = problems.length;
    const page = await compilePage(dir, place, report);
    aliases.push(...(page?.also ?? []).map((path) => ({ file: place.file, path })));
    if (page && problems.length === found) pages.push(page);
  }
  return { pages, paths: [...paths, ...aliases].map(({ file, path }) => ({ file: shown(file), path })), problems };
}

/** `articles/first.mdx` is `/articles/first`, `articles/index.mdx` is `/articles`. */
function pathOf(name: string): string {
  const path = name
    .split(sep)
    .join("/")
    .replace(/\.mdx$/, "");
  return `/${path.replace(/(^|\/)index$/, "")}`;
}

/** The path as error messages show it: relative if it is in the working directory. */
function shown(file: string): string {
  const path = relative("", file);
  return path.startsWith("..") ? file : path;
}

/** The API, and the pages that static hosts show for errors. */
const RESERVED_PATH = /^\/(send-email|healthz|readyz|404|500)$/;
const PLAIN_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Checks the files' paths against each other and against the site's existing paths. */
export function findPathProblems(files: readonly FilePath[], specifiedPaths: readonly string[]): Problem[] {
  const specified = new Map(specifiedPaths.map((path) => [path.toLowerCase(), path]));
  return files.flatMap(({ file, path }, index) => {
    const lowerPath = path.toLowerCase();
    const messages: string[] = [];
    const taken = specified.get(lowerPath);
    if (taken === path) messages.push(`${path} is already a page of the site. Give the file another name.`);
    else if (taken)
      messages.push(`${path} differs from ${taken}, a page of the site, by case only. Give it another name.`);
    if (TECHNICAL_PATH.test(lowerPath) || RESERVED_PATH.test(lowerPath))
      messages.push(`${path} is reserved for technical files. Give it another name.`);

    const awkward = path.split("/").find((name) => name !== "" && !PLAIN_NAME.test(name));
    if (awkward !== undefined) {
      const plain = headingId(awkward.normalize("NFKD").replaceAll(/\p{M}/gu, "")).replaceAll(/[^a-z0-9-]/g, "");
      messages.push(
        `"${awkward}" cannot be part of an address. Rename it${plain && ` to ${plain}`}: use lower-case letters a to z, digits and single hyphens.`,
      );
    }
    const other = files.slice(0, index).find((one) => one.path.toLowerCase() === lowerPath);
    if (other?.path === path)
      messages.push(`Its address is ${path}, the same as for ${other.file}. Remove one of them.`);
    else if (other)
      messages.push(`${path} differs from ${other.path} (${other.file}) by case only. Rename one of them.`);
    return messages.map((message) => ({ file, line: 1, message }));
  });
}

type Report = (line: number, message: string) => void;

/** The folder of jsx-runtime.ts under another name: MDX ends the name at a space, which a path may contain. */
export const PAGE_RUNTIME = "virtual:page-runtime";

async function compilePage(dir: string, { file, path }: FilePath, report: Report): Promise<PageFile | null> {
  const { title, description, also, body } = parseFrontMatter(await readFile(file, "utf8"), report);
  const sections: Section[] = [];
  const pictures: PictureUse[] = [];
  let code: string;
  try {
    const remarkPlugins = [tables, () => readText(title, sections, pictures, report)];
    // A class aligns cells, because the site's security policy blocks style attributes.
    const options = { remarkPlugins, tableCellAlignToStyle: false, jsxImportSource: PAGE_RUNTIME };
    code = String(await compile({ value: body, path: file }, options));
  } catch (error) {
    report(...explainSyntaxError(error));
    return null;
  }
  const prepared = await Promise.all(pictures.map((picture) => preparePicture(dir, file, picture, report)));
  const resized = prepared.filter((picture) => picture !== null);
  const page = { file: shown(file), path, also, title, description, sections };
  return { ...page, file, code: code + exportPage(page, resized) };
}

/** The code to append to MDX's module. It imports pictures, because only Vite knows their URLs. */
function exportPage(page: object, pictures: readonly ResizedPicture[]): string {
  const imports: string[] = [];
  const described = pictures.map(({ width, height, sources }) => {
    const urls = sources.map((source) => {
      imports.push(`import _picture${imports.length} from ${JSON.stringify(`${resolve(source.file)}?url`)};`);
      return `{ url: _picture${imports.length - 1}, width: ${source.width} }`;
    });
    return `{ width: ${width}, height: ${height}, sources: [${urls}] }`;
  });
  return `\n${imports.join("\n")}\nexport const page = { ...${JSON.stringify(page)}, pictures: [${described}] };\n`;
}

/** Long enough for any search result; a title must also fit the social card. */
const MAX_LENGTH = { title: 120, description: 300 } as const;
const EXAMPLE = "---, title: About us, description: Who we are., ---, each on a line of its own";

interface FrontMatter {
  title: string;
  description: string;
  also: readonly string[];
  /** The text, with empty lines for the front matter, so that line numbers stay correct. */
  body: string;
}

function parseFrontMatter(source: string, report: Report): FrontMatter {
  const lines = source.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end =
    lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : 0;
  if (end <= 0) {
    report(
      1,
      `It has no title and description${end === 0 ? "" : " that end with ---"}. Start the file with: ${EXAMPLE}.`,
    );
    return { title: "", description: "", also: [], body: lines.join("\n") };
  }
  const values = new Map<string, string>();
  for (const [index, line] of lines.slice(1, end).entries()) {
    const number = index + 2;
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, key = "", rest = ""] = /^(\w+):(?:\s+(.*))?$/.exec(line.trimEnd()) ?? [];
    const value = unquoted(rest.trim()).trim();
    if (key !== "title" && key !== "description" && key !== "also") {
      report(
        number,
        `"${line.trim()}" is neither the title nor the description nor also. Write each on one line, as title: About us`,
      );
    } else if (values.has(key)) report(number, `The ${key} is given twice. Remove one.`);
    else if (value === "" || /^[|>][+-]?$/.test(value))
      report(number, `The ${key} is empty. Write it on the same line.`);
    else if (key === "also") {
      const wrong = value.split(/[,\s]+/).find((path) => !path.startsWith("/"));
      if (wrong !== undefined)
        report(number, `"${wrong}" is not an address. Start it with /, as also: /team, /who-we-are`);
    } else if (value.length > MAX_LENGTH[key]) {
      report(number, `The ${key} has ${value.length} characters. Shorten it to ${MAX_LENGTH[key]} at most.`);
    }
    values.set(key, values.get(key) ?? value);
  }
  for (const key of ["title", "description"] as const) {
    if (!values.has(key)) report(1, `It has no ${key}. Add a line "${key}: …" between the two lines of ---.`);
  }
  const body = [...Array<string>(end + 1).fill(""), ...lines.slice(end + 1)].join("\n");
  const also = values.get("also")?.split(/[,\s]+/) ?? [];
  return { title: values.get("title") ?? "", description: values.get("description") ?? "", also, body };
}

/** As in YAML: within quotes, `''` is a single quote and `\"` a double one. */
function unquoted(value: string): string {
  const [, quote, text = ""] = /^(["'])(.*)\1$/.exec(value) ?? [];
  if (quote === "'") return text.replaceAll("''", "'");
  return quote === '"' ? text.replaceAll(/\\(["\\])/g, "$1") : value;
}

function explainSyntaxError(error: unknown): [line: number, message: string] {
  if (!(error instanceof Error) || !("reason" in error)) throw error;
  const { line } = error as { line?: number | null };
  const reason = String(error.reason).replace(/\.$/, "");
  return [line ?? 1, `${reason}. "<" and "{" start code: write \\< and \\{ to show them, and close every <element>.`];
}

interface PictureUse {
  /** The path as written in the text. */
  source: string;
  line: number;
}

/** HTML elements without a Markdown syntax, and the one component that app/screens/page.tsx provides. */
const ELEMENTS =
  "a abbr b br cite dd details dl dt em figcaption figure i img kbd mark q s small span strong sub summary sup time ContactEmail".split(
    " ",
  );

/**
 * A remark plugin. A page is only text, so that authors need no code and the build can check it before rendering. The
 * plugin reports code and everything that the site's security policy would block. It gives headings an id and pictures
 * a number.
 */
function readText(title: string, sections: Section[], pictures: PictureUse[], report: Report) {
  return (root: Node): void => {
    const definitions = new Map(
      nodesOf(root).flatMap(({ type, identifier, url = "" }) =>
        type === "definition" && identifier ? [[identifier, url] as const] : [],
      ),
    );
    const ids = new Set(["main", "menu", "contents-title"]);
    let heading = { depth: 1, words: title };

    const visit = (node: Node): void => {
      const line = node.position?.start.line ?? 1;
      if (node.type.startsWith("mdxJsx")) checkElement(node, line, report);
      if (node.name === "img" || node.type === "imageReference") becomeImage(node, definitions);

      if (node.type === "mdxjsEsm") report(line, "import and export are code, and a page is text. Remove them.");
      else if (/^mdx(Flow|Text)Expression$/.test(node.type) && !/^\s*(\/\*.*\*\/)?\s*$/s.test(node.value ?? "")) {
        report(line, `"{" starts code. To show the character itself, write \\{`);
      } else if (node.type === "heading") {
        const { depth = 2 } = node;
        const words = textOf(node);
        if (depth === 1) report(line, "The title is the page's first heading. Start this one with ## instead of #.");
        else if (depth > heading.depth + 1)
          report(line, `The heading skips a level. Start it with ${"#".repeat(heading.depth + 1)}.`);
        const id = uniqueId(headingId(words) || "section", ids);
        node.data = { hProperties: { id } };
        // The heading links to itself, so that readers can share a link to it.
        const link = { type: "link", url: `#${id}`, data: { hProperties: { className: "anchor" } } };
        if (!nodesOf(node).some(isLink)) node.children = [{ ...link, children: node.children ?? [] }];
        if (depth === 2) sections.push({ id, title: words });
        heading = { depth, words };
      } else if (node.type === "table") {
        node.data = { hProperties: { title: heading.words } };
      } else if (node.type === "link" && !nodesOf(node).some((one) => one.value?.trim() || one.alt)) {
        report(line, `The link to ${node.url} has no text. Write it in the brackets: [text](${node.url})`);
      } else if (node.type === "image") {
        if (!node.alt?.trim() && node.data !== DECORATIVE) {
          report(line, `The picture ${node.url} has no alt text. Say what it shows: ![A turbine at dawn](${node.url})`);
        }
        pictures.push({ source: node.url ?? "", line });
        node.url = String(pictures.length - 1);
      }
      node.children?.forEach(visit);
      if (node.children) node.children = node.children.map(unwrapPicture);
    };
    visit(root);
  };
}

function isLink({ type, name }: Node): boolean {
  return type === "link" || type === "linkReference" || name === "a" || name === "ContactEmail";
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.children ?? []).flatMap(nodesOf)];
}

function checkElement({ name, attributes = [] }: Node, line: number, report: Report): void {
  if (!ELEMENTS.includes(name ?? "")) {
    const known = ELEMENTS.join(", ");
    report(
      line,
      `<${name ?? ""}> is not allowed in pages. Use Markdown, or one of: ${known}. To show the character itself, write \\<`,
    );
  }
  for (const attribute of attributes) {
    if (attribute.type !== "mdxJsxAttribute" || (typeof attribute.value === "object" && attribute.value !== null)) {
      report(line, `An attribute of <${name}> is code. Write its value in quotes, as in href="/contact".`);
    } else if (/^(style|on\w+)$/i.test(attribute.name ?? "")) {
      report(line, `The site's security policy refuses "${attribute.name}". Remove it; pages use the site's styles.`);
    } else if (/^data-/i.test(attribute.name ?? "")) {
      report(line, `"${attribute.name}" is for values that the program computes. Remove it.`);
    }
  }
}

const DECORATIVE = { isDecorative: true };

/** Turns `<img>` and `![text][name]` into `![text](file)`. Only `<img alt="">` marks a picture as decorative. */
function becomeImage(node: Node, definitions: ReadonlyMap<string, string>): void {
  const attribute = (wanted: string) => {
    const value = node.attributes?.find(({ name }) => name === wanted)?.value;
    return typeof value === "string" ? value : undefined;
  };
  if (node.type === "imageReference") node.url = definitions.get(node.identifier ?? "") ?? "";
  else {
    node.url = attribute("src") ?? "";
    node.title = attribute("title") ?? null;
    const alt = attribute("alt");
    node.alt = alt ?? null;
    if (alt === "") node.data = DECORATIVE;
    delete node.name;
    delete node.attributes;
  }
  node.type = "image";
  node.children = [];
}

/** Removes the paragraph around a single picture. A picture within text has no caption. */
function unwrapPicture(node: Node): Node {
  if (node.type !== "paragraph") return node;
  const [only, ...others] = node.children ?? [];
  if (only?.type === "image" && others.length === 0) return only;
  for (const child of node.children ?? []) if (child.type === "image") child.title = null;
  return node;
}

function uniqueId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  for (let count = 2; taken.has(id); count += 1) id = `${wanted}-${count}`;
  taken.add(id);
  return id;
}

const PICTURE_NAME = /\.(avif|gif|jpe?g|png|svg|webp)$/i;

async function preparePicture(
  dir: string,
  pageFile: string,
  { source, line }: PictureUse,
  report: Report,
): Promise<ResizedPicture | null> {
  const refuse = (message: string) => {
    report(line, message);
    return null;
  };
  if (/^([a-z]+:|\/\/)/i.test(source)) {
    return refuse(
      `${source} is on another site, and pages show only pictures from this site. Save it beside the page.`,
    );
  }
  const name = source.replaceAll("%20", " ");
  const file = name.startsWith("/") ? join(dir, name) : join(dirname(pageFile), name);
  if (!PICTURE_NAME.test(name)) return refuse(`"${name}" is not a picture. Use AVIF, GIF, JPEG, PNG, SVG or WebP.`);
  if (relative(dir, file).startsWith(".."))
    return refuse(`The picture ${name} is not in ${shown(dir)}. Move it there.`);
  const refuseContent = () => refuse(`${shown(file)} cannot be read as a picture. Save it again, as PNG or JPEG.`);
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") return refuseContent();
    return refuse(`There is no picture ${shown(file)}. Save it there, or correct its name.`);
  }
  try {
    return await resizePicture(file, content);
  } catch (error) {
    // For example a full disk: not a problem of the picture.
    if (error instanceof Error && "syscall" in error) throw error;
    return refuseContent();
  }
}
