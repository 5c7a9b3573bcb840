import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "vitest";
import { requirePrograms } from "../support/require-program.ts";

const films = readdirSync("app/media").filter((file) => file.endsWith(".mp4"));
const FRAMES = 240;
const SIZE = 320 * 180;

/** The frames as brightness, without the grain that players add to AV1, which would hide a jump in the measurement. */
function framesOf(film: string): Uint8Array[] {
  const decoder = film.includes("av1") ? "-c:v libdav1d -filmgrain 0" : "";
  const output = "-vf scale=320:180:flags=neighbor -vsync 0 -pix_fmt gray -f rawvideo -";
  const words = `-v error ${decoder} -i app/media/${film} -frames:v ${FRAMES} ${output}`.split(/ +/);
  const { stdout } = spawnSync("ffmpeg", words, { maxBuffer: 2 ** 26, timeout: 120_000 });
  return Array.from({ length: stdout.length / SIZE }, (_, at) => stdout.subarray(at * SIZE, (at + 1) * SIZE));
}

function change(from: Uint8Array = new Uint8Array(), to: Uint8Array = new Uint8Array()): number {
  return from.reduce((sum, brightness, at) => sum + Math.abs(brightness - (to[at] ?? 0)), 0) / from.length;
}

test.for(films)("%s has no visible jump where it loops", (film, { expect, skip }) => {
  requirePrograms(skip, "ffmpeg");
  const frames = framesOf(film);
  expect(frames).toHaveLength(FRAMES);
  const changes = frames.slice(1).map((frame, at) => change(frames[at], frame));
  const seam = change(frames.at(-1), frames[0]);
  // The seam is not noticeable if many frames change more.
  expect(changes.filter((one) => one > seam).length / changes.length).toBeGreaterThan(0.3);
});
