import sharp from "sharp";
import { MARK_COLOUR, MARK_SHAPES } from "../app/components/mark.tsx";

/** The mark on its 32 unit grid, as SVG shapes; its sun is amber. */
export function markShapes(ink: string): string {
  const { sun, horizon, blade, bladeTurns, centre } = MARK_SHAPES;
  const blades = bladeTurns.map((turn) => `<path d="${blade}" transform="rotate(${turn} ${centre})"/>`).join("");
  return `<g class="ink" fill="${ink}">${blades}<path d="${horizon}"/></g><path d="${sun}" fill="${MARK_COLOUR.amber}"/>`;
}

/** The mark as a picture of its own; without a ground it follows the reader's theme. */
export function markSvg(ground?: string): string {
  if (ground) {
    // A maskable icon may be cut to a circle of 80 %, so the mark stays well inside.
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 56 56"><path d="M-12-12h56v56h-56z" fill="${ground}"/>${markShapes("#fff")}</svg>`;
  }
  const style = "<style>@media(prefers-color-scheme:dark){.ink{fill:#fff}}</style>";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${style}${markShapes(MARK_COLOUR.ink)}</svg>`;
}

export async function drawIcons() {
  const onGround = Buffer.from(markSvg(MARK_COLOUR.ink));
  const draw = (svg: Buffer, size: number) => sharp(svg, { density: 1200 }).resize(size, size).png().toBuffer();
  const [touch, small, large, tiny] = await Promise.all([
    draw(onGround, 180),
    draw(onGround, 192),
    draw(onGround, 512),
    draw(Buffer.from(markSvg()), 32),
  ]);
  return { touch, small, large, ico: icoOf(tiny, 32) };
}

/** An ICO file is a small table in front of a PNG. */
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
