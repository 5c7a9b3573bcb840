import { randomBytes, randomUUID } from "node:crypto";
import { HOUR_MS } from "../time.ts";
import { type Database, type Query, type Sql, timeOf } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";
import type { Channel } from "./model.ts";

/** Why a channel sends nothing, and since when. */
export interface Pause {
  channel: Channel;
  reason: string;
  since: Date;
  /** When the next attempt is made. */
  nextAt: Date;
}

/** Each running server has its own row, so that the rows of other servers stay when one stops. */
const NODE = "node.";
/** Each open inbox has a row too. It goes with the database that a restore replaces. */
const INBOX = "inbox.";
const ALERT = "alert.";
const BACKED_UP = "last_backup";
const BACKUP_FOLDER = "backup_folder";
/** A check writes to the disk, and every request for `/readyz` or the metrics needs one. */
const CHECK_INTERVAL_MS = 10_000;
/** As much as the longest message. */
const CHECK_BYTES = 7000;
/** A server counts as dead after two missed reports. */
const SILENT_MS = 150_000;

export interface SentAlert {
  atMs: number;
  sinceMs: number;
  problem: string;
  /** How many messages it was about, and when the newest of them joined. */
  count: number;
  lastMs: number;
  isPosted: boolean;
}

interface NodeReport {
  atMs: number;
  /** `null` if the server has stopped. */
  pauses: readonly Pause[] | null;
}

interface InboxReport {
  atMs: number;
  account: string | null;
}

/** The accounts of the inboxes that are open, or crashed within the last minutes. */
export async function readInboxes(sql: Sql, now: Date): Promise<(string | null)[]> {
  const reports = [...(await readRows<InboxReport>(sql.query, INBOX)).values()];
  return reports.flatMap(({ atMs, account }) => (now.getTime() - atMs < SILENT_MS ? [account] : []));
}

/** For a copy, which no inbox uses. */
export async function forgetInboxes(query: Query): Promise<void> {
  await query(`DELETE FROM meta WHERE name LIKE '${INBOX}%'`);
}

export async function markBackedUp(query: Query, folder: string, now: Date): Promise<void> {
  await writeMeta(query, BACKED_UP, String(now.getTime()));
  await writeMeta(query, BACKUP_FOLDER, folder);
}

export type Status = ReturnType<typeof createStatus>;

export function createStatus(database: Database) {
  const { query, transaction, verify } = database;
  const name = NODE + randomUUID();
  const inbox = INBOX + randomUUID();
  let [checkedAtMs, checked] = [Number.NEGATIVE_INFINITY, Promise.resolve()];
  return {
    /** The time of whatever is stored: the database's own, which all nodes and operators share. */
    time: () => timeOf(database),

    async lastBackupAt(): Promise<Date | null> {
      const ms = await readMeta(query, BACKED_UP);
      return ms === null ? null : new Date(Number(ms));
    },

    /** Where the last backup was written, on whichever machine. */
    backupFolder: (): Promise<string | null> => readMeta(query, BACKUP_FOLDER),

    /** Rejects if no message should be stored. All callers share one write per ten seconds. */
    async ping(): Promise<void> {
      await verify();
      if (performance.now() - checkedAtMs >= CHECK_INTERVAL_MS) {
        checkedAtMs = performance.now();
        // Random, because PostgreSQL compresses other data.
        const bytes = randomBytes(CHECK_BYTES).toString("base64");
        // With the lock of messages: a node that keeps it stops all of them.
        checked = transaction((sql) => writeMeta(sql.query, "write_check", bytes), { lock: "accepting" });
      }
      await checked;
    },

    /** Call it at least once a minute, and with `null` on stop. */
    async reportNode(pauses: readonly Pause[] | null, testTime: Date | null = null): Promise<void> {
      const nowMs = (await timeOf(database, testTime)).getTime();
      const report: NodeReport = { atMs: nowMs, pauses };
      await writeMeta(query, name, JSON.stringify(report));
      // Rows of stopped servers are useless after an hour.
      for (const [node, { atMs }] of await readRows<NodeReport>(query, NODE)) {
        if (nowMs - atMs >= HOUR_MS) await query("DELETE FROM meta WHERE name = $1", [NODE + node]);
      }
    },

    website: (testTime: Date | null = null) => readWebsite(database, testTime),

    /** Reports the inbox of this store. Repeat it at least once a minute: then it adds no row to another database. */
    async reportInbox(account: string | null, isFirst: boolean): Promise<void> {
      const report: InboxReport = { atMs: (await timeOf(database)).getTime(), account };
      if (isFirst) await writeMeta(query, inbox, JSON.stringify(report));
      else await query("UPDATE meta SET value = $2 WHERE name = $1", [inbox, JSON.stringify(report)]);
    },

    /** Whether this is still the database in which it was reported: a restore replaces all rows. */
    isInboxKnown: async () => (await readMeta(query, inbox)) !== null,

    async closeInbox(): Promise<void> {
      await query("DELETE FROM meta WHERE name = $1", [inbox]);
    },

    /** The last alert of each trouble, by its key. The row goes when the end of the trouble is told. */
    alerts: () => readRows<SentAlert>(query, ALERT),

    /** Replaces a sent alert if it is still `from`. Only one of the nodes that try gets true. */
    moveAlert(key: string, from: SentAlert | null, to: SentAlert | null): Promise<boolean> {
      const name = ALERT + key;
      return transaction(
        async ({ query }) => {
          const isSame = (await readMeta(query, name)) === (from && JSON.stringify(from));
          if (isSame && to) await writeMeta(query, name, JSON.stringify(to));
          else if (isSame) await query("DELETE FROM meta WHERE name = $1", [name]);
          return isSame;
        },
        { lock: "alerting" },
      );
    },
  };
}

/** `lastSeenAt` is `null` if none ever ran. */
export async function readWebsite(sql: Sql, testTime: Date | null = null) {
  const nodes = [...(await readRows<NodeReport>(sql.query, NODE)).values()];
  const nowMs = (await timeOf(sql, testTime)).getTime();
  const running = nodes.flatMap(({ atMs, pauses }) => (pauses && nowMs - atMs < SILENT_MS ? [pauses] : []));
  return {
    isRunning: running.length > 0,
    lastSeenAt: nodes.length > 0 ? new Date(Math.max(...nodes.map(({ atMs }) => atMs))) : null,
    pauses: running.flat().map((pause) => ({
      ...pause,
      since: new Date(pause.since),
      nextAt: new Date(pause.nextAt),
    })),
  };
}

/** For a start after all servers have stopped, and for a restore. */
export async function forgetServers(query: Query): Promise<void> {
  // The outcome of their attempts is unknown.
  await query("UPDATE deliveries SET leased_until = 0 WHERE leased_until IS NOT NULL");
  await query("UPDATE folders SET lease_token = NULL, leased_until = NULL");
  await query(`DELETE FROM meta WHERE name LIKE '${NODE}%'`);
}

/** By the rest of their names. */
async function readRows<Report>(query: Query, prefix: string): Promise<ReadonlyMap<string, Report>> {
  const sql = `SELECT name, value FROM meta WHERE name LIKE '${prefix}%'`;
  const rows = await query<{ name: string; value: string }>(sql);
  return new Map(rows.map(({ name, value }) => [name.slice(prefix.length), JSON.parse(value)]));
}
