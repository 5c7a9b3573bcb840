import type { DatabaseSync } from "node:sqlite";
import type { Ledger } from "../acceptance.ts";

/** Reads and writes through the connection's present transaction. */
export function sqliteLedger(db: DatabaseSync, drawReference: (prefix: string) => string): Ledger {
  const byKey = db.prepare("SELECT reference, fingerprint FROM messages WHERE idempotency_key = ?");
  const byWords = db.prepare(
    "SELECT reference FROM messages WHERE fingerprint = ? AND accepted_at > ? AND accepted_at < ? LIMIT 1",
  );
  const nthHit = db.prepare(
    "SELECT at FROM client_hits WHERE client_hash = ? AND at > ? AND at < ? ORDER BY at DESC LIMIT 1 OFFSET ?",
  );
  const mailed = db.prepare(
    `SELECT count(*) AS count FROM (SELECT 1 FROM messages
     WHERE state IN ('queued', 'delivered', 'failed') AND accepted_at > ? AND accepted_at < ? LIMIT ?)`,
  );
  const byReference = db.prepare("SELECT 1 FROM messages WHERE reference = ?");
  const insertMessage = db.prepare(
    `INSERT INTO messages (reference, idempotency_key, fingerprint, name, email, phone, country, message, state,
       accepted_at, state_changed_at, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertHit = db.prepare("INSERT INTO client_hits (client_hash, at) VALUES (?, ?)");

  return {
    findByKey: (key) => byKey.get(key) as ReturnType<Ledger["findByKey"]>,
    findRepeat: (fingerprint, { afterMs, beforeMs }) =>
      (byWords.get(fingerprint, afterMs, beforeMs) as { reference: string } | undefined)?.reference,
    nthNewestHitMs: (clientHash, { afterMs, beforeMs }, n) =>
      (nthHit.get(clientHash, afterMs, beforeMs, n - 1) as { at: number } | undefined)?.at,
    countMailed: ({ afterMs, beforeMs }, atMost) => (mailed.get(afterMs, beforeMs, atMost) as { count: number }).count,
    freeReference(prefix) {
      let reference = drawReference(prefix);
      while (byReference.get(reference) !== undefined) reference = drawReference(prefix);
      return reference;
    },
    addMessage({ reference, idempotencyKey, fingerprint, message, state, acceptedAtMs }) {
      const { name, email, phone, country, message: words } = message;
      const dueAtMs = state === "queued" ? acceptedAtMs : null;
      insertMessage.run(
        ...[reference, idempotencyKey, fingerprint, name, email, phone, country, words, state],
        ...[acceptedAtMs, acceptedAtMs, dueAtMs],
      );
    },
    addHit: (clientHash, atMs) => void insertHit.run(clientHash, atMs),
  };
}
