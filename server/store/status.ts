import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";
import type { Store } from "./store.ts";

type StatusMethods = "markRunning" | "markStopped" | "websiteStatus" | "lastBackupAt";

/** A row for each server that runs, so that one which stops does not speak for the others. */
const RUNNING = "server_running.";
const STOPPED = "server_stopped";
const BACKED_UP = "last_backup_at";
/** Two signs may fail before a server is taken for dead. */
const SILENT_MS = 150_000;
/** Rows of servers that died are of no use once another one has been running for this long. */
const FORGOTTEN_MS = 60 * 60_000;

/** What the program remembers of itself, for operators to see, by the database's clock if nodes share it. */
export function statusMethods({ query, dialect, isShared }: Database): Pick<Store, StatusMethods> & {
  markBackedUp(now: Date): Promise<void>;
} {
  const name = RUNNING + (isShared ? randomUUID() : "1");
  const nowMs = (parameter: string) => dialect.leaseNow(`CAST(${parameter} AS BIGINT)`);
  // A database with a clock of its own has no place for the node's, and refuses a value without a place.
  const at = (now: Date) => (isShared ? [] : [now.getTime()]);
  const writeNow = `INSERT INTO store_meta SELECT $1, CAST(${nowMs("$2")} AS TEXT) WHERE 1 = 1
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

  return {
    async markRunning(now) {
      await query(writeNow, [name, ...at(now)]);
      const isForgotten = `CAST(value AS BIGINT) < ${nowMs("$1")} - ${FORGOTTEN_MS}`;
      await query(`DELETE FROM store_meta WHERE name LIKE '${RUNNING}%' AND ${isForgotten}`, at(now));
    },

    async markStopped(now) {
      await query(writeNow, [STOPPED, ...at(now)]);
      await query("DELETE FROM store_meta WHERE name = $1", [name]);
    },

    async markBackedUp(now) {
      await query(writeNow, [BACKED_UP, ...at(now)]);
    },

    async lastBackupAt() {
      const [row] = await query<{ value: string }>("SELECT value FROM store_meta WHERE name = $1", [BACKED_UP]);
      return row ? new Date(Number(row.value)) : null;
    },

    async websiteStatus(now) {
      const [row] = await query<{ running_at: number | null; seen_at: number | null; now: number }>(
        `SELECT max(CASE name WHEN '${STOPPED}' THEN NULL ELSE CAST(value AS BIGINT) END) AS running_at,
           max(CAST(value AS BIGINT)) AS seen_at, ${nowMs("$1")} AS now
         FROM store_meta WHERE name LIKE '${RUNNING}%' OR name = '${STOPPED}'`,
        at(now),
      );
      const runningAt = row?.running_at ?? null;
      return {
        isRunning: row !== undefined && runningAt !== null && Math.abs(row.now - runningAt) < SILENT_MS,
        lastSeenAt: row?.seen_at == null ? null : new Date(row.seen_at),
      };
    },
  };
}
