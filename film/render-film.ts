/**
 * Renders the home page's background film.
 *
 *   node film/render-film.ts                     all frames, all films, all posters, into app/media
 *   node film/render-film.ts --frames <folder>   the same, but keeps the frames, and draws only those that are missing
 *   node film/render-film.ts --stills <folder>   five frames to look at, nothing else
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium, type Page, type Route } from "playwright-core";
import sharp, { type Sharp } from "sharp";
import { chromiumOptions, isInstalled } from "../tests/support/programs.ts";
import { frameCount, framesPerSecond, heightPx } from "./layout.ts";

/** An error whose message is written for the person at the terminal; it needs no stack trace. */
class FilmError extends Error {}

const filmFolder = fileURLToPath(new URL("../app/media/", import.meta.url));
const frameName = (index: number) => `frame-${String(index).padStart(4, "0")}.png`;

async function writeStills(folder: string): Promise<void> {
  const indexes = [0, 0.25, 0.5, 0.75].map((share) => Math.round(share * frameCount)).concat(frameCount - 1);
  await mkdir(folder, { recursive: true });
  const phases = indexes.map((index) => index / frameCount);
  await drawFrames(phases, (png, at) => writeFile(join(folder, frameName(indexes[at] ?? 0)), png));
  console.log(`Wrote ${indexes.length} stills.`);
}

async function renderFilm(keptFrames: string | undefined): Promise<void> {
  requireEncoders();
  const frames = keptFrames ?? (await mkdtemp(join(tmpdir(), "film-")));
  try {
    await writeFrames(frames);
    const notes = await encodePosters(await readFile(join(frames, frameName(0))), filmFolder);
    for (const version of versions) {
      for (const encode of [encodeAv1, encodeH264]) {
        const { file, quantiser } = await encode(frames, version);
        notes.set(file, `quantiser ${quantiser}, ${await seamOf(join(filmFolder, file))}`);
        console.log(`Encoded ${file}.`);
      }
    }
    const rows = [...notes].map(async ([file, encoding]) => ({
      file,
      bytes: await sizeOf(join(filmFolder, file)),
      encoding,
    }));
    console.table(await Promise.all(rows));
  } finally {
    if (keptFrames === undefined) await rm(frames, { recursive: true, force: true });
  }
}

async function writeFrames(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const drawn = new Set(await readdir(folder));
  const missing = Array.from({ length: frameCount }, (_, index) => index).filter(
    (index) => !drawn.has(frameName(index)),
  );
  const phases = missing.map((index) => index / frameCount);
  await drawFrames(phases, async (png, at) => {
    await writeFile(join(folder, frameName(missing[at] ?? 0)), png);
    if ((at + 1) % framesPerSecond === 0) console.log(`Drew ${at + 1} of ${missing.length} frames.`);
  });
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

// Encoding: from PNG frames to films and posters of two sizes, each within its limit.

interface Version {
  /** Stands between name and format in file names. */
  readonly name: "" | ".phone";
  readonly widthPx: number;
  readonly heightPx: number;
  /** What a phone shows: the turbine, the sun, and little else. In pixels of the drawing. */
  readonly crop?: { readonly left: number; readonly width: number };
  readonly limitBytes: { readonly av1: number; readonly h264: number };
  /** A poster is written in each format that has a limit. */
  readonly posterLimitBytes: Readonly<Partial<Record<PosterFormat, number>>>;
  /** The first quantiser to try; lower ones make files too large. */
  readonly av1: number;
  readonly h264: number;
}

const versions: readonly Version[] = [
  {
    name: "",
    widthPx: 1280,
    heightPx: 720,
    limitBytes: { av1: 284_000, h264: 258_000 },
    posterLimitBytes: { avif: 24_700, webp: 15_800, jpg: 27_100 },
    av1: 35,
    h264: 28,
  },
  {
    name: ".phone",
    widthPx: 640,
    heightPx: 480,
    crop: { left: 480, width: 1440 },
    limitBytes: { av1: 154_000, h264: 144_000 },
    posterLimitBytes: { avif: 15_800 },
    av1: 32,
    h264: 28,
  },
];

const framePattern = "frame-%04d.png";

/**
 * A loop jumps back to a key frame, whose errors are not those of the predicted frames before it: the picture twitches.
 * So the encoders get the beginning once more, see it as another key frame, and predict the last frames from that one
 * too (an open group of pictures). The frames after the loop's end make both key frames alike, then are cut off.
 */
const encodedFrames = frameCount + 64;
/** AV1 blends in the first key frame's errors over this many last frames. */
const leadFrames = 32;

/** Frames are sRGB; converted with the BT.709 matrix and labelled so, or players would guess and shift the greens. */
function toVideo({ widthPx, heightPx, crop }: Version): string {
  const part = crop ? `crop=${crop.width}:ih:${crop.left}:0,` : "";
  const colour = "out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int";
  return `${part}scale=${widthPx}:${heightPx}:${colour},format=yuv420p`;
}

const input = ["-framerate", `${framesPerSecond}`, "-loop", "1", "-i", framePattern];
const output = [
  ...["-frames:v", `${encodedFrames}`],
  ...["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv", "-an"],
];
const fileOptions = ["-c", "copy", "-movflags", "+faststart", "-map_metadata", "-1"];

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}

/**
 * Grain that the player adds: it hides banding for almost no bits. White noise, a little stronger in brightness than in
 * colour, for the whole film. The format is that of libaom's `--film-grain-table`.
 */
const grainTable = `filmgrn1
E 0 9223372036854775807 1 7391 1
\tp 0 7 0 11 0 1 128 192 256 128 192 256
\tsY 2 0 26 255 26
\tsCb 2 0 16 255 16
\tsCr 2 0 16 255 16
\tcY
\tcCb 0
\tcCr 0
`;

/**
 * AV1. The second key frame is a forward key frame, which libaom codes with the quantiser of the first one, but not with
 * the same decisions. So a second run adds the first key frame's errors, growing, to the last frames and to the
 * second key frame: coded again, a picture that was coded with this quantiser stays nearly as it is. No temporal filter:
 * it would make a key frame differ from the frames beside it.
 */
function encodeAv1(frames: string, version: Version) {
  return encodeToFit(frames, version, "av1", async (quantiser, draft, file) => {
    const source = `${draft}.y4m`;
    const first = `${draft}.first.y4m`;
    const grain = `${draft}.grain`;
    await writeFile(grain, grainTable);
    const encode = () =>
      run("aomenc", [
        ...[source, `--output=${draft}`, "--ivf", "--quiet", "--passes=2", "--cpu-used=6", "--threads=2"],
        ...["--end-usage=q", `--cq-level=${quantiser}`, "--deltaq-mode=0", `--film-grain-table=${grain}`],
        ...["--enable-fwd-kf=1", `--fwd-kf-dist=${frameCount}`, `--kf-max-dist=${2 * frameCount}`, "--lag-in-frames=35"],
        ...["--enable-keyframe-filtering=0", "--arnr-strength=0"],
        ...["--color-primaries=bt709", "--transfer-characteristics=bt709", "--matrix-coefficients=bt709"],
      ]);
    await ffmpeg([...input, "-vf", toVideo(version), ...output, source], frames);
    await encode();
    await ffmpeg(["-c:v", "libdav1d", "-filmgrain", "0", "-i", draft, "-frames:v", "1", first], frames);
    const start = frameCount - leadFrames;
    const graph = [
      `[0:v]${toVideo(version)}[film]`,
      `[2:v]${toVideo(version)}[drawn]`,
      "[1:v][drawn]blend=all_mode=grainextract[errors]",
      // The filter counts N from 1, and cuts off fractions.
      `[film][errors]blend=all_expr='A+(B-128)*(N-1-${start})/${leadFrames}+0.5':enable='between(n,${start},${frameCount})'`,
    ];
    const inputs = [...input, "-i", first, "-i", frameName(0)];
    await ffmpeg([...inputs, "-filter_complex", graph.join(";"), ...output, source], frames);
    await encode();
    // The second key frame is hidden in an earlier packet: decoded, but not shown.
    await ffmpeg(["-i", draft, "-frames:v", `${frameCount}`, ...fileOptions, file], frames);
  });
}

/**
 * H.264 High. With one quantiser for all key frames, both are bit-identical. The second one has to be
 * the last picture of the film, which lasts a tick, because H.264 in MP4 has no pictures that are not shown.
 * The frames between get the quantiser of the predicted ones, so that no blade frays. The bits for that come from the
 * psychovisual options, which would keep a grain that this film does not have.
 */
function encodeH264(frames: string, version: Version) {
  return encodeToFit(frames, version, "h264", async (quantiser, draft, file) => {
    const encoder = [
      ...["-c:v", "libx264", "-preset", "veryslow", "-profile:v", "high", "-qp", `${quantiser}`],
      "-x264-params",
      `keyint=${frameCount}:min-keyint=${frameCount}:open-gop=1:scenecut=0:bframes=7:b-adapt=0:ref=5:ipratio=2:pbratio=1:deblock=1,1:no-psy=1`,
    ];
    await ffmpeg([...input, "-vf", toVideo(version), ...output, ...encoder, draft], frames);
    const lastTick = `setts=pts=PTS:dts=DTS:duration='if(eq(N,${frameCount}),1,DURATION)'`;
    await ffmpeg(["-i", draft, "-frames:v", `${frameCount + 1}`, "-bsf:v", lastTick, ...fileOptions, file], frames);
  });
}

/** With the lowest quantiser that fits the limit. */
async function encodeToFit(
  frames: string,
  version: Version,
  format: "av1" | "h264",
  encode: (quantiser: number, draft: string, file: string) => Promise<void>,
): Promise<{ file: string; quantiser: number }> {
  const file = `first-light${version.name}.${format}.mp4`;
  const path = join(filmFolder, file);
  const folder = await mkdtemp(join(tmpdir(), "film-draft-"));
  try {
    for (let quantiser = version[format]; quantiser <= 50; quantiser += 1) {
      await encode(quantiser, join(folder, "draft.mp4"), path);
      if ((await sizeOf(path)) <= version.limitBytes[format]) return { file, quantiser };
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  throw new FilmError(`${file} does not fit into ${version.limitBytes[format]} bytes: take detail out of the scene.`);
}

/**
 * How much the picture changes from frame to frame at the loop's seam and beside it: the mean absolute difference in
 * brightness, from 0 to 255, in the film played twice.
 */
async function seamOf(film: string): Promise<string> {
  const print = "metadata=print:key=lavfi.signalstats.YAVG:file=-";
  const shown = `select='lt(mod(n,${film.includes("h264") ? frameCount + 1 : frameCount}),${frameCount})'`;
  const printed = await ffmpeg(
    ["-stream_loop", "1", "-i", film, "-vf", `${shown},tblend=all_mode=difference,signalstats,${print}`, "-f", "null", "-"],
    filmFolder,
  );
  const changes = Array.from(printed.matchAll(/YAVG=([\d.]+)/g), ([, change]) => Number(change));
  const seam = frameCount - 1;
  const beside = [...changes.slice(seam - 8, seam), ...changes.slice(seam + 1, seam + 9)];
  const mean = beside.reduce((sum, change) => sum + change, 0) / beside.length;
  return `changes by ${changes[seam]?.toFixed(2)} at the seam, ${mean.toFixed(2)} beside it`;
}

type PosterFormat = "avif" | "webp" | "jpg";

const encodePoster: Readonly<Record<PosterFormat, (picture: Sharp, quality: number) => Sharp>> = {
  avif: (picture, quality) => picture.avif({ quality, effort: 5, chromaSubsampling: "4:4:4" }),
  webp: (picture, quality) => picture.webp({ quality, effort: 6, smartSubsample: true }),
  jpg: (picture, quality) => picture.jpeg({ quality, mozjpeg: true }),
};

/** Writes each poster at the best quality that fits. */
async function encodePosters(firstFrame: Buffer, folder: string): Promise<Map<string, string>> {
  const notes = new Map<string, string>();
  for (const { name: size, crop, posterLimitBytes, ...scene } of versions) {
    const height = crop ? 720 : scene.heightPx;
    const part = crop ? sharp(firstFrame).extract({ ...crop, top: 0, height: heightPx }) : sharp(firstFrame);
    const picture = await part.resize({ height }).png().toBuffer();
    for (const [format, limitBytes] of Object.entries(posterLimitBytes) as [PosterFormat, number][]) {
      const name = `poster${size}.${format}`;
      // The largest quality that fits, by halving: every try is a full encode.
      let fits = 20;
      let tooLarge = 76;
      while (tooLarge - fits > 1) {
        const quality = Math.floor((fits + tooLarge) / 2);
        const data = await encodePoster[format](sharp(picture), quality).toBuffer();
        if (data.length > limitBytes) {
          tooLarge = quality;
        } else {
          fits = quality;
          await writeFile(join(folder, name), data);
          notes.set(name, `quality ${quality}`);
        }
      }
      if (!notes.has(name)) throw new FilmError(`${name} does not fit into ${limitBytes} bytes.`);
    }
  }
  return notes;
}

/** Throws a `FilmError` unless ffmpeg and aomenc are installed, with the encoders and the decoder that are needed. */
function requireEncoders(): void {
  if (!isInstalled("ffmpeg")) throw new FilmError("ffmpeg not found: install ffmpeg (with libx264 and libdav1d).");
  if (!isInstalled("aomenc")) throw new FilmError("aomenc not found: install it (Debian: aom-tools; Homebrew: aom).");
  const { stdout } = spawnSync("ffmpeg", ["-hide_banner", "-codecs"], { encoding: "utf8" });
  const missing = ["libdav1d", "libx264"].filter((codec) => !stdout.includes(codec));
  if (missing.length > 0)
    throw new FilmError(`This ffmpeg lacks ${missing.join(" and ")}: install a build that has it.`);
}

function ffmpeg(args: readonly string[], folder: string): Promise<string> {
  return run("ffmpeg", ["-y", "-hide_banner", "-loglevel", "error", ...args], folder);
}

/** Runs a program quietly and resolves to what it printed; rejects with its error output when it fails. */
function run(program: string, args: readonly string[], folder?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new FilmError(`${program} failed: ${errors.trim()}`));
    });
  });
}

// Last, because it needs every constant above.
try {
  const { values } = parseArgs({ options: { stills: { type: "string" }, frames: { type: "string" } } });
  if (values.stills === undefined) await renderFilm(values.frames);
  else await writeStills(values.stills);
} catch (error) {
  console.error(error instanceof FilmError ? error.message : error);
  process.exitCode = 1;
}
