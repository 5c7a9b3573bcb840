import { readFile, rename, writeFile } from "node:fs/promises";

/** What somebody decided about one sentence. A sentence that changes is a new one. */
export interface Review {
  /** The exact sentence. */
  text: string;
  /** The pages, or what else it is part of. */
  where: string;
  verdict: "no claim" | "claim";
  /** For a claim: what shows it, or `null` while nobody can. */
  evidence?: Evidence | null;
  by: string;
  /** A day, as in 2026-01-31. */
  on: string;
}

export interface Evidence {
  shows: string;
  /** Where it can be seen. */
  at: string;
  /** The last day on which it counts, at most two years after the review. */
  until: string;
}

/** It is beside the settings. */
export function ledgerFile(siteDir: string): string {
  return `${siteDir}claims.json`;
}

/** Without a file nothing is reviewed. Rejects with every problem if the file is not a ledger. */
export async function readLedger(file: string): Promise<Review[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "[]";
    throw error;
  });
  const entries = JSON.parse(text) as Review[];
  const problems = Array.isArray(entries)
    ? entries.flatMap((entry, index) => problemsOf(entry).map((problem) => `entry ${index + 1}: ${problem}`))
    : ["it is not a list"];
  if (problems.length > 0) throw new Error(`${file} is not valid:\n  ${problems.join("\n  ")}`);
  return entries;
}

/** Replaces the file in one step, so that it is never half written. */
export async function writeLedger(reviews: readonly Review[], file: string): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(reviews, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

function problemsOf(entry: Review): string[] {
  const { text, where, verdict, evidence, by, on } = Object(entry) as Partial<Review>;
  const problems = Object.entries({ text, where, by }).flatMap(([name, value]) =>
    typeof value === "string" && value.trim() !== "" ? [] : [`“${name}” is missing`],
  );
  if (!isDay(on)) problems.push("“on” is no day such as 2026-01-31");
  if (verdict !== "no claim" && verdict !== "claim") problems.push("“verdict” is neither “no claim” nor “claim”");
  if (verdict === "claim" && evidence === undefined) problems.push("a claim needs “evidence”, which may be null");
  if (evidence) problems.push(...problemsOfEvidence(evidence, on ?? ""));
  return problems;
}

export function problemsOfEvidence({ shows, at, until }: Evidence, on: string): string[] {
  return [
    ...(shows && at ? [] : ["evidence needs “shows” and “at”"]),
    ...(isDay(until) && until <= twoYearsAfter(on) ? [] : [`evidence ends by ${twoYearsAfter(on)} (“until”)`]),
  ];
}

function isDay(text: unknown): text is string {
  return typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

export function twoYearsAfter(day: string): string {
  return `${Number(day.slice(0, 4)) + 2}${day.slice(4)}`;
}
