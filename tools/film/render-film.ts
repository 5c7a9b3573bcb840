/**
 * Renders the home page's background film.
 *
 *   node tools/film/render-film.ts                     all frames, both films, all posters, into app/media
 *   node tools/film/render-film.ts --stills <folder>   five frames to look at, nothing else
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium, type Page, type Route } from "@playwright/test";
import sharp, { type Sharp } from "sharp";
import { chromiumOptions, isInstalled } from "../../scripts/programs.mjs";
import { frameCount, framesPerSecond, loopSeconds } from "./layout.ts";

/** An error whose message is written for the person at the terminal; it needs no stack trace. */
class FilmError extends Error {}

const filmFolder = fileURLToPath(new URL("../../app/media/", import.meta.url));
const frameName = (index: number) => `frame-${String(index).padStart(4, "0")}.png`;

async function writeStills(folder: string): Promise<void> {
  const indexes = [0, 0.25, 0.5, 0.75].map((share) => Math.round(share * frameCount)).concat(frameCount - 1);
  await mkdir(folder, { recursive: true });
  const phases = indexes.map((index) => index / frameCount);
  await drawFrames(phases, (png, at) => writeFile(join(folder, frameName(indexes[at] ?? 0)), png));
  console.log(`Wrote ${indexes.length} stills.`);
}

async function renderFilm(): Promise<void> {
  requireFfmpeg();
  const frames = await mkdtemp(join(tmpdir(), "film-"));
  try {
    const phases = Array.from({ length: frameCount }, (_, index) => index / frameCount);
    await drawFrames(phases, async (png, index) => {
      await writeFile(join(frames, frameName(index)), png);
      if ((index + 1) % framesPerSecond === 0) console.log(`Drew ${index + 1} of ${frameCount} frames.`);
    });
    await mkdir(filmFolder, { recursive: true });
    const notes = await encodePosters(await readFile(join(frames, frameName(0))), filmFolder);
    notes.set("first-light.h264.mp4", await encodeH264(frames, join(filmFolder, "first-light.h264.mp4")));
    notes.set("first-light.av1.mp4", await encodeAv1(frames, join(filmFolder, "first-light.av1.mp4")));
    const sizes = await checkSizes(filmFolder, [...notes.keys()].sort());
    console.table([...sizes].map(([file, bytes]) => ({ file, bytes, encoding: notes.get(file) ?? "" })));
  } finally {
    await rm(frames, { recursive: true, force: true });
  }
}

// Drawing: the scene runs in a real browser, which returns each frame as a PNG.

declare global {
  interface Window {
    frameAsPng?: (phase: number) => string;
  }
}

/** Any host will do: every request is answered from this folder and none leaves the machine. */
const origin = "http://film.invalid";

const scenePage = `<!doctype html>
<html lang="en">
  <title>First light</title>
  <canvas></canvas>
  <script type="module">
    import { createScene, drawFrame } from "./scene.ts";
    const canvas = document.querySelector("canvas");
    const scene = createScene(canvas);
    window.frameAsPng = (phase) => {
      drawFrame(scene, phase);
      return canvas.toDataURL("image/png");
    };
  </script>
</html>`;

async function answer(route: Route): Promise<void> {
  const name = new URL(route.request().url()).pathname.slice(1);
  if (name === "") return route.fulfill({ contentType: "text/html", body: scenePage });
  if (!/^[a-z-]+\.ts$/.test(name)) return route.fulfill({ status: 404 });
  const source = await readFile(new URL(name, import.meta.url), "utf8");
  return route.fulfill({ contentType: "text/javascript", body: stripTypeScriptTypes(source) });
}

async function framePng(page: Page, phase: number): Promise<Buffer> {
  const dataUrl = await page.evaluate((at) => window.frameAsPng?.(at) ?? "", phase);
  const comma = dataUrl.indexOf(",");
  if (comma < 0) throw new Error("The scene returned no picture.");
  return Buffer.from(dataUrl.slice(comma + 1), "base64");
}

/**
 * Draws the given phases in order and passes each PNG to `onFrame`. It uses the software rasteriser, so that the
 * pictures do not depend on the machine's graphics card. Rejects when the scene reports an error.
 */
async function drawFrames(
  phases: readonly number[],
  onFrame: (png: Buffer, index: number) => Promise<void>,
): Promise<void> {
  const browser = await chromium.launch(chromiumOptions("--use-angle=swiftshader", "--enable-unsafe-swiftshader"));
  try {
    const page = await browser.newPage();
    const failures: string[] = [];
    page.on("pageerror", (error) => failures.push(error.message));
    await page.route(`${origin}/**`, answer);
    await page.goto(`${origin}/`);
    for (const [index, phase] of phases.entries()) {
      if (failures.length > 0) throw new Error(`The scene failed: ${failures.join("; ")}`);
      await onFrame(await framePng(page, phase), index);
    }
  } finally {
    await browser.close();
  }
}

// Encoding: from PNG frames to two films and three posters, each within its limit.

const filmLimitBytes = 400_000;
const posterLimitBytes = 30_000;
/** The AV1 film needs no more than this to look clean; the rest would be waste on a phone's data plan. */
const av1AimBytes = 360_000;
/** Room left under the limit for the H.264 film, whose size is chosen in advance and missed by a few per cent. */
const h264AimBytes = 386_000;

const framePattern = "frame-%04d.png";

/** Frames are sRGB; converted with the BT.709 matrix and labelled so, or players would guess and shift the greens. */
const toVideo = [
  "-vf",
  "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p",
  "-color_primaries",
  "bt709",
  "-color_trc",
  "bt709",
  "-colorspace",
  "bt709",
  "-color_range",
  "tv",
  "-an",
  "-movflags",
  "+faststart",
  "-map_metadata",
  "-1",
];

const input = ["-framerate", `${framesPerSecond}`, "-i", framePattern];

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}

/** AV1 at the lowest CRF that fits. Grain is synthesised by the player: it hides banding for almost no bits. */
async function encodeAv1(frames: string, output: string): Promise<string> {
  for (let crf = 30; crf <= 50; crf += 2) {
    await ffmpeg(
      [
        ...input,
        ...toVideo,
        "-c:v",
        "libsvtav1",
        "-preset",
        "7",
        "-crf",
        `${crf}`,
        "-g",
        "600",
        "-svtav1-params",
        "tune=0:film-grain=6:film-grain-denoise=0",
        output,
      ],
      frames,
    );
    if ((await sizeOf(output)) <= av1AimBytes) return `CRF ${crf}`;
  }
  throw new FilmError("The AV1 film stays too large even at CRF 50: take detail out of the scene.");
}

/** H.264 High in two passes. One group of pictures, so that the loop point is the only key frame. */
async function encodeH264(frames: string, output: string): Promise<string> {
  const kilobits = Math.floor((h264AimBytes * 8) / loopSeconds / 1000);
  const shared = [
    ...input,
    ...toVideo,
    "-c:v",
    "libx264",
    "-preset",
    "veryslow",
    "-profile:v",
    "high",
    "-b:v",
    `${kilobits}k`,
    "-x264-params",
    "keyint=600:min-keyint=600:scenecut=0:bframes=8:ref=5:aq-mode=3:aq-strength=0.9:qcomp=0.72:psy-rd=0.6,0.0:deblock=1,1:rc-lookahead=60",
  ];
  await ffmpeg([...shared, "-pass", "1", "-passlogfile", "x264", "-f", "null", "-"], frames);
  await ffmpeg([...shared, "-pass", "2", "-passlogfile", "x264", output], frames);
  return `two passes, ${kilobits} kbit/s`;
}

interface PosterFormat {
  readonly extension: string;
  readonly encode: (picture: Sharp, quality: number) => Sharp;
}

const posterFormats: readonly PosterFormat[] = [
  { extension: "avif", encode: (picture, quality) => picture.avif({ quality, effort: 5, chromaSubsampling: "4:4:4" }) },
  { extension: "webp", encode: (picture, quality) => picture.webp({ quality, effort: 6, smartSubsample: true }) },
  { extension: "jpg", encode: (picture, quality) => picture.jpeg({ quality, mozjpeg: true }) },
];

/** Writes the poster in every format at the best quality that fits. */
async function encodePosters(firstFrame: Buffer, folder: string): Promise<Map<string, string>> {
  const notes = new Map<string, string>();
  for (const { extension, encode } of posterFormats) {
    const name = `poster.${extension}`;
    // The largest quality that fits, by halving: every try is a full encode.
    let fits = 20;
    let tooLarge = 96;
    while (tooLarge - fits > 1) {
      const quality = Math.floor((fits + tooLarge) / 2);
      const data = await encode(sharp(firstFrame), quality).toBuffer();
      if (data.length > posterLimitBytes) {
        tooLarge = quality;
      } else {
        fits = quality;
        await writeFile(join(folder, name), data);
        notes.set(name, `quality ${quality}`);
      }
    }
    if (!notes.has(name)) throw new FilmError(`${name} does not fit into ${posterLimitBytes} bytes.`);
  }
  return notes;
}

/** Throws a `FilmError` that names every file over its limit; returns the sizes otherwise. */
async function checkSizes(folder: string, names: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const name of names) sizes.set(name, await sizeOf(join(folder, name)));
  const limitOf = (name: string) => (name.startsWith("poster.") ? posterLimitBytes : filmLimitBytes);
  const broken = [...sizes].filter(([name, bytes]) => bytes > limitOf(name));
  if (broken.length === 0) return sizes;
  throw new FilmError(broken.map(([name, bytes]) => `${name} has ${bytes} bytes, limit ${limitOf(name)}`).join("; "));
}

/** Throws a `FilmError` unless ffmpeg is installed with both encoders. */
function requireFfmpeg(): void {
  if (!isInstalled("ffmpeg")) throw new FilmError("ffmpeg not found: install ffmpeg (with libsvtav1 and libx264).");
  const { stdout } = spawnSync("ffmpeg", ["-hide_banner", "-encoders"], { encoding: "utf8" });
  const missing = ["libsvtav1", "libx264"].filter((encoder) => !stdout.includes(encoder));
  if (missing.length > 0)
    throw new FilmError(`This ffmpeg lacks ${missing.join(" and ")}: install a build that has it.`);
}

/** Runs ffmpeg quietly; rejects with its error output when it fails. */
function ffmpeg(args: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("ffmpeg", ["-y", "-hide_banner", "-loglevel", "error", ...args], {
      cwd: folder,
      env: { ...process.env, SVT_LOG: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new FilmError(`ffmpeg failed: ${errors.trim()}`));
    });
  });
}

// Last, because it needs every constant above.
try {
  const { values } = parseArgs({ options: { stills: { type: "string" } } });
  if (values.stills === undefined) await renderFilm();
  else await writeStills(values.stills);
} catch (error) {
  console.error(error instanceof FilmError ? error.message : error);
  process.exitCode = 1;
}
