import { acceptAll, type Entry, HOUR_MS, REPEAT_WINDOW_MS } from "../acceptance.ts";
import type { Acceptance } from "../store.ts";
import type { Window } from "../time-window.ts";
import { type BatchAdditions, batchLedger, type FreeReference, type Hit, type KnownMessage } from "./batch-ledger.ts";
import type { Run } from "./transaction.ts";

/**
 * Decides and writes a batch within the present transaction. The number of statements does not grow with the batch.
 * Exact only while no other node accepts: the caller holds the lock.
 */
export async function acceptBatch(
  run: Run,
  entries: readonly Entry[],
  drawReference: (prefix: string) => string,
): Promise<Acceptance[]> {
  const { ledger, additions } = batchLedger({
    messages: await findMessages(run, entries),
    hits: await findHits(run, entries),
    mailedLastHour: await countMailed(run, entries),
    freeReferences: await drawFreeReferences(run, entries, drawReference),
  });
  const acceptances = acceptAll(entries, ledger);
  await write(run, additions);
  return acceptances;
}

async function findMessages(run: Run, entries: readonly Entry[]): Promise<KnownMessage[]> {
  const { afterMs, beforeMs } = windowOf(entries, REPEAT_WINDOW_MS);
  const sql = `
    SELECT reference, idempotency_key, fingerprint, accepted_at FROM messages WHERE idempotency_key = ANY ($1::text[])
    UNION ALL
    SELECT reference, NULL, fingerprint, accepted_at FROM messages
    WHERE fingerprint = ANY ($2::text[]) AND accepted_at > $3 AND accepted_at < $4`;
  const keys = entries.flatMap(({ submission }) => submission.idempotencyKey ?? []);
  const fingerprints = entries.map((entry) => entry.fingerprint);
  return run(sql, [keys, fingerprints, afterMs, beforeMs]);
}

async function findHits(run: Run, entries: readonly Entry[]): Promise<Hit[]> {
  const clients = [...new Set(entries.flatMap(({ submission }) => submission.clientHash ?? []))];
  const limits = entries.flatMap(({ rules }) => rules.rateLimits);
  if (clients.length === 0 || limits.length === 0) return [];
  const { afterMs, beforeMs } = windowOf(entries, Math.max(...limits.map((limit) => limit.windowMs)));
  const sql = `
    SELECT client_hash, at FROM unnest($1::text[]) AS client (hash) CROSS JOIN LATERAL (
      SELECT client_hash, at FROM client_hits WHERE client_hash = client.hash AND at > $2 AND at < $3
      ORDER BY at DESC LIMIT $4) AS newest`;
  const highestCount = Math.max(...limits.map((limit) => limit.count));
  return run(sql, [clients, afterMs, beforeMs, highestCount]);
}

async function countMailed(run: Run, entries: readonly Entry[]): Promise<number> {
  const highestLimit = Math.max(0, ...entries.flatMap(({ rules }) => rules.hourlyLimit ?? []));
  if (highestLimit === 0) return 0;
  const { afterMs, beforeMs } = windowOf(entries, HOUR_MS);
  const sql = `
    SELECT count(*) AS count FROM (SELECT 1 FROM messages
      WHERE state IN ('queued', 'delivered', 'failed') AND accepted_at > $1 AND accepted_at < $2 LIMIT $3) AS mailed`;
  const [row] = await run<{ count: number }>(sql, [afterMs, beforeMs, highestLimit]);
  return row?.count ?? 0;
}

async function drawFreeReferences(
  run: Run,
  entries: readonly Entry[],
  drawReference: (prefix: string) => string,
): Promise<FreeReference[]> {
  const free = new Map<string, FreeReference>();
  let wanted = entries.map(({ rules }) => rules.referencePrefix);
  while (wanted.length > 0) {
    const drawn = wanted.map((prefix) => ({ prefix, reference: drawReference(prefix) }));
    const sql = "SELECT reference FROM messages WHERE reference = ANY ($1::text[])";
    const rows = await run<{ reference: string }>(sql, [drawn.map(({ reference }) => reference)]);
    const taken = new Set(rows.map((row) => row.reference));
    wanted = drawn.flatMap((one) => {
      if (taken.has(one.reference) || free.has(one.reference)) return one.prefix;
      free.set(one.reference, one);
      return [];
    });
  }
  return [...free.values()];
}

async function write(run: Run, { messages, hits }: BatchAdditions): Promise<void> {
  if (messages.length === 0) return;
  await run(
    `INSERT INTO messages (reference, idempotency_key, fingerprint, name, email, phone, country, message, state,
       accepted_at, state_changed_at, due_at)
     SELECT reference, key, fingerprint, name, email, phone, country, message, state,
       at, at, CASE state WHEN 'queued' THEN at END
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::bigint[])
       AS new (reference, key, fingerprint, name, email, phone, country, message, state, at)`,
    [
      messages.map((one) => one.reference),
      messages.map((one) => one.idempotencyKey),
      messages.map((one) => one.fingerprint),
      messages.map((one) => one.message.name),
      messages.map((one) => one.message.email),
      messages.map((one) => one.message.phone),
      messages.map((one) => one.message.country),
      messages.map((one) => one.message.message),
      messages.map((one) => one.state),
      messages.map((one) => one.acceptedAtMs),
    ],
  );
  await run("INSERT INTO client_hits (client_hash, at) SELECT * FROM unnest($1::text[], $2::bigint[])", [
    hits.map((hit) => hit.client_hash),
    hits.map((hit) => hit.at),
  ]);
}

/** Wide enough for all entries; the ledger looks closer. */
function windowOf(entries: readonly Entry[], spanMs: number): Window {
  const times = entries.map((entry) => entry.nowMs);
  return { afterMs: Math.min(...times) - spanMs, beforeMs: Math.max(...times) + spanMs };
}
