import { randomUUID } from "node:crypto";
import { type Database, onlyRow } from "./database.ts";
import type { AlertTopic, Status } from "./store.ts";

/** A row for each server that runs, so that one which stops does not speak for the others. */
const RUNNING = "server_running.";
const STOPPED = "server_stopped";
const BACKED_UP = "last_backup_at";
/** The first has the name it had when there was only one topic. */
const LAST_ALERT: Readonly<Record<AlertTopic, string>> = {
  delivery: "last_alert_at",
  quarantine: "last_quarantine_alert_at",
  ending: "last_ending_alert_at",
  clock: "last_clock_alert_at",
  backup: "last_backup_alert_at",
};
/** Two signs may fail before a server is taken for dead. */
const SILENT_MS = 150_000;
/** Rows of servers that died are of no use once another one has been running for this long. */
const FORGOTTEN_MS = 60 * 60_000;

/** Servers and backups go by the database's clock if nodes share it. */
export function statusMethods({ query, dialect, isShared }: Database): Status & {
  markBackedUp(now: Date): Promise<void>;
} {
  const name = RUNNING + (isShared ? randomUUID() : "1");
  const nowMs = (parameter: string) => dialect.leaseNow(`CAST(${parameter} AS BIGINT)`);
  // A database with a clock of its own has no place for the node's, and refuses a value without a place.
  const at = (now: Date) => (isShared ? [] : [now]);
  const writeNow = `INSERT INTO store_meta SELECT $1, CAST(${nowMs("$2")} AS TEXT) WHERE 1 = 1
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

  async function readTime(name: string): Promise<Date | null> {
    const sql = "SELECT CAST(value AS BIGINT) AS at FROM store_meta WHERE name = $1";
    const [row] = await query<{ at: Date }>(sql, [name]);
    return row?.at ?? null;
  }

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

    lastBackupAt: () => readTime(BACKED_UP),

    async websiteStatus(now) {
      const { silentMs, lastSeenAt } = await onlyRow<{ silentMs: number | null; lastSeenAt: Date | null }>(
        query,
        `SELECT abs(${nowMs("$1")} - max(CASE name WHEN '${STOPPED}' THEN NULL ELSE CAST(value AS BIGINT) END)) AS silent_ms,
           max(CAST(value AS BIGINT)) AS last_seen_at
         FROM store_meta WHERE name LIKE '${RUNNING}%' OR name = '${STOPPED}'`,
        at(now),
      );
      return { isRunning: silentMs !== null && silentMs < SILENT_MS, lastSeenAt };
    },

    lastAlertAt: async (topic) => (await readTime(LAST_ALERT[topic])) ?? new Date(0),

    async moveLastAlert(topic, from, to) {
      const sql = `INSERT INTO store_meta VALUES ($1, CAST(CAST($2 AS BIGINT) AS TEXT))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        WHERE CAST(store_meta.value AS BIGINT) = CAST($3 AS BIGINT) RETURNING name`;
      return (await query(sql, [LAST_ALERT[topic], to, from])).length === 1;
    },
  };
}
