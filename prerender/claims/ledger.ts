import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";
import { refusal } from "../refusal.ts";
import { strongWordsOf } from "./strong-words.ts";

/** For the sentences that ship with the software. The company's own ledger is beside its settings. */
export const OUR_LEDGER = "prerender/claims/ledger.json";

const words = z.string().trim().min(1, "is empty");
const PLACE = /^\S*\/\S+$|^\S+\.\w{2,5}$|\b(?:19|20)\d\d\b/;
const UNPROVEN = 'a claim must have "evidence", or say what it "needs"';
const FORBIDDEN = 'the law forbids this wording: give a "verdict" and a "reason", or remove the entry';

/** Who has read a sentence and, if it has a strong word, what that person decided. */
export const entrySchema = (today: string) =>
  z
    .strictObject({
      text: words,
      /** Absent if the sentence was signed together with its page. */
      verdict: z.enum(["claim", "no claim"]).optional(),
      /** Why a wording that the law forbids may stay. */
      reason: words.optional(),
      /** What proves the claim, where the proof is, and the last day on which it is valid. */
      evidence: z
        .strictObject({
          shows: words,
          at: words.regex(PLACE, "must be a URL, a file, or a document's name with its year"),
          until: z.iso.date().refine((day) => day <= lastDay(today), `must be ${lastDay(today)} at the latest`),
        })
        .optional(),
      /** What the company must show, while there is no evidence. */
      needs: words.optional(),
      /** A name or a role. */
      by: words,
      on: z.iso.date().refine((day) => day <= today, "is in the future"),
    })
    .refine((entry) => entry.verdict !== "claim" || entry.evidence || entry.needs, UNPROVEN)
    .refine(({ text, verdict, reason }) => !isForbidden(text) || (verdict && reason), FORBIDDEN);

export type Entry = z.infer<ReturnType<typeof entrySchema>>;

/** A missing file is an empty ledger. Rejects with every problem and its place if the file is not a ledger. */
export async function readLedger(file: string, today: string): Promise<Entry[]> {
  if (!existsSync(file)) return [];
  const content: unknown = await readFile(file, "utf8")
    .then(JSON.parse)
    .catch(({ message }: Error) => Promise.reject(refusal(`${file} is not valid: ${message}`)));
  const { data, error } = z.array(entrySchema(today)).safeParse(content);
  if (data) return data;
  const problems = error.issues.map(({ path: [index = 0, ...path], message }) => {
    return `entry ${Number(index) + 1}: ${[...path, message].join(": ")}`;
  });
  throw refusal(`${file} is not valid:\n  ${problems.join("\n  ")}`);
}

/** One line for each sentence, sorted, so that two changes can be merged. The file is never half written. */
export async function writeLedger(entries: readonly Entry[], file: string): Promise<void> {
  const unique = [...new Map(entries.map((entry) => [entry.text, entry])).values()];
  const lines = unique.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map((entry) => JSON.stringify(entry));
  await writeFile(`${file}.new`, `[\n${lines.join(",\n")}\n]\n`);
  await rename(`${file}.new`, file);
}

export function isForbidden(text: string): boolean {
  return strongWordsOf(text).some(({ law }) => law);
}

/** Evidence is valid for two years from today; from 29 February until 28 February. */
export function lastDay(today: string): string {
  return `${Number(today.slice(0, 4)) + 2}${today.slice(4).replace("-02-29", "-02-28")}`;
}
