/** Finding and running the programs that the film needs, with errors that say what to install. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** An error whose message is meant for the person at the terminal; it needs no stack trace. */
export class FilmError extends Error {}

const browserNames = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

function runs(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: "ignore" }).status === 0;
}

/** Returns the path or name of a Chromium; throws a `FilmError` when there is none. */
export function findBrowser(): string {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen !== undefined && chosen !== "") {
    if (existsSync(chosen)) return chosen;
    throw new FilmError("CHROMIUM_PATH points to a file that does not exist.");
  }
  const found = browserNames.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new FilmError("No Chromium found: install Chromium or Google Chrome, or set CHROMIUM_PATH to it.");
}

/** Throws a `FilmError` unless ffmpeg is installed with both encoders. */
export function requireFfmpeg(): void {
  if (!runs("ffmpeg", "-version"))
    throw new FilmError("ffmpeg not found: install ffmpeg (with libsvtav1 and libx264).");
  const { stdout } = spawnSync("ffmpeg", ["-hide_banner", "-encoders"], { encoding: "utf8" });
  const missing = ["libsvtav1", "libx264"].filter((encoder) => !stdout.includes(encoder));
  if (missing.length > 0)
    throw new FilmError(`This ffmpeg lacks ${missing.join(" and ")}: install a build that has it.`);
}

/** Runs ffmpeg quietly; rejects with its own words when it fails. */
export function ffmpeg(args: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("ffmpeg", ["-y", "-hide_banner", "-loglevel", "error", ...args], {
      cwd: folder,
      env: { ...process.env, SVT_LOG: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let words = "";
    child.stderr.on("data", (chunk: Buffer) => {
      words += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new FilmError(`ffmpeg failed: ${words.trim()}`));
    });
  });
}
