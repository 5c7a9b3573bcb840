import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";

/** The decision about one sentence. A changed sentence needs a new decision. */
export interface Review {
  text: string;
  verdict: "no claim" | "claim";
  /** Why a wording that the directive forbids may stay. */
  reason?: string;
  /** What proves the claim, where the proof is, and the last day on which it is valid. */
  evidence?: { shows: string; at: string; until: string };
  /** What the company must show, while there is no evidence. */
  needs?: string;
  /** A name or a role, and a day such as 2026-01-31. */
  by: string;
  on: string;
}

/** For the sentences that ship with the software. The company's own ledger is beside its settings. */
export const OUR_LEDGER = "prerender/claims/ledger.json";

/** A missing file is an empty ledger. Rejects with every problem if the file is not a ledger. */
export async function readLedger(file: string): Promise<Review[]> {
  const entries = (existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : []) as Review[];
  const problems = entries.flatMap((entry, index) => problemsOf(entry).map((one) => `entry ${index + 1}: ${one}`));
  if (problems.length > 0) throw new Error(`${file} is not valid:\n  ${problems.join("\n  ")}`);
  return entries;
}

/** Replaces the file in one step, so that it is never half written. */
export async function writeLedger(reviews: readonly Review[], file: string): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(reviews, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

function problemsOf({ text, verdict, evidence, needs, by, on = "" }: Partial<Review>): string[] {
  const { shows, at = "", until = "" } = evidence ?? {};
  const isClaim = verdict === "claim";
  return [
    text && by && isDay(on) ? [] : "“text”, “by” or “on” (a day such as 2026-01-31) is missing",
    isClaim || verdict === "no claim" ? [] : "“verdict” is neither “no claim” nor “claim”",
    !isClaim || evidence || needs ? [] : "a claim must have “evidence”, or say what it “needs”",
    !evidence || (shows && isPlace(at))
      ? []
      : "evidence must have “shows”, and “at”: a URL, a file or a dated document",
    !evidence || isEnd(until, on) ? [] : `“until” must be a day, ${lastDay(on)} at the latest`,
  ].flat();
}

/** A URL, a file, or a document's name with its date. */
export const isPlace = (text: string) => /^\S*\/\S+$|^\S+\.\w{2,5}$|\b(?:19|20)\d\d\b/.test(text);
/** Evidence is valid for two years. */
export const lastDay = (on: string) => `${Number(on.slice(0, 4)) + 2}${on.slice(4)}`;
export const isEnd = (day: string, on: string) => isDay(day) && day <= lastDay(on);
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.startsWith(text);
