import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import sharp from "sharp";
import type { Look } from "../app/site-schema.ts";
import { hexColours, markOf } from "../app/styles/look.ts";

/**
 * The icon in browser tabs: the mark in the colours of the visitor's theme. `style` is the content of its `<style>`.
 */
export function faviconSvg(look: Look): { svg: string; style: string } {
  const style = "@media(prefers-color-scheme:dark){.ink{fill:#fff}}";
  const shapes = markShapes(look, hexColours(look).ink);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${markOf(look).viewBox}"><style>${style}</style>${shapes}</svg>`;
  return { svg, style };
}

/** The bitmap icons for browsers and home screens. */
export async function drawIcons(look: Look) {
  // A maskable icon may be cropped to a circle of 80%, so the mark stays well inside.
  const mark = placedMark(look, 40);
  const maskable = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -7 56 56"><path d="M-8-7h56v56h-56z" fill="${hexColours(look).ink}"/>${mark}</svg>`;
  const draw = (svg: string, size: number) =>
    sharp(Buffer.from(svg), { density: 1200 }).resize(size, size).png().toBuffer();
  const [touch, small, large, tiny] = await Promise.all([
    draw(maskable, 180),
    draw(maskable, 192),
    draw(maskable, 512),
    draw(faviconSvg(look).svg, 32),
  ]);
  return { touch, small, large, ico: icoOf(tiny, 32) };
}

function markShapes(look: Look, ink: string): string {
  const mark = markOf(look);
  return `<path class="ink" fill="${ink}" d="${mark.ink}"/><path fill="${hexColours(look).accent}" d="${mark.accent}"/>`;
}

/** The mark in white for a dark background, as a square of this size. */
function placedMark(look: Look, sizePx: number): string {
  return `<svg viewBox="${markOf(look).viewBox}" width="${sizePx}" height="${sizePx}">${markShapes(look, "#fff")}</svg>`;
}

/** An ICO file is a small table followed by a PNG. */
function icoOf(png: Buffer, size: number): Buffer {
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2); // an icon, not a cursor
  header.writeUInt16LE(1, 4); // one picture
  header.writeUInt8(size, 6);
  header.writeUInt8(size, 7);
  header.writeUInt16LE(1, 10); // colour planes
  header.writeUInt16LE(32, 12); // bits per pixel
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, png]);
}

/** A page's picture in the sizes that browsers choose from, largest last. */
export interface ResizedPicture {
  /** The width of the largest size. */
  width: number;
  height: number;
  sources: readonly { file: string; width: number }[];
}

/** A text column is at most 40rem wide. The larger size is for high-density screens. */
const PICTURE_WIDTHS_PX = [480, 960];
const PICTURE_QUALITY = 75;
const RESIZED_DIR = "node_modules/.cache/pictures";
/** Part of the cache key: increase it when `resizePicture` changes. */
const RESIZED_VERSION = 1;

/**
 * Converts a picture to WebP files without metadata such as the location. Caches them, because the conversion takes
 * most of the time of a small build.
 */
export async function resizePicture(file: string, content: Buffer): Promise<ResizedPicture> {
  const { format, autoOrient } = await sharp(content).metadata();
  // A drawing has no fixed resolution and is sharp at twice its size.
  const availablePx = format === "svg" ? 2 * autoOrient.width : autoOrient.width;
  const largestPx = Math.min(availablePx, Math.max(...PICTURE_WIDTHS_PX));
  const widths = [...PICTURE_WIDTHS_PX.filter((width) => width < largestPx), largestPx];
  const hash = createHash("sha256")
    .update(`${RESIZED_VERSION} ${PICTURE_QUALITY} `)
    .update(content)
    .digest("hex")
    .slice(0, 16);
  const name = parse(file)
    .name.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  const dir = join(RESIZED_DIR, hash);
  await mkdir(dir, { recursive: true });
  const sources = await Promise.all(
    widths.map(async (width) => {
      const source = { file: join(dir, `${name}-${width}.webp`), width };
      await writePicture(source.file, () =>
        sharp(content, { density: format === "svg" ? 144 : 72 })
          .autoOrient()
          .resize({ width })
          .webp({ quality: PICTURE_QUALITY, effort: 6 })
          .toBuffer(),
      );
      return source;
    }),
  );
  const shownPx = format === "svg" ? Math.min(autoOrient.width, largestPx) : largestPx;
  return { width: shownPx, height: Math.round((shownPx * autoOrient.height) / autoOrient.width), sources };
}

/** Draws and writes a picture, unless it is in the cache. */
export async function writePicture(file: string, draw: () => Promise<Buffer>): Promise<void> {
  if (existsSync(file)) return;
  // Renames the complete file, because another build or another use on the page may write it at the same time.
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, await draw());
  await rename(draft, file);
}

/** The preview of a shared link: the hero's picture with the mark, which no language needs and no font draws. */
export async function drawSocialCard(look: Look, poster: string): Promise<Buffer> {
  const mark = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><g transform="translate(80 70)">${placedMark(look, 160)}</g></svg>`;
  return sharp(poster)
    .resize(1200, 630, { fit: "cover" })
    .composite([{ input: Buffer.from(mark) }])
    .jpeg({ quality: 70, mozjpeg: true })
    .toBuffer();
}
