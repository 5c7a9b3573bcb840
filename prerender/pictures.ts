import { createHash, randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, parse, relative, resolve } from "node:path";
import { create, type Font } from "fontkit";
import sharp, { type Sharp } from "sharp";
import type { Look, SiteSettings } from "../app/site-schema.ts";
import { hexColours, markOf } from "../app/styles/look.ts";
import { type OutputFile, svgSecurityPolicy } from "./output.ts";

export async function drawIcons(look: Look): Promise<OutputFile[]> {
  const { ink } = hexColours(look);
  const style = "@media(prefers-color-scheme:dark){.ink{fill:#fff}}";
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${markOf(look).viewBox}"><style>${style}</style>${markShapes(look, ink)}</svg>`;
  // A maskable icon may be cropped to a circle of 80%, so the mark stays well inside.
  const maskable = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -7 56 56"><path d="M-8-7h56v56h-56z" fill="${ink}"/>${placedMark(look, 40)}</svg>`;
  const draw = async (file: string, drawing: string, size: number) => ({
    file,
    content: await sharp(Buffer.from(drawing), { density: 1200 }).resize(size, size).png().toBuffer(),
  });
  return Promise.all([
    { file: "favicon.svg", content: svg, policy: svgSecurityPolicy(style) },
    // A PNG, because browsers tell pictures by their content.
    draw("favicon.ico", svg, 32),
    draw("favicon.png", maskable, 180),
    draw("favicon-192.png", maskable, 192),
    draw("favicon-512.png", maskable, 512),
  ]);
}

function markShapes(look: Look, ink: string): string {
  const mark = markOf(look);
  return `<path class="ink" fill="${ink}" d="${mark.ink}"/><path fill="${hexColours(look).accent}" d="${mark.accent}"/>`;
}

export function placedMark(look: Look, sizePx: number): string {
  return `<svg viewBox="${markOf(look).viewBox}" width="${sizePx}" height="${sizePx}">${markShapes(look, "#fff")}</svg>`;
}

export interface ResizedPicture {
  width: number;
  height: number;
  sources: readonly { file: string; width: number }[];
}

export async function readPicture(pagesDir: string, pageFile: string, name: string): Promise<ResizedPicture | string> {
  if (/^([a-z]+:|\/\/)/i.test(name))
    return `${name} is on another site, and pages show only pictures from this site. Save it beside the page.`;
  const file = join(name.startsWith("/") ? pagesDir : dirname(pageFile), name);
  if (relative(pagesDir, file).startsWith("..")) return `The picture ${name} is not in ${pagesDir}. Move it there.`;
  if (!isFile(file)) return `There is no picture ${file}. Save it there, or correct its name.`;
  const content = await readFile(file);
  return resizePicture(file, content).catch((error) => {
    // For example a full disk: not a problem of the picture.
    if ("syscall" in error) throw error;
    return `${file} cannot be read as a picture. Save it again, as PNG or JPEG.`;
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A text column is at most 40rem wide. The larger size is for high-density screens. */
const PICTURE_WIDTHS_PX = [480, 960];
const WEBP = { quality: 75, effort: 6 };

/** Converts a picture to WebP files without metadata such as the location. */
async function resizePicture(file: string, content: Buffer): Promise<ResizedPicture> {
  const { format, autoOrient } = await sharp(content).metadata();
  // A drawing has no fixed resolution and is sharp at twice its size.
  const availablePx = format === "svg" ? 2 * autoOrient.width : autoOrient.width;
  const largestPx = Math.min(availablePx, Math.max(...PICTURE_WIDTHS_PX));
  const widths = [...PICTURE_WIDTHS_PX.filter((width) => width < largestPx), largestPx];
  const name = parse(file)
    .name.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  const density = format === "svg" ? 144 : 72;
  const sources = widths.map(async (width) => {
    const resized = sharp(content, { density }).autoOrient().resize({ width }).webp(WEBP);
    return { width, file: await cachedPicture(`${name}-${width}.webp`, content, { width, WEBP }, resized) };
  });
  const shownPx = format === "svg" ? Math.min(autoOrient.width, largestPx) : largestPx;
  return {
    width: shownPx,
    height: Math.round((shownPx * autoOrient.height) / autoOrient.width),
    sources: await Promise.all(sources),
  };
}

/** Draws a picture, unless it is in the cache: drawing takes most of the time of a small build. */
export async function cachedPicture(name: string, content: Buffer, options: object, picture: Sharp): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(options)).update(content).digest("hex").slice(0, 16);
  const file = resolve("node_modules/.cache/pictures", hash, name);
  if (existsSync(file)) return file;
  await mkdir(dirname(file), { recursive: true });
  // Renames the complete file, because another build may write it at the same time.
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, await picture.toBuffer());
  await rename(draft, file);
  return file;
}

const POSTERS = [
  { name: "poster.avif", widthPx: 1280, format: "avif", quality: 40 },
  { name: "poster.webp", widthPx: 1280, format: "webp", quality: 40 },
  { name: "poster.jpg", widthPx: 1280, format: "jpeg", quality: 40 },
  { name: "poster.phone.avif", widthPx: 960, format: "avif", quality: 35 },
] as const;
const HEIGHT_PX = 720;

/** By the name of the file in `app/media/` that each replaces. `lookProblems` reports what does not exist. */
export async function lookFiles({ look, heroPicture }: SiteSettings, folder: string): Promise<Map<string, string>> {
  const media = new Map<string, string>();
  const font = join(folder, look.displayFont ?? "");
  if (isFile(font)) media.set("display.woff2", font);
  const picture = join(folder, heroPicture?.file ?? "");
  if (!isFile(picture)) return media;
  const content = await readFile(picture);
  for (const poster of POSTERS) {
    const { name, widthPx, format, quality } = poster;
    const resized = sharp(content).autoOrient().resize(widthPx, HEIGHT_PX, { fit: "cover" })[format]({ quality });
    media.set(name, await cachedPicture(name, content, poster, resized));
  }
  return media;
}

/** Null unless the file is WOFF2, can be read and has one font. */
export async function readFont(file: string): Promise<Font | null> {
  const content = await readFile(file);
  if (!content.subarray(0, 4).equals(Buffer.from("wOF2"))) return null;
  try {
    const font = create(content);
    // Only using a font reads its tables.
    return "layout" in font && font.layout("A").glyphs.every(({ path }) => path.toSVG()) ? font : null;
  } catch {
    return null;
  }
}

export async function lookProblems({ look, heroPicture }: SiteSettings, folder: string): Promise<string[]> {
  const problems: string[] = [];
  const font = look.displayFont && join(folder, look.displayFont);
  if (font !== null && !isFile(font)) problems.push(`"site.look.displayFont" names no file (${font}).`);
  else if (font !== null && (await readFont(font)) === null)
    problems.push(`"site.look.displayFont" is damaged, or is no WOFF2 file of one font (${font}).`);
  const picture = heroPicture && join(folder, heroPicture.file);
  if (picture === null) return problems;
  if (!isFile(picture)) return [...problems, `"site.heroPicture.file" names no file (${picture}).`];
  const brightest = await brightestBehindText(picture).catch(() => null);
  if (brightest === null)
    problems.push(`"site.heroPicture.file" is damaged, or is no picture (${picture}). Save it again, as JPEG or PNG.`);
  else if (brightest > BRIGHTEST)
    problems.push(
      `"site.heroPicture.file" is too bright behind the text: a place on its left third has ${brightest} of 255, and may have ${BRIGHTEST}. Darken that part.`,
    );
  return problems;
}

/** White text on the scrim of home.css over a grey of this brightness has a contrast of 4.5:1, with every hue. */
const BRIGHTEST = 170;

/** The brightest place on the left of the picture, which the hero's text may cover. */
async function brightestBehindText(picture: string): Promise<number> {
  const small = sharp(picture).autoOrient().resize(64, 36, { fit: "cover" }).flatten();
  const left = await small.extract({ left: 0, top: 0, width: 21, height: 36 }).greyscale().png().toBuffer();
  const { channels } = await sharp(left).stats();
  return channels[0]?.max ?? 255;
}
