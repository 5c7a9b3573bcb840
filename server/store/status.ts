import { randomUUID } from "node:crypto";
import { HOUR_MS } from "../time.ts";
import { type Database, readMeta, writeMeta } from "./database.ts";
import { type Pause, type Status, StoreDamaged } from "./store.ts";

/** Each running server has its own row, so that the rows of other servers stay when one stops. */
const NODE = "node.";
const BACKED_UP = "last_backup";
const DAMAGED = "damaged_at";
/** A server counts as dead after two missed reports. */
const SILENT_MS = 150_000;

interface NodeReport {
  atMs: number;
  /** `null` if the server has stopped. */
  pauses: readonly Pause[] | null;
}

/** Records in the database that a statement found damage, so that the operator's commands can show it. */
export function noteDamage(database: Database) {
  let damagedAt: Date | null = null;
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof StoreDamaged && damagedAt === null) {
        damagedAt = new Date();
        await writeMeta(database.query, DAMAGED, String(damagedAt.getTime())).catch(() => {});
      }
      throw error;
    }
  };
  return {
    database: {
      ...database,
      query: (sql, values) => watched(database.query(sql, values)),
      transaction: (work, options) => watched(database.transaction(work, options)),
    } satisfies Database,
    async damagedAt(): Promise<Date | null> {
      const noted = await readMeta(database.query, DAMAGED).catch(() => null);
      return noted === null ? damagedAt : new Date(Number(noted));
    },
  };
}

export function statusMethods(
  database: Database,
): Omit<Status, "damagedAt"> & { markBackedUp(now: Date): Promise<void> } {
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
      // Rows of stopped servers are useless after an hour.
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
