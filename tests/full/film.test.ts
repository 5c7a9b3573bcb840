import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "vitest";
import { requirePrograms } from "../support/require-program.ts";

const films = readdirSync("app/media").filter((file) => file.endsWith(".mp4"));
const FRAMES = 240;
/** Large enough to detect a jump, and fast. */
const [WIDTH, HEIGHT] = [320, 180];
/**
 * This share of the changes between frames must be larger than the change at the seam. Then the seam is not noticeable.
 */
const LARGER_SHARE = 0.3;

/** The frames as brightness, without the grain that players add to AV1, which would hide a jump in the measurement. */
function framesOf(film: string): Uint8Array[] {
  const decoder = film.includes("av1") ? ["-c:v", "libdav1d", "-filmgrain", "0"] : [];
  const { stdout, stderr } = spawnSync(
    "ffmpeg",
    [
      ...["-v", "error", ...decoder, "-i", `app/media/${film}`, "-frames:v", `${FRAMES}`],
      ...["-vf", `scale=${WIDTH}:${HEIGHT}:flags=neighbor`, "-vsync", "0", "-pix_fmt", "gray", "-f", "rawvideo", "-"],
    ],
    { maxBuffer: 2 ** 26, timeout: 120_000 },
  );
  const size = WIDTH * HEIGHT;
  const frames = Array.from({ length: stdout.length / size }, (_, at) => stdout.subarray(at * size, (at + 1) * size));
  if (frames.length !== FRAMES) throw new Error(`${film} has ${frames.length} frames. ${stderr}`);
  return frames;
}

function meanChange(from: Uint8Array, to: Uint8Array): number {
  return from.reduce((sum, brightness, at) => sum + Math.abs(brightness - (to[at] ?? 0)), 0) / from.length;
}

test.for(films)("%s has no visible jump where it loops", (film, { expect, skip }) => {
  requirePrograms(skip, "ffmpeg");
  const frames = framesOf(film);
  const changes = frames.slice(1).map((frame, at) => meanChange(frames[at] ?? frame, frame));
  const seam = meanChange(frames.at(-1) ?? new Uint8Array(), frames[0] ?? new Uint8Array());
  const larger = changes.filter((change) => change > seam).length;
  expect(larger / changes.length, `the seam changes by ${seam.toFixed(2)}`).toBeGreaterThan(LARGER_SHARE);
});
