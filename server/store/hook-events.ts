import { type Database, insertRows, onlyRow, type Sql } from "./database.ts";
import type { StoredMessage } from "./store.ts";

// Erasures and corrections that the receiver of HOOK_URL must hear of. They are no deliveries, because these belong to a
// stored message.

export interface HookEvent {
  id: number;
  type: "message.erased" | "message.corrected";
  reference: string;
  /** When the message was erased or corrected. */
  at: Date;
  /** Includes the current attempt. */
  attempts: number;
}

/** An attempt that was interrupted is repeated after this time. */
const LEASE_MS = 60_000;

/** Queues an event for each message that was posted, or may have been. */
export async function queueHookEvents(
  sql: Sql,
  type: HookEvent["type"],
  messages: readonly StoredMessage[],
  now: Date,
): Promise<void> {
  const rows = messages.flatMap(({ reference, deliveries: { hook } }) => {
    if (!hook || (hook.state !== "delivered" && hook.attempts === 0)) return [];
    // A post in progress must arrive first.
    const dueMs = now.getTime() + (hook.state === "queued" ? LEASE_MS : 0);
    return { type, for_reference: reference, at: now.getTime(), due_at: dueMs };
  });
  await insertRows(sql, "hook_events", rows);
}

export function createHookEvents({ query, transaction, dialect }: Database) {
  return {
    /** Leases due events to this worker, oldest first. */
    async claimHookEvents(limit: number, now: Date): Promise<HookEvent[]> {
      const sql = `UPDATE hook_events SET attempts = attempts + 1, due_at = CAST($1 AS BIGINT) + ${LEASE_MS} WHERE id IN
      (SELECT id FROM hook_events WHERE due_at <= $1 ORDER BY id LIMIT $2 ${dialect.lockRows("hook_events", "skip")})
    RETURNING id, type, for_reference AS reference, at, attempts`;
      const claimed = await transaction(({ query }) => query<HookEvent>(sql, [now, limit]));
      return claimed.sort((one, other) => one.id - other.id);
    },

    /** Sets the next attempt; `null` removes the event, which was delivered. */
    async settleHookEvent(id: number, dueAt: Date | null): Promise<void> {
      if (dueAt) await query("UPDATE hook_events SET due_at = $2 WHERE id = $1", [id, dueAt]);
      else await query("DELETE FROM hook_events WHERE id = $1", [id]);
    },

    /** The events that wait, and when the oldest of their messages was erased or corrected. */
    countHookEvents(): Promise<{ count: number; firstAt: Date | null }> {
      return onlyRow(query, "SELECT count(*) AS count, min(at) AS first_at FROM hook_events");
    },
  };
}
