import { hash } from "node:crypto";
import { type Query, readColumn } from "./database.ts";

// What a database keeps about itself: values by name, and the secret of its keyed hashes.

export async function readMeta(query: Query, name: string): Promise<string | null> {
  const [value = null] = await readColumn<string>(query, "SELECT value FROM meta WHERE name = $1", [name]);
  return value;
}

export async function writeMeta(query: Query, name: string, value: string): Promise<void> {
  await query("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [
    name,
    value,
  ]);
}

/** The name of the database's secret for keyed hashes. */
export const SECRET = "client_key";

/** A restore replaces it while inboxes are open. Only what the website alone uses may keep it: then it is stopped. */
export async function readSecret(query: Query): Promise<string> {
  return (await readMeta(query, SECRET)) ?? "";
}

// 132 bits: no two values collide by chance, and the index is half as large as with a full hash.
const HASH_LENGTH = 22;

/**
 * Keyed, so that guesses at the hashed values cannot be checked. An HMAC would cost ten times as much and is not
 * needed, because no client ever supplies such a hash. JSON separates the values: "ab","c" and "a","bc" differ.
 */
export function keyedHash(secret: string, values: readonly string[]): string {
  return hash("sha256", secret + JSON.stringify(values), "base64url").slice(0, HASH_LENGTH);
}
