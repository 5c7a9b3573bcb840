import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import type { SiteSettings } from "../app/site-schema.ts";
import { writePicture } from "./pictures.ts";

/**
 * The company's files by the name of the file in `app/media/` that each replaces. Leaves out what does not exist:
 * `lookProblems` reports it.
 */
export async function lookFiles({ look, heroPicture }: SiteSettings, folder: string): Promise<Map<string, string>> {
  const media = new Map<string, string>();
  const font = join(folder, look.displayFont ?? "");
  if (isFile(font)) media.set("display.woff2", font);
  const picture = join(folder, heroPicture?.file ?? "");
  if (isFile(picture)) for (const { name, file } of await drawPosters(picture)) media.set(name, file);
  return media;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The sizes and formats of the project's own picture. */
const POSTERS = [
  { name: "poster.avif", widthPx: 1280, format: "avif", quality: 40 },
  { name: "poster.webp", widthPx: 1280, format: "webp", quality: 40 },
  { name: "poster.jpg", widthPx: 1280, format: "jpeg", quality: 40 },
  { name: "poster.phone.avif", widthPx: 960, format: "avif", quality: 35 },
] as const;
const HEIGHT_PX = 720;

async function drawPosters(picture: string): Promise<{ name: string; file: string }[]> {
  const content = await readFile(picture);
  const hash = createHash("sha256").update(JSON.stringify(POSTERS)).update(content).digest("hex").slice(0, 16);
  const dir = join("node_modules/.cache/pictures", `hero-${hash}`);
  await mkdir(dir, { recursive: true });
  return Promise.all(
    POSTERS.map(async ({ name, widthPx, format, quality }) => {
      const file = join(process.cwd(), dir, name);
      const resized = () => sharp(content).autoOrient().resize(widthPx, HEIGHT_PX, { fit: "cover" });
      await writePicture(file, () => resized()[format]({ quality }).toBuffer());
      return { name, file };
    }),
  );
}

/** What is wrong with the files that the settings name. */
export async function lookProblems({ look, heroPicture }: SiteSettings, folder: string): Promise<string[]> {
  const problems: string[] = [];
  const font = look.displayFont && join(folder, look.displayFont);
  if (font !== null && !isFile(font)) problems.push(`"site.look.displayFont" names no file (${font}).`);
  else if (font !== null && !(await readFile(font)).subarray(0, 4).equals(Buffer.from("wOF2")))
    problems.push(`"site.look.displayFont" is not a WOFF2 file (${font}).`);
  const picture = heroPicture && join(folder, heroPicture.file);
  if (picture !== null && !isFile(picture)) problems.push(`"site.heroPicture.file" names no file (${picture}).`);
  else if (picture !== null) {
    const problem = await pictureProblem(picture).catch(
      () => `is damaged, or is no picture (${picture}). Save it again, e.g. as JPEG or PNG.`,
    );
    if (problem !== null) problems.push(`"site.heroPicture.file" ${problem}`);
  }
  return problems;
}

/** White text on the scrim of home.css over a grey of this brightness has a contrast of 4.5:1, with every hue. */
const BRIGHTEST = 170;
/** The part of the picture that the hero's text may cover, on the left. */
const TEXT_SHARE = 0.32;

async function pictureProblem(picture: string): Promise<string | null> {
  const [width, height] = [64, 36];
  const small = await sharp(picture).autoOrient().resize(width, height, { fit: "cover" }).flatten().png().toBuffer();
  const left = sharp(small).extract({ left: 0, top: 0, width: Math.ceil(width * TEXT_SHARE), height });
  const { channels } = await sharp(await left.greyscale().png().toBuffer()).stats();
  const brightest = channels[0]?.max ?? 255;
  if (brightest <= BRIGHTEST) return null;
  return `is too bright behind the text: a place on its left third has ${brightest} of 255, and may have ${BRIGHTEST}. Darken that part.`;
}
