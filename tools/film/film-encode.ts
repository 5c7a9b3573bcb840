/** From PNG frames to the two films and three posters, each within its limit. */

import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { FilmError, ffmpeg } from "./film-tools.ts";
import { framesPerSecond, loopSeconds } from "./layout.ts";

const filmLimitBytes = 400_000;
const posterLimitBytes = 30_000;
/** The AV1 film needs no more than this to look clean; the rest would be waste on a phone's data plan. */
const av1AimBytes = 360_000;
/** Room left under the limit for the H.264 film, whose size is chosen in advance and missed by a few per cent. */
const h264AimBytes = 386_000;

const framePattern = "frame-%04d.png";

/** Frames are sRGB; converted with the BT.709 matrix and said so, or players would guess and shift the greens. */
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
export async function encodeAv1(frames: string, output: string): Promise<string> {
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
export async function encodeH264(frames: string, output: string): Promise<string> {
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
export async function encodePosters(firstFrame: Buffer, folder: string): Promise<Map<string, string>> {
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
export async function checkSizes(folder: string, names: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const name of names) sizes.set(name, await sizeOf(join(folder, name)));
  const limitOf = (name: string) => (name.startsWith("poster.") ? posterLimitBytes : filmLimitBytes);
  const broken = [...sizes].filter(([name, bytes]) => bytes > limitOf(name));
  if (broken.length === 0) return sizes;
  throw new FilmError(broken.map(([name, bytes]) => `${name} has ${bytes} bytes, limit ${limitOf(name)}`).join("; "));
}

/** Removes a folder of frames. */
export async function discard(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
