import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { FACT_NAMES, SITE_FACTS } from "../app/facts.ts";
import { TECHNICAL_PATH } from "../contract/build-manifest.ts";
import { PAGE_MATTER, type ReadText, readText } from "./markdown.ts";
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
  return refusal(`The pages cannot be built:\n${[...new Set(lines)].join("\n")}`);
}

/** `pages/articles/first.md` is `/articles/first`. */
export interface FilePath {
  file: string;
  path: string;
}

/** A page's text. */
export interface PageText extends FilePath, ReadText<{ title: string; description: string }> {}

/** A page from a file. */
export interface PageFile extends FilePath {
  /** A JavaScript module. Its default export is the page, for app/screens/page.tsx. */
  code: string;
}

export interface PageFiles {
  /** The pages whose text has no problem. Their paths are not checked yet. */
  pages: readonly PageFile[];
  /** The paths of all files, including those with a problem. */
  paths: readonly FilePath[];
  problems: readonly Problem[];
}

/** Reads every page in the folder and below it, with its pictures. A folder that does not exist has no pages. */
export async function readPageFiles(dir: string): Promise<PageFiles> {
  const { texts, problems } = await readPageTexts(dir);
  const pages: PageFile[] = [];
  for (const { file, path, matter, markdown, pictures } of texts) {
    const found = problems.length;
    const resized = new Map<string, ResizedPicture>();
    for (const { source, line } of pictures) {
      const report = (message: string) => void problems.push({ file: shown(file), line, message });
      const picture = resized.get(source) ?? (await preparePicture(dir, file, source, report));
      if (picture) resized.set(source, picture);
    }
    const hasProblem = problems.some((problem) => problem.file === shown(file));
    const page = { file: shown(file), path, ...matter, markdown };
    if (!hasProblem && problems.length === found) pages.push({ file, path, code: textModule(page, resized) });
  }
  return { pages, paths: texts.map(({ file, path }) => ({ file: shown(file), path })), problems };
}

/** Reads the text of every page. */
export async function readPageTexts(dir: string): Promise<{ texts: PageText[]; problems: Problem[] }> {
  const names = await readdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const problems: Problem[] = [];
  const texts: PageText[] = [];
  for (const name of names.toSorted()) {
    if (!/\.(mdx?|markdown)$/i.test(name) || /^readme\.md$/i.test(basename(name))) continue;
    const file = join(dir, name);
    const report = (line: number, message: string) => void problems.push({ file: shown(file), line, message });
    const renamed = basename(name).replace(/\.\w+$/, ".md");
    if (!name.endsWith(".md")) report(1, `Pages end in .md: rename it to ${renamed}.`);
    const known = { facts: FACT_NAMES, matterFacts: Object.keys(SITE_FACTS) };
    const text = readText(await readFile(file, "utf8"), PAGE_MATTER, known, report);
    texts.push({ file, path: pathOf(name), ...text });
  }
  return { texts: texts.toSorted((a, b) => a.path.localeCompare(b.path, "en")), problems };
}

/** `articles/first.md` is `/articles/first`, `articles/index.md` is `/articles`. */
function pathOf(name: string): string {
  const path = name
    .split(sep)
    .join("/")
    .replace(/\.\w+$/, "");
  return `/${path.replace(/(^|\/)index$/, "")}`;
}

/** The path as error messages show it: relative if it is in the working directory. */
export function shown(file: string): string {
  const path = relative("", file);
  return path.startsWith("..") ? file : path;
}

/** A module with a text for the renderer. It imports pictures, because only Vite knows their URLs. */
export function textModule(text: object, pictures: ReadonlyMap<string, ResizedPicture> = new Map()): string {
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
      messages.push(
        `"${awkward}" cannot be part of an address. Rename it: use lower-case letters a to z, digits and single hyphens.`,
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

const PICTURE_NAME = /\.(avif|gif|jpe?g|png|svg|webp)$/i;

async function preparePicture(
  dir: string,
  pageFile: string,
  name: string,
  report: (message: string) => void,
): Promise<ResizedPicture | null> {
  const refuse = (message: string) => {
    report(message);
    return null;
  };
  if (/^([a-z]+:|\/\/)/i.test(name)) {
    return refuse(`${name} is on another site, and pages show only pictures from this site. Save it beside the page.`);
  }
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
