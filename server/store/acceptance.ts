import { hash } from "node:crypto";
import type { ContactMessage } from "../../contract/contact-message.ts";
import type { Dialect, Query, Value } from "./database.ts";
import type { Acceptance, AcceptanceRules, Submission } from "./store.ts";

const REPEAT_WINDOW_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
// 132 bits: no two messages share them by chance, and the index over them stays half as large.
const FINGERPRINT_LENGTH = 22;

/** A submission, what it is judged by, and when it arrived. */
export interface PendingMessage {
  submission: Submission;
  rules: AcceptanceRules;
  nowMs: number;
}

export interface AcceptanceParts {
  /** Runs within the transaction. No other transaction may accept messages until it ends. */
  query: Query;
  dialect: Dialect;
  clientKey: Uint8Array;
  drawReference(prefix: string): string;
}

/**
 * Decides on messages one after the other and stores the new ones, within the present transaction. All questions are
 * asked for the whole batch, so the number of statements does not grow with it.
 */
export async function acceptBatch(batch: readonly PendingMessage[], parts: AcceptanceParts): Promise<Acceptance[]> {
  const fingerprints = batch.map(({ submission }) => fingerprintOf(submission.message, parts.clientKey));
  const history = await readHistory(batch, fingerprints, parts);
  const references = await drawReferences(batch, parts);
  const messages: RowOf<typeof MESSAGE_COLUMNS>[] = [];
  const hits: RowOf<typeof HIT_COLUMNS>[] = [];

  const acceptances = batch.map((pending, index): Acceptance => {
    const { submission, nowMs } = pending;
    const fingerprint = fingerprints[index] ?? "";
    const decision = decide(pending, fingerprint, history);
    if (decision !== "queued" && decision !== "quarantined") return decision;

    const reference = references[index] ?? "";
    const { idempotencyKey, clientHash } = submission;
    messages.push({
      ...submission.message,
      reference,
      idempotency_key: idempotencyKey,
      fingerprint,
      state: decision,
      accepted_at: nowMs,
      state_changed_at: nowMs,
      due_at: decision === "queued" ? nowMs : null,
    });
    history.addMessage(reference, idempotencyKey, fingerprint, nowMs);
    if (decision === "queued") history.queuedLastHour += 1;
    // The hit names no message: what is kept about an address must not lead to what its owner wrote.
    if (clientHash !== null) {
      hits.push({ client_hash: clientHash, at: nowMs });
      history.addHit(clientHash, nowMs);
    }
    return { kind: "stored", reference, state: decision };
  });

  await insertRows("messages", MESSAGE_COLUMNS, messages, parts);
  await insertRows("client_hits", HIT_COLUMNS, hits, parts);
  return acceptances;
}

/** The rules, in order. The state to store a message with, or the answer to one that is not stored. */
function decide(
  { submission, rules, nowMs }: PendingMessage,
  fingerprint: string,
  history: History,
): "queued" | "quarantined" | Acceptance {
  const { idempotencyKey, clientHash, isTrapped } = submission;
  const first = idempotencyKey === null ? undefined : history.byKey.get(idempotencyKey);
  if (first) {
    return first.fingerprint === fingerprint
      ? { kind: "repeated", reference: first.reference }
      : { kind: "key-reused" };
  }
  const repeated = history.repeatOf(fingerprint, nowMs);
  if (repeated !== undefined) return { kind: "repeated", reference: repeated };

  const retryAfterMs = clientHash === null ? 0 : history.waitMs(clientHash, rules, nowMs);
  if (retryAfterMs > 0) return { kind: "limited", retryAfterMs };

  // What is in quarantine does not count, so that a flood of trapped spam holds back nobody's message.
  const isFlood = rules.hourlyLimit !== null && history.queuedLastHour >= rules.hourlyLimit;
  return isTrapped || isFlood ? "quarantined" : "queued";
}

/** What was accepted before, as far as it matters to a batch. */
class History {
  readonly byKey = new Map<string, { reference: string; fingerprint: string }>();
  readonly #byWords = new Map<string, { reference: string; acceptedAtMs: number }[]>();
  readonly #hits = new Map<string, number[]>();
  queuedLastHour = 0;

  addMessage(reference: string, idempotencyKey: string | null, fingerprint: string, acceptedAtMs: number): void {
    if (idempotencyKey !== null) this.byKey.set(idempotencyKey, { reference, fingerprint });
    append(this.#byWords, fingerprint, { reference, acceptedAtMs });
  }

  addHit(clientHash: string, atMs: number): void {
    append(this.#hits, clientHash, atMs);
  }

  /** The reference of a message with the same words that was accepted a short time ago. */
  repeatOf(fingerprint: string, nowMs: number): string | undefined {
    const known = this.#byWords.get(fingerprint);
    return known?.find(({ acceptedAtMs }) => isWithin(REPEAT_WINDOW_MS, acceptedAtMs, nowMs))?.reference;
  }

  /** How long until every limit lets the client send one more message; 0 when it may send now. */
  waitMs(clientHash: string, { rateLimits }: AcceptanceRules, nowMs: number): number {
    const newestFirst = (this.#hits.get(clientHash) ?? []).sort((a, b) => b - a);
    const waits = rateLimits.map(({ count, windowMs }) => {
      const blocking = newestFirst.filter((atMs) => isWithin(windowMs, atMs, nowMs))[count - 1];
      return blocking === undefined ? 0 : Math.min(blocking + windowMs - nowMs, windowMs);
    });
    return Math.max(0, ...waits);
  }
}

/**
 * Looks ahead as far as back: another node's clock may be a little ahead, so what it accepted counts, but what a clock
 * that was a day wrong has left behind does not.
 */
function isWithin(windowMs: number, atMs: number, nowMs: number): boolean {
  return Math.abs(atMs - nowMs) < windowMs;
}

async function readHistory(
  batch: readonly PendingMessage[],
  fingerprints: readonly string[],
  { query, dialect }: AcceptanceParts,
): Promise<History> {
  const history = new History();
  const window = (windowMs: number) => {
    const times = batch.map(({ nowMs }) => nowMs);
    return [Math.min(...times) - windowMs, Math.max(...times) + windowMs];
  };

  const keys = batch.flatMap(({ submission }) => submission.idempotencyKey ?? []);
  const known = await query<{ reference: string; key: string | null; fingerprint: string; at: number }>(
    `SELECT reference, idempotency_key AS key, fingerprint, accepted_at AS at FROM messages
     WHERE ${dialect.isIn("idempotency_key", "$1")} AND idempotency_key IS NOT NULL
     UNION ALL
     SELECT reference, NULL, fingerprint, accepted_at FROM messages
     WHERE ${dialect.isIn("fingerprint", "$2")} AND accepted_at > $3 AND accepted_at < $4`,
    [JSON.stringify(keys), JSON.stringify(fingerprints), ...window(REPEAT_WINDOW_MS)],
  );
  for (const { reference, key, fingerprint, at } of known) history.addMessage(reference, key, fingerprint, at);

  const clients = [...new Set(batch.flatMap(({ submission }) => submission.clientHash ?? []))];
  const windows = batch.flatMap(({ rules }) => rules.rateLimits.map(({ windowMs }) => windowMs));
  if (clients.length > 0 && windows.length > 0) {
    const hits = await query<{ client_hash: string; at: number }>(
      `SELECT client_hash, at FROM client_hits WHERE ${dialect.isIn("client_hash", "$1")} AND at > $2 AND at < $3`,
      [JSON.stringify(clients), ...window(Math.max(...windows))],
    );
    for (const { client_hash, at } of hits) history.addHit(client_hash, at);
  }

  const highestLimit = Math.max(0, ...batch.map(({ rules }) => rules.hourlyLimit ?? 0));
  if (highestLimit > 0) {
    // Counted no further than the limit.
    const [row] = await query<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM messages
       WHERE state IN ('queued', 'delivered', 'failed') AND accepted_at > $1 AND accepted_at < $2 LIMIT $3) AS counted`,
      [...window(HOUR_MS), highestLimit],
    );
    history.queuedLastHour = row?.count ?? 0;
  }
  return history;
}

/** A reference for each message that nothing else has. */
async function drawReferences(batch: readonly PendingMessage[], parts: AcceptanceParts): Promise<string[]> {
  const { query, dialect, drawReference } = parts;
  const drawn = new Set<string>();
  while (drawn.size < batch.length) {
    const missing = batch.slice(drawn.size);
    const candidates = new Set(missing.map(({ rules }) => drawReference(rules.referencePrefix)));
    const sql = `SELECT reference FROM messages WHERE ${dialect.isIn("reference", "$1")}`;
    const taken = await query<{ reference: string }>(sql, [JSON.stringify([...candidates])]);
    for (const { reference } of taken) candidates.delete(reference);
    for (const reference of candidates) drawn.add(reference);
  }
  return [...drawn];
}

const MESSAGE_COLUMNS = {
  reference: "TEXT",
  idempotency_key: "TEXT",
  fingerprint: "TEXT",
  name: "TEXT",
  email: "TEXT",
  phone: "TEXT",
  country: "TEXT",
  message: "TEXT",
  state: "TEXT",
  accepted_at: "BIGINT",
  state_changed_at: "BIGINT",
  due_at: "BIGINT",
} as const;
const HIT_COLUMNS = { client_hash: "TEXT", at: "BIGINT" } as const;

type RowOf<Columns> = Readonly<Record<keyof Columns, Value>>;

/** All rows in one statement. */
async function insertRows<Columns extends Readonly<Record<string, "TEXT" | "BIGINT">>>(
  table: string,
  columns: Columns,
  rows: readonly RowOf<Columns>[],
  { query, dialect }: AcceptanceParts,
): Promise<void> {
  if (rows.length === 0) return;
  const names = Object.keys(columns);
  const values = Object.values(columns).map((type, index) => `CAST(value ->> ${index} AS ${type})`);
  const sql = `INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM ${dialect.itemsOf("$1")}`;
  await query(sql, [JSON.stringify(rows.map((row) => names.map((name) => row[name])))]);
}

/**
 * Equal for the same five fields and for nothing else. Keyed, so that a fingerprint tells nothing about a message to
 * somebody who guesses at its words without the key. Not an HMAC, which costs ten times as much: nobody but us ever
 * presents a fingerprint.
 */
function fingerprintOf({ name, email, phone, country, message }: ContactMessage, key: Uint8Array): string {
  // JSON keeps the fields apart: "ab","c" and "a","bc" differ.
  const fields = JSON.stringify([name, email, phone, country, message]);
  return hash("sha256", Buffer.from(key).toString("hex") + fields, "base64url").slice(0, FINGERPRINT_LENGTH);
}

function append<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
