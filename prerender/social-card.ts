import { readFile } from "node:fs/promises";
import type { Font } from "fontkit";
import sharp from "sharp";
import type { SiteSettings } from "../app/site-schema.ts";
import { hexColours } from "../app/styles/look.ts";
import { cachedPicture, placedMark, readFont } from "./pictures.ts";

const WIDTH_PX = 1200;
const HEIGHT_PX = 630;
const MARGIN_PX = 80;
const MARK_PX = 88;
/** The headline has the largest of these sizes at which it takes at most this many lines. */
const HEADLINE_SIZES = [
  { sizePx: 104, lines: 2 },
  { sizePx: 84, lines: 3 },
  { sizePx: 64, lines: 4 },
  { sizePx: 48, lines: 5 },
];
const JPEG = { quality: 70, mozjpeg: true };

/**
 * Draws the preview of a shared link: mark, brand and the page's headline, in the display font over the hero's picture.
 * A text that does not fit, or has a letter that the font lacks, is left out.
 */
export async function createSocialCards({ look, brand }: SiteSettings, files: { poster: string; displayFont: string }) {
  const poster = await readFile(files.poster);
  const font = await readFont(files.displayFont);
  if (!font) throw new Error(`${files.displayFont} cannot be read`);
  const { darkGround } = hexColours(look);
  const brandX = MARGIN_PX + MARK_PX + 24;
  const drawnBrand = drawText(font, brand, { sizePx: 48, lines: 1 }, brandX);
  return async (headline: string): Promise<Buffer> => {
    const drawn = HEADLINE_SIZES.map((size) => drawText(font, headline, size, MARGIN_PX)).find(Boolean);
    const card = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_PX}" height="${HEIGHT_PX}" fill="#fff">
<linearGradient id="scrim" x2=".7" y1="1" y2="0"><stop stop-color="${darkGround}" stop-opacity=".85"/><stop offset="1" stop-color="${darkGround}" stop-opacity=".1"/></linearGradient>
<path fill="url(#scrim)" d="M0 0h${WIDTH_PX}v${HEIGHT_PX}H0z"/>
<g transform="translate(${MARGIN_PX} 64)">${placedMark(look, MARK_PX)}</g>
<g transform="translate(${brandX} 126)">${drawnBrand}</g>
<g transform="translate(${MARGIN_PX} ${HEIGHT_PX - MARGIN_PX})">${drawn ?? ""}</g></svg>`;
    const picture = sharp(poster)
      .resize(WIDTH_PX, HEIGHT_PX, { fit: "cover" })
      .composite([{ input: Buffer.from(card) }])
      .jpeg(JPEG);
    return readFile(await cachedPicture("social.jpg", poster, { card, JPEG }, picture));
  };
}

/** As paths, because sharp cannot read WOFF2. The last line's baseline is at 0. Empty if it does not fit. */
function drawText(font: Font, text: string, size: (typeof HEADLINE_SIZES)[number], x: number): string {
  const scale = size.sizePx / font.unitsPerEm;
  const fits = (line: string) => font.layout(line).advanceWidth * scale <= WIDTH_PX - MARGIN_PX - x;
  const words = text.split(/\s+/);
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && fits(longer)) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  const isDrawn = Array.from(words.join("")).every((letter) => font.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0));
  if (!isDrawn || lines.length > size.lines || !words.every(fits)) return "";
  return lines
    .map((line, index) => {
      const { glyphs, positions } = font.layout(line);
      let at = 0;
      const paths = glyphs.map(({ path }, glyph) => {
        const drawn = `<path transform="translate(${at})" d="${path.toSVG()}"/>`;
        at += positions[glyph]?.xAdvance ?? 0;
        return drawn;
      });
      const y = (index - lines.length + 1) * 1.08 * size.sizePx;
      return `<g transform="translate(0 ${y}) scale(${scale} ${-scale})">${paths.join("")}</g>`;
    })
    .join("");
}
