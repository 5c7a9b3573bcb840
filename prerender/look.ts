import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import sharp from "sharp";
import type { Look, SiteSettings } from "../app/site-schema.ts";
import {
  COLOUR_NAMES,
  contrastOf,
  contrastProblems,
  hexOf,
  type Palette,
  readPalettes,
  type Theme,
} from "../app/styles/look.ts";
import { fallbackFaces, writePicture } from "./pictures.ts";

/** The styles that declare colours. */
const COLOUR_STYLES = ["app/styles/tokens.css", "app/styles/home.css"];

export function palettesOf(look: Look): Record<Theme, Palette> {
  return readPalettes(COLOUR_STYLES.map((file) => readFileSync(file, "utf8")).join(""), look);
}

export interface LookFiles {
  /** The company's files by the name of the file in `app/media/` that each replaces. */
  media: ReadonlyMap<string, string>;
  /** The company's film files by their names in the settings. */
  films: ReadonlyMap<string, string>;
  /** CSS that gives the fallback of the company's display font the same metrics. */
  displayFallback: string;
}

/** Leaves out what does not exist: `lookProblems` reports it. */
export async function lookFiles(site: SiteSettings, folder: string): Promise<LookFiles> {
  const { look, heroPicture } = site;
  const media = new Map<string, string>();
  const font = join(folder, look.displayFont ?? "");
  if (isFile(font)) media.set("display.woff2", font);
  const picture = join(folder, heroPicture?.file ?? "");
  if (isFile(picture)) for (const { name, file } of await drawPosters(picture)) media.set(name, file);
  const films = new Map(filmFiles(site).map((name) => [name, join(folder, name)] as const));
  for (const [name, file] of films) if (!isFile(file)) films.delete(name);
  return { media, films, displayFallback: isFile(font) ? await fallbackFaces(font) : "" };
}

/** The sources of the film that are files beside `site.ts`, and not addresses. */
function filmFiles({ heroFilm }: SiteSettings): string[] {
  if (typeof heroFilm === "string") return [];
  return heroFilm.map(({ url }) => url).filter((url) => !URL.canParse(url) && !url.startsWith("/"));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

const POSTERS = [
  { name: "poster.avif", widthPx: 1280, heightPx: 720, maxBytes: 30_000 },
  { name: "poster.webp", widthPx: 1280, heightPx: 720, maxBytes: 30_000 },
  { name: "poster.jpg", widthPx: 1280, heightPx: 720, maxBytes: 30_000 },
  { name: "poster.phone.avif", widthPx: 960, heightPx: 720, maxBytes: 16_000 },
] as const;
const QUALITIES = [60, 50, 40, 30, 20, 10];

/** Converts the hero's picture to the sizes and formats of the project's own, each at the best quality that fits. */
async function drawPosters(picture: string): Promise<{ name: string; file: string }[]> {
  const content = await readFile(picture);
  const hash = createHash("sha256")
    .update(JSON.stringify([POSTERS, QUALITIES]))
    .update(content)
    .digest("hex");
  const dir = join("node_modules/.cache/pictures", `hero-${hash.slice(0, 16)}`);
  await mkdir(dir, { recursive: true });
  return Promise.all(
    POSTERS.map(async ({ name, widthPx, heightPx, maxBytes }) => {
      const file = join(process.cwd(), dir, name);
      const format = name.endsWith("avif") ? "avif" : name.endsWith("webp") ? "webp" : "jpeg";
      await writePicture(file, async () => {
        const resized = await sharp(content).autoOrient().resize(widthPx, heightPx, { fit: "cover" }).png().toBuffer();
        for (const quality of QUALITIES) {
          const encoded = await sharp(resized)[format]({ quality }).toBuffer();
          if (encoded.length <= maxBytes || quality === QUALITIES.at(-1)) return encoded;
        }
        return resized;
      });
      return { name, file };
    }),
  );
}

/** What is wrong with the look: files, colours and contrast. */
export async function lookProblems(site: SiteSettings, folder: string): Promise<string[]> {
  const { look, heroPicture } = site;
  const problems: string[] = filmFiles(site).flatMap((name) => filmProblem(name, join(folder, name)) ?? []);
  if (filmFiles(site).length > 0 && heroPicture === null)
    problems.push(`"heroFilm" names a file, so "heroPicture" must be the film's first frame.`);
  for (const [name, colour] of Object.entries(look.colours)) {
    if (!COLOUR_NAMES.some((known) => known === name))
      problems.push(`There is no colour "${name}" in "look.colours". The colours are: ${COLOUR_NAMES.join(", ")}.`);
    const values = typeof colour === "string" ? [colour] : [colour.light, colour.dark];
    if (values.some((value) => hexOf(value) === null))
      problems.push(`The colour "${name}" in "look.colours" is not valid; e.g. "#ffb703" or "oklch(0.8 0.14 72)".`);
  }
  const font = look.displayFont && join(folder, look.displayFont);
  if (font !== null && !isFile(font)) problems.push(`"look.displayFont" names no file (${font}).`);
  else if (font !== null && !font.endsWith(".woff2")) problems.push(`"look.displayFont" is not a WOFF2 file.`);
  else if (font !== null)
    await fallbackFaces(font).catch(() =>
      problems.push(`"look.displayFont" is damaged (${font}). Export the font again.`),
    );
  if (heroPicture !== null && !isFile(join(folder, heroPicture.file)))
    problems.push(`"heroPicture.file" names no file (${join(folder, heroPicture.file)}).`);
  if (problems.length > 0) return problems;
  const palettes = palettesOf(look);
  const picture = heroPicture && join(folder, heroPicture.file);
  const onPicture =
    picture &&
    (await pictureProblem(picture, palettes.light).catch(
      () => `"heroPicture.file" is damaged, or is no picture (${picture}). Save it again, e.g. as JPEG or PNG.`,
    ));
  return [...contrastProblems(palettes), ...(onPicture ? [onPicture] : [])];
}

/** With the rest of the home page, such a film is rated A. */
const MAX_FILM_BYTES = 450_000;
/** The bytes that files of these formats start with, after the given number of others. */
const FILM_FORMATS = { ".mp4": { skip: 4, start: "ftyp" }, ".webm": { skip: 0, start: "\x1aE\xdf\xa3" } } as const;

function filmProblem(name: string, file: string): string | null {
  if (!isFile(file)) return `"heroFilm" names no file (${file}).`;
  const content = readFileSync(file);
  const format = FILM_FORMATS[extname(name) as keyof typeof FILM_FORMATS];
  const { skip = 0, start = null } = format ?? {};
  if (start === null || content.toString("latin1", skip, skip + start.length) !== start)
    return `${name} in "heroFilm" is not an MP4 or WebM film.`;
  const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1000)} KB`;
  if (content.length <= MAX_FILM_BYTES) return null;
  return `${name} in "heroFilm" has ${kilobytes(content.length)}, and may have at most ${kilobytes(MAX_FILM_BYTES)}; docs/carbon.md says why.`;
}

/** As in home.css: the scrim's opacity over the part of the picture with small text, and its colour. */
const SCRIM_OPACITY = 0.4;
const TEXT_SHARE = 0.32;

/** The hero's text must be readable on the brightest part of the picture that it may cover. */
async function pictureProblem(picture: string, { snow, hero }: Palette): Promise<string | null> {
  const [widthPx, heightPx] = [64, 36];
  const { data } = await sharp(picture)
    .autoOrient()
    .resize(widthPx, heightPx, { fit: "cover" })
    .flatten()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const scrim = [1, 3, 5].map((at) => Number.parseInt(hero.slice(at, at + 2), 16));
  let worst = Number.POSITIVE_INFINITY;
  for (let pixel = 0; pixel < widthPx * heightPx; pixel += 1) {
    if (pixel % widthPx >= widthPx * TEXT_SHARE) continue;
    const mixed = scrim.map((channel, index) =>
      Math.round(channel * SCRIM_OPACITY + (data[pixel * 3 + index] ?? 0) * (1 - SCRIM_OPACITY)),
    );
    const hex = `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    worst = Math.min(worst, contrastOf(snow, hex));
  }
  if (worst >= 4.5) return null;
  return `The colour "snow" on the left third of "heroPicture" has a contrast of ${worst.toFixed(2)}:1, and needs 4.5:1. Choose a darker picture, or darken that part.`;
}
