import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import fontverter from "fontverter";
import * as harfbuzz from "harfbuzzjs";
import sharp from "sharp";
import type { Look, SiteSettings } from "../app/site-schema.ts";
import { markOf, type Palette } from "../app/styles/look.ts";

/**
 * The icon in browser tabs: the mark in the colours of the visitor's theme. `style` is the content of its `<style>`.
 */
export function faviconSvg(look: Look, { ink, accent }: Palette): { svg: string; style: string } {
  const style = "@media(prefers-color-scheme:dark){.ink{fill:#fff}}";
  const shapes = markShapes(look, ink, accent);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${markOf(look).viewBox}"><style>${style}</style>${shapes}</svg>`;
  return { svg, style };
}

/** The bitmap icons for browsers and home screens. */
export async function drawIcons(look: Look, palette: Palette) {
  // A maskable icon may be cropped to a circle of 80%, so the mark stays well inside.
  const mark = placedMark(look, palette.accent, 40);
  const maskable = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -7 56 56"><path d="M-8-7h56v56h-56z" fill="${palette.ink}"/>${mark}</svg>`;
  const draw = (svg: string, size: number) =>
    sharp(Buffer.from(svg), { density: 1200 }).resize(size, size).png().toBuffer();
  const [touch, small, large, tiny] = await Promise.all([
    draw(maskable, 180),
    draw(maskable, 192),
    draw(maskable, 512),
    draw(faviconSvg(look, palette).svg, 32),
  ]);
  return { touch, small, large, ico: icoOf(tiny, 32) };
}

function markShapes(look: Look, ink: string, accent: string): string {
  const mark = markOf(look);
  return `<path class="ink" fill="${ink}" d="${mark.ink}"/><path fill="${accent}" d="${mark.accent}"/>`;
}

/** The mark in white for a dark background, as a square of this size. */
function placedMark(look: Look, accent: string, sizePx: number): string {
  return `<svg viewBox="${markOf(look).viewBox}" width="${sizePx}" height="${sizePx}">${markShapes(look, "#fff", accent)}</svg>`;
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

const CARD = { widthPx: 1200, heightPx: 630, marginPx: 80, titleWidthPx: 680, titleHeightPx: 300, maxBytes: 60_000 };
/** The card uses the first size at which the title fits. */
const CARD_TITLES_PX = [92, 72, 56, 44];

/** The title does not fit on a social card. */
export class TitleRefused extends Error {}

/**
 * Prepares the font once, and returns a function that draws the preview picture of a shared link: the film's first
 * frame, the brand and the page's headline.
 */
export async function socialCardDrawer(
  site: SiteSettings,
  palette: Palette,
  { font, poster }: CardFiles,
): Promise<(headline: string) => Promise<Buffer>> {
  const outline = await textOutliner(font, 600);
  return (headline) => drawSocialCard(headline, outline, site, palette, poster);
}

/** The display font, and the hero's picture as JPEG. */
export interface CardFiles {
  font: string;
  poster: string;
}

async function drawSocialCard(
  headline: string,
  outline: TextOutliner,
  site: SiteSettings,
  palette: Palette,
  poster: string,
): Promise<Buffer> {
  const { widthPx: width, heightPx: height, marginPx: margin } = CARD;
  const { titlePx, lines } = fitTitle(headline, outline);
  const firstBaseline = height - margin - 64 - (lines.length - 1) * titlePx;
  const title = lines.map(({ svg }, index) => place(svg, margin, firstBaseline + index * titlePx, "#fff")).join("");
  const brand = place(outline(site.brand, 40).svg, margin + 76, 122, "#fff");
  const tagline = place(outline(site.footerTagline, 30).svg, margin, height - margin, palette.accent);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="scrim"><stop offset=".1" stop-color="${palette.hero}" stop-opacity=".82"/><stop offset=".75" stop-color="${palette.hero}" stop-opacity="0"/></linearGradient></defs>
    <path d="M0 0h${width}v${height}H0z" fill="url(#scrim)"/>
    <g transform="translate(${margin - 1.4} 70)">${placedMark(site.look, palette.accent, 64)}</g>${brand}${title}${tagline}</svg>`;
  const picture = await sharp(poster)
    .resize(width, height, { fit: "cover" })
    .composite([{ input: Buffer.from(svg) }])
    .png({ compressionLevel: 0 })
    .toBuffer();
  // Many small letters need more bytes than a few large ones.
  for (const quality of [80, 70, 60, 50]) {
    const card = await sharp(picture).jpeg({ quality, mozjpeg: true }).toBuffer();
    if (card.length <= CARD.maxBytes) return card;
  }
  throw new TitleRefused(`The social card of "${headline}" is larger than ${CARD.maxBytes} bytes; shorten that title.`);
}

function fitTitle(headline: string, outline: TextOutliner): { titlePx: number; lines: Outline[] } {
  const fits = CARD_TITLES_PX.map((titlePx) => ({ titlePx, lines: wrap(headline, (text) => outline(text, titlePx)) }));
  const fit = fits.find(
    ({ titlePx, lines }) =>
      lines.length * titlePx <= CARD.titleHeightPx && lines.every(({ widthPx }) => widthPx <= CARD.titleWidthPx),
  );
  if (!fit) {
    throw new TitleRefused(`The social card has no room for "${headline}"; shorten that title, or its longest word.`);
  }
  return fit;
}

function wrap(text: string, measure: (line: string) => Outline): Outline[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = [lines.at(-1), word].filter(Boolean).join(" ");
    if (lines.length > 0 && measure(longer).widthPx <= CARD.titleWidthPx) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map(measure);
}

function place(svg: string, x: number, y: number, fill: string): string {
  return `<g transform="translate(${x} ${y})" fill="${fill}">${svg}</g>`;
}

interface Outline {
  /** Its origin is the left end of the baseline. */
  svg: string;
  widthPx: number;
}

type TextOutliner = (text: string, sizePx: number) => Outline;

const FONT_UNITS = 1000;

async function readFace(fontFile: string): Promise<harfbuzz.Face> {
  const sfnt = await fontverter.convert(await readFile(fontFile), "sfnt");
  return new harfbuzz.Face(new harfbuzz.Blob(new Uint8Array(sfnt).buffer), 0);
}

function fontOf(face: harfbuzz.Face, weight: number): harfbuzz.Font {
  const font = new harfbuzz.Font(face);
  font.setScale(FONT_UNITS, FONT_UNITS);
  font.setVariations([new harfbuzz.Variation("wght", weight)]);
  return font;
}

function shape(font: harfbuzz.Font, text: string): harfbuzz.Buffer {
  const buffer = new harfbuzz.Buffer();
  buffer.addText(text);
  buffer.guessSegmentProperties();
  harfbuzz.shape(font, buffer);
  return buffer;
}

const SAMPLE = "The quick brown fox jumps over the lazy dog, and the sun rises over the hills again";
/** The fallbacks of base.css, with the width of the sample in Arial and Arial Bold, in units of the font size. */
const FALLBACKS = [
  { weight: 500, sampleWidth: 36.57, weights: "500", fonts: ["Arial", "Liberation Sans", "Helvetica"] },
  {
    weight: 600,
    sampleWidth: 39.51,
    weights: "600 700",
    fonts: ["Arial Bold", "Liberation Sans Bold", "Helvetica Bold"],
  },
];

/** Replaces the fallbacks of base.css, so that nothing moves when this display font loads. */
export async function fallbackFaces(fontFile: string): Promise<string> {
  const face = await readFace(fontFile);
  const metrics = new DataView(Uint8Array.from(face.referenceTable("hhea") ?? new Uint8Array(10)).buffer);
  const faces = FALLBACKS.map(({ weight, sampleWidth, weights, fonts }) => {
    const positions = shape(fontOf(face, weight), SAMPLE).getGlyphPositions();
    const width = positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0) / FONT_UNITS;
    const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
    const override = (offset: number) =>
      percent((Math.abs(metrics.getInt16(offset)) / face.upem) * (sampleWidth / width));
    const sources = fonts.map((font) => `local("${font}")`).join();
    return `@font-face{font-family:"Display Fallback";src:${sources};font-weight:${weights};size-adjust:${percent(width / sampleWidth)};ascent-override:${override(4)};descent-override:${override(6)};line-gap-override:${override(8)}}`;
  });
  return faces.join("");
}

/** Draws text as SVG paths, so that pictures do not depend on installed fonts. */
async function textOutliner(fontFile: string, weight: number): Promise<TextOutliner> {
  const face = await readFace(fontFile);
  const letters = new Set(face.collectUnicodes());
  const isDrawn = (letter: string) => letters.has(letter.codePointAt(0) ?? 0);
  const font = fontOf(face, weight);

  /** The font has only the letters that headings usually need. Replaces others with their plain form: CO₂ with CO2. */
  const drawable = (text: string) =>
    [...text].flatMap((letter) => (isDrawn(letter) ? letter : [...letter.normalize("NFKD")].filter(isDrawn))).join("");

  return (text, sizePx) => {
    const buffer = shape(font, drawable(text));
    const scale = sizePx / FONT_UNITS;
    const positions = buffer.getGlyphPositions();
    let x = 0;
    const glyphs = buffer.getGlyphInfos().map(({ codepoint }, index) => {
      const glyph = `<path transform="translate(${x} 0)" d="${font.glyphToPath(codepoint)}"/>`;
      x += positions[index]?.xAdvance ?? 0;
      return glyph;
    });
    return { svg: `<g transform="scale(${scale} ${-scale})">${glyphs.join("")}</g>`, widthPx: x * scale };
  };
}
