/**
 * Renders the home page's background film.
 *
 *   node tools/film/render-film.ts                     all frames, both films, all posters, into app/media
 *   node tools/film/render-film.ts --stills <folder>   five frames for looking at, nothing else
 */

import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkSizes, discard, encodeAv1, encodeH264, encodePosters } from "./film-encode.ts";
import { drawFrames } from "./film-frames.ts";
import { FilmError, findBrowser, requireFfmpeg } from "./film-tools.ts";
import { frameCount, framesPerSecond } from "./layout.ts";

const filmFolder = fileURLToPath(new URL("../../app/media/", import.meta.url));
const frameName = (index: number) => `frame-${String(index).padStart(4, "0")}.png`;

async function writeStills(folder: string): Promise<void> {
  const indexes = [0, 0.25, 0.5, 0.75].map((share) => Math.round(share * frameCount)).concat(frameCount - 1);
  await mkdir(folder, { recursive: true });
  const phases = indexes.map((index) => index / frameCount);
  await drawFrames(findBrowser(), phases, (png, at) => writeFile(join(folder, frameName(indexes[at] ?? 0)), png));
  console.log(`Wrote ${indexes.length} stills.`);
}

async function renderFilm(): Promise<void> {
  requireFfmpeg();
  const browser = findBrowser();
  const frames = await mkdtemp(join(tmpdir(), "film-"));
  try {
    const phases = Array.from({ length: frameCount }, (_, index) => index / frameCount);
    await drawFrames(browser, phases, async (png, index) => {
      await writeFile(join(frames, frameName(index)), png);
      if ((index + 1) % framesPerSecond === 0) console.log(`Drew ${index + 1} of ${frameCount} frames.`);
    });
    await mkdir(filmFolder, { recursive: true });
    const notes = await encodePosters(await readFile(join(frames, frameName(0))), filmFolder);
    notes.set("first-light.h264.mp4", await encodeH264(frames, join(filmFolder, "first-light.h264.mp4")));
    notes.set("first-light.av1.mp4", await encodeAv1(frames, join(filmFolder, "first-light.av1.mp4")));
    const sizes = await checkSizes(filmFolder, [...notes.keys()].sort());
    console.table([...sizes].map(([file, bytes]) => ({ file, bytes, made: notes.get(file) ?? "" })));
  } finally {
    await discard(frames);
  }
}

try {
  const { values } = parseArgs({ options: { stills: { type: "string" } } });
  if (values.stills === undefined) await renderFilm();
  else await writeStills(values.stills);
} catch (error) {
  console.error(error instanceof FilmError ? error.message : error);
  process.exitCode = 1;
}
