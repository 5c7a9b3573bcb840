import type { Limit } from "../config.ts";
import { MINUTE_MS } from "../time.ts";
import type { Sql } from "./database.ts";

// What counts towards limits: a row for each time, under a keyed hash of what is limited.

/** The times of hits, by their hash. */
export type Hits = Map<string, readonly number[]>;

export async function readHits(
  { query, dialect }: Sql,
  hashes: readonly string[],
  limits: readonly Limit[],
  nowMs: number,
): Promise<Hits> {
  const longestMs = Math.max(0, ...limits.map(({ windowMs }) => windowMs));
  const sql = `SELECT hash, at AS ms FROM hits WHERE ${dialect.isIn("hash", "$1")} AND at > $2`;
  const rows = await query<{ hash: string; ms: number }>(sql, [hashes, nowMs - longestMs]);
  const hits: Hits = new Map();
  for (const [hash, theirs] of Map.groupBy(rows, (row) => row.hash))
    hits.set(
      hash,
      theirs.map(({ ms }) => ms),
    );
  return hits;
}

/** The time until every limit allows one more; 0 if it is allowed now. `allowance` multiplies the limits. */
export function waitMs(hits: readonly number[] = [], limits: readonly Limit[], nowMs: number, allowance = 1): number {
  const newestFirst = hits.toSorted((a, b) => b - a);
  const waits = limits.map(({ count, windowMs }) => {
    const blocking = newestFirst.filter((ms) => nowMs - ms < windowMs)[count * allowance - 1];
    return blocking === undefined ? 0 : blocking + windowMs - nowMs;
  });
  return Math.max(0, ...waits);
}

/**
 * The stored time of a hit: a full minute, or a tenth of a shorter window. The exact time would lead from a network's
 * hash to the message that was accepted then.
 */
export function coarseMs(nowMs: number, limits: readonly Limit[]): number {
  const stepMs = Math.min(MINUTE_MS, ...limits.map(({ windowMs }) => Math.ceil(windowMs / 10)));
  return nowMs - (nowMs % stepMs);
}
