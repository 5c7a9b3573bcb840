import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatTotal } from "../../contract/footprint/fields.ts";
import { errorCode } from "../log.ts";
import type { StoredMessage } from "../store/store.ts";

/** A text that operators insert into replies: a file of the folder `replies` in SITE_DIR. */
export interface SavedReply {
  name: string;
  text: string;
}

/** What each placeholder stands for; `null` if the message has no such thing. */
const PLACEHOLDERS: Readonly<Record<string, (message: StoredMessage) => string | null>> = {
  name: ({ name }) => name,
  reference: ({ reference }) => reference,
  total: ({ footprint }) => footprint && formatTotal(footprint.totalKg),
};
const PLACEHOLDER = /\{([^{}\n]*)\}/g;

/** Reads all saved replies. Files that cannot be used are left out; `problems` has a sentence for each. */
export function readSavedReplies(siteDir: string): { replies: SavedReply[]; problems: string[] } {
  const folder = join(siteDir, "replies");
  const [replies, problems]: [SavedReply[], string[]] = [[], []];
  for (const file of globSync("*.md", { cwd: folder }).sort()) {
    try {
      const text = readFileSync(join(folder, file), "utf8").trim();
      const unknown = [...text.matchAll(PLACEHOLDER)].find(([, name = ""]) => !Object.hasOwn(PLACEHOLDERS, name));
      const known = Object.keys(PLACEHOLDERS).map((name) => `{${name}}`);
      if (unknown)
        problems.push(`${join(folder, file)} has the unknown placeholder ${unknown[0]}; use ${known.join(", ")}`);
      else if (text !== "") replies.push({ name: file.slice(0, -3), text });
    } catch (error) {
      problems.push(`${join(folder, file)} cannot be read (${errorCode(error)})`);
    }
  }
  return { replies, problems };
}

/** The saved replies for a message, without those that need something that it does not have. */
export function fillReplies(replies: readonly SavedReply[], message: StoredMessage): SavedReply[] {
  return replies.flatMap(({ name, text }) => {
    const values = new Map(Object.entries(PLACEHOLDERS).map(([key, read]) => [key, read(message)]));
    const isComplete = [...text.matchAll(PLACEHOLDER)].every(([, key = ""]) => values.get(key));
    return isComplete ? { name, text: text.replaceAll(PLACEHOLDER, (_, key) => values.get(key) ?? "") } : [];
  });
}
