import sharp from "sharp";
import { MARK_COLOUR } from "../app/components/mark.tsx";
import { site } from "../app/site.ts";
import { markShapes } from "./icons.ts";
import { type Outline, outliner } from "./text-outline.ts";

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 80;
const TITLE_PX = 92;
const TITLE_WIDTH_PX = 680;
const MAX_BYTES = 60_000;

/** The picture that a shared link shows: the film's first frame, the brand, and the page's headline. */
export async function drawSocialCard(headline: string): Promise<Buffer> {
  const outline = await outliner("app/media/display.woff2", 600);
  const lines = wrap(headline, (text) => outline(text, TITLE_PX));
  const firstBaseline = HEIGHT - MARGIN - 64 - (lines.length - 1) * TITLE_PX;
  const title = lines.map(({ path }, index) => place(path, MARGIN, firstBaseline + index * TITLE_PX, "#fff")).join("");
  const brand = place(outline(site.brand, 40).path, MARGIN + 76, 122, "#fff");
  const tagline = place(outline(site.footerTagline, 30).path, MARGIN, HEIGHT - MARGIN, MARK_COLOUR.amber);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <defs><linearGradient id="scrim"><stop offset=".1" stop-color="#06201c" stop-opacity=".82"/><stop offset=".75" stop-color="#06201c" stop-opacity="0"/></linearGradient></defs>
    <path d="M0 0h${WIDTH}v${HEIGHT}H0z" fill="url(#scrim)"/>
    <g transform="translate(${MARGIN} 76) scale(1.875)">${markShapes("#fff")}</g>${brand}${title}${tagline}</svg>`;
  const card = await sharp("app/media/poster.jpg")
    .resize(WIDTH, HEIGHT, { fit: "cover" })
    .composite([{ input: Buffer.from(svg) }])
    .jpeg({ quality: 80, mozjpeg: true })
    .toBuffer();
  if (card.length > MAX_BYTES)
    throw new Error(`The social card of "${headline}" is ${card.length} bytes; lower its quality.`);
  return card;
}

function wrap(text: string, measure: (line: string) => Outline): Outline[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = [lines.at(-1), word].filter(Boolean).join(" ");
    if (lines.length > 0 && measure(longer).widthPx <= TITLE_WIDTH_PX) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map(measure);
}

function place(path: string, x: number, y: number, fill: string): string {
  return `<path transform="translate(${x} ${y})" fill="${fill}" d="${path}"/>`;
}
