import { randomUUID } from "node:crypto";
import { HOUR_MS } from "../time.ts";
import { type Database, readMeta, writeMeta } from "./database.ts";
import type { Pause, Status } from "./store.ts";

/** A row for each server that runs, so that one which stops does not speak for the others. */
const NODE = "node.";
const STOPPED = "last_stop";
const BACKED_UP = "last_backup";
/** Two signs may fail before a server is taken for dead. */
const SILENT_MS = 150_000;

interface NodeReport {
  atMs: number;
  pauses: readonly Pause[];
}

export function statusMethods(database: Database): Status & { markBackedUp(now: Date): Promise<void> } {
  const { query } = database;
  const name = NODE + randomUUID();

  async function readTime(name: string): Promise<Date | null> {
    const ms = await readMeta(query, name);
    return ms === null ? null : new Date(Number(ms));
  }
  const writeTime = (name: string, time: Date) => writeMeta(query, name, String(time.getTime()));

  async function readNodes(): Promise<({ name: string } & NodeReport)[]> {
    const rows = await query<{ name: string; value: string }>(
      `SELECT name, value FROM meta WHERE name LIKE '${NODE}%'`,
    );
    return rows.map(({ name, value }) => ({ name, ...(JSON.parse(value) as NodeReport) }));
  }

  return {
    time: () => database.time(),

    async reportNode(pauses, now) {
      const report: NodeReport = { atMs: now.getTime(), pauses: pauses ?? [] };
      if (pauses === null) await writeTime(STOPPED, now);
      else await writeMeta(query, name, JSON.stringify(report));
      // Those of servers that died are of no use once others have been running for an hour.
      for (const node of await readNodes()) {
        const isOver = node.name === name ? pauses === null : Math.abs(now.getTime() - node.atMs) >= HOUR_MS;
        if (isOver) await query("DELETE FROM meta WHERE name = $1", [node.name]);
      }
    },

    async website(now) {
      const nodes = await readNodes();
      const running = nodes.filter(({ atMs }) => Math.abs(now.getTime() - atMs) < SILENT_MS);
      const stoppedAt = await readTime(STOPPED);
      const seenMs = [...nodes.map(({ atMs }) => atMs), ...(stoppedAt ? [stoppedAt.getTime()] : [])];
      return {
        isRunning: running.length > 0,
        lastSeenAt: seenMs.length > 0 ? new Date(Math.max(...seenMs)) : null,
        pauses: running.flatMap(({ pauses }) => pauses.map((pause) => ({ ...pause, since: new Date(pause.since) }))),
      };
    },

    lastBackupAt: () => readTime(BACKED_UP),
    markBackedUp: (now) => writeTime(BACKED_UP, now),

    lastAlertAt: async (kind) => (await readTime(`alerted.${kind}`)) ?? new Date(0),

    async moveLastAlert(kind, from, to) {
      const rows = await query(
        `INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
         WHERE meta.value = $3 RETURNING name`,
        [`alerted.${kind}`, String(to.getTime()), String(from.getTime())],
      );
      return rows.length === 1;
    },
  };
}
