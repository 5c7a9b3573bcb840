import { randomUUID } from "node:crypto";
import { HOUR_MS } from "../time.ts";
import { type Database, readMeta, writeMeta } from "./database.ts";
import type { Pause, Status } from "./store.ts";

/** A row for each server that runs, so that one which stops does not speak for the others. */
const NODE = "node.";
const BACKED_UP = "last_backup";
/** Two signs may fail before a server is taken for dead. */
const SILENT_MS = 150_000;

interface NodeReport {
  atMs: number;
  /** `null`: it has stopped. */
  pauses: readonly Pause[] | null;
}

export function statusMethods(database: Database): Status & { markBackedUp(now: Date): Promise<void> } {
  const { query } = database;
  const name = NODE + randomUUID();

  async function readTime(name: string): Promise<Date | null> {
    const ms = await readMeta(query, name);
    return ms === null ? null : new Date(Number(ms));
  }

  async function readNodes(): Promise<({ name: string } & NodeReport)[]> {
    const rows = await query<{ name: string; value: string }>(
      `SELECT name, value FROM meta WHERE name LIKE '${NODE}%'`,
    );
    return rows.map(({ name, value }) => ({ name, ...(JSON.parse(value) as NodeReport) }));
  }

  return {
    time: () => database.time(),

    async reportNode(pauses, now) {
      const report: NodeReport = { atMs: now.getTime(), pauses };
      await writeMeta(query, name, JSON.stringify(report));
      // Those of servers that ended are of no use once others have been running for an hour.
      for (const { name, atMs } of await readNodes()) {
        if (Math.abs(now.getTime() - atMs) >= HOUR_MS) await query("DELETE FROM meta WHERE name = $1", [name]);
      }
    },

    async website(now) {
      const nodes = await readNodes();
      const running = nodes.flatMap(({ atMs, pauses }) =>
        pauses && Math.abs(now.getTime() - atMs) < SILENT_MS ? [pauses] : [],
      );
      return {
        isRunning: running.length > 0,
        lastSeenAt: nodes.length > 0 ? new Date(Math.max(...nodes.map(({ atMs }) => atMs))) : null,
        pauses: running.flat().map((pause) => ({ ...pause, since: new Date(pause.since) })),
      };
    },

    lastBackupAt: () => readTime(BACKED_UP),
    markBackedUp: (now) => writeMeta(query, BACKED_UP, String(now.getTime())),

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
