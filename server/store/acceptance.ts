import { hash } from "node:crypto";
import type { FootprintEstimate } from "../../contract/footprint.ts";
import type { QuarantineReason } from "../../contract/inbox.ts";
import { HOUR_MS, MINUTE_MS } from "../time.ts";
import { isTime, type PendingMessage, queryReferences, type Transaction } from "./database.ts";
import { drawReference } from "./reference.ts";
import type { Acceptance, AcceptanceRules, Network } from "./store.ts";

const REPEAT_WINDOW_MS = 10 * MINUTE_MS;
// 132 bits: no two values share them by chance, and an index over them stays half as large.
const HASH_LENGTH = 22;

/** No other transaction may accept messages until it ends. */
export interface AcceptanceParts extends Transaction {
  /** For tests: otherwise at random. */
  drawReference?: ((prefix: string) => string) | undefined;
}

/** A pending message with the hashes by which it is recognised. */
interface Candidate extends PendingMessage {
  /** Equal for the same five fields and the same inputs of an estimate, and for nothing else. */
  fingerprint: string;
  /** `null` without an Idempotency-Key. */
  key: { hash: string; clientProof: string } | null;
}

/**
 * Decides on messages one after the other and stores the new ones, within the present transaction. All questions are
 * asked for the whole batch, so the number of statements does not grow with it.
 */
export async function acceptBatch(batch: readonly PendingMessage[], parts: AcceptanceParts): Promise<Acceptance[]> {
  const candidates = batch.map((pending) => identify(pending, parts.clientKey));
  const history = await readHistory(candidates, parts);
  const references = await drawReferences(batch, parts);
  const messages: Row[] = [];
  const hooked: Row[] = [];
  const keys: Row[] = [];
  const hits: Row[] = [];

  const acceptances = candidates.map((candidate, index): Acceptance => {
    const { submission, rules, nowMs, fingerprint, key } = candidate;
    const { quarantineReason, ...acceptance } = decide(candidate, references[index] ?? "", history);
    if (acceptance.kind !== "stored" && acceptance.kind !== "repeated") return acceptance;

    const { reference } = acceptance;
    if (acceptance.kind === "stored") {
      const { state } = acceptance;
      const { name, email, phone, country, message: text } = submission.message;
      const message = {
        reference,
        fingerprint,
        name,
        email,
        phone,
        country,
        message: text,
        state,
        quarantine_reason: quarantineReason ?? null,
        accepted_at: nowMs,
        state_changed_at: nowMs,
        due_at: state === "queued" ? nowMs : null,
        footprint: submission.footprint ? JSON.stringify(submission.footprint) : null,
      };
      // Also for one in quarantine, where the queue does not see it until it is released. What is switched off costs nothing.
      const hook = { hook_state: "queued", hook_changed_at: nowMs, hook_due_at: nowMs };
      if (rules.postsHook) hooked.push({ ...message, ...hook });
      else messages.push(message);
      history.addMessage({ reference, fingerprint, acceptedMs: nowMs });
      if (state === "queued") history.queuedLastHour += 1;
    }
    const isNewKey = key !== null && !history.knowsKey(key.hash, fingerprint);
    if (isNewKey) {
      keys.push({ key_hash: key.hash, reference, client_proof: key.clientProof });
      history.addKey(key.hash, { reference, fingerprint, clientProof: key.clientProof });
    }
    // A repeat that adds a row counts too. The hit names no message: what is kept about an address must not lead to what
    // its owner wrote.
    if ((acceptance.kind === "stored" || isNewKey) && rules.rateLimits.length > 0) {
      for (const network of submission.networks) {
        // One more tells nothing about a network that is over its limit, and a flood would fill the table with it.
        if (history.waitMs(network, rules, nowMs) > 0) continue;
        hits.push({ client_hash: network.hash, at: nowMs });
        history.addHit(network.hash, nowMs);
      }
    }
    return acceptance;
  });

  await insertRows("messages", messages, parts);
  await insertRows("messages", hooked, parts);
  await insertRows("message_keys", keys, parts);
  await insertRows("client_hits", hits, parts);
  return acceptances;
}

/** The rules, in order. `reference` is the one a new message gets. */
function decide(
  candidate: Candidate,
  reference: string,
  history: History,
): Acceptance & { quarantineReason?: QuarantineReason | null } {
  const { submission, rules, nowMs, fingerprint, key } = candidate;
  // Who knows both a key and its text has sent them.
  const sameKey = key ? history.messagesWithKey(key.hash) : [];
  const first = sameKey.find((known) => known.fingerprint === fingerprint);
  if (first) return { kind: "repeated", reference: first.reference };
  if (sameKey.some((known) => known.clientProof === key?.clientProof)) return { kind: "key-reused" };

  // Before the texts are compared: otherwise somebody who guesses at another visitor's message could go on for ever.
  const [client, ...widerNetworks] = submission.networks;
  const retryAfterMs = client ? history.waitMs(client, rules, nowMs) : 0;
  if (retryAfterMs > 0) return { kind: "limited", retryAfterMs };

  const repeated = history.repeatOf(fingerprint, nowMs);
  if (repeated !== undefined) return { kind: "repeated", reference: repeated };

  const quarantineReason = reasonToHold();
  return { kind: "stored", reference, state: quarantineReason ? "quarantined" : "queued", quarantineReason };

  /** Held back and not refused: a visitor who shares a network with an attacker has a message that somebody can read. */
  function reasonToHold(): QuarantineReason | null {
    if (submission.isTrapped) return "trap";
    if (widerNetworks.some((network) => history.waitMs(network, rules, nowMs) > 0)) return "network-limit";
    // What is in quarantine does not count, so that a flood of trapped spam holds back nobody's message.
    if (rules.hourlyLimit !== null && history.queuedLastHour >= rules.hourlyLimit) return "hourly-limit";
    return null;
  }
}

interface KnownMessage {
  reference: string;
  fingerprint: string;
  acceptedMs: number;
}

type KnownKey = Omit<KnownMessage, "acceptedMs"> & { clientProof: string };

/** What was accepted before, as far as it matters to a batch. */
class History {
  readonly #keys = new Map<string, KnownKey[]>();
  readonly #byText = new Map<string, KnownMessage[]>();
  readonly #hits = new Map<string, number[]>();
  queuedLastHour = 0;

  addKey(keyHash: string, known: KnownKey): void {
    append(this.#keys, keyHash, known);
  }

  messagesWithKey(keyHash: string): readonly KnownKey[] {
    return this.#keys.get(keyHash) ?? [];
  }

  knowsKey(keyHash: string, fingerprint: string): boolean {
    return this.messagesWithKey(keyHash).some((known) => known.fingerprint === fingerprint);
  }

  addMessage(message: KnownMessage): void {
    append(this.#byText, message.fingerprint, message);
  }

  /** The reference of a message with the same text that was accepted a short time ago. */
  repeatOf(fingerprint: string, nowMs: number): string | undefined {
    const known = this.#byText.get(fingerprint);
    return known?.find(({ acceptedMs }) => isWithin(REPEAT_WINDOW_MS, acceptedMs, nowMs))?.reference;
  }

  addHit(networkHash: string, atMs: number): void {
    append(this.#hits, networkHash, atMs);
  }

  /** How long until every limit lets the network send one more message; 0 when it may send now. */
  waitMs({ hash, allowance }: Network, { rateLimits }: AcceptanceRules, nowMs: number): number {
    const newestFirst = (this.#hits.get(hash) ?? []).sort((a, b) => b - a);
    const waits = rateLimits.map(({ count, windowMs }) => {
      const blocking = newestFirst.filter((atMs) => isWithin(windowMs, atMs, nowMs))[count * allowance - 1];
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

async function readHistory(candidates: readonly Candidate[], { query, dialect }: Transaction): Promise<History> {
  const history = new History();
  const times = candidates.map(({ nowMs }) => nowMs);
  const window = (windowMs: number) => [Math.min(...times) - windowMs, Math.max(...times) + windowMs];

  const keyHashes = candidates.flatMap(({ key }) => key?.hash ?? []);
  if (keyHashes.length > 0) {
    const known = await query<KnownKey & { keyHash: string }>(
      `SELECT key_hash, client_proof, messages.reference, fingerprint
       FROM message_keys JOIN messages ON messages.reference = message_keys.reference
       WHERE ${dialect.isIn("key_hash", "$1")}`,
      [keyHashes],
    );
    for (const { keyHash, ...key } of known) history.addKey(keyHash, key);
  }

  const repeats = await query<KnownMessage>(
    `SELECT reference, fingerprint, accepted_at AS accepted_ms FROM messages
     WHERE ${dialect.isIn("fingerprint", "$1")} AND accepted_at > $2 AND accepted_at < $3`,
    [candidates.map(({ fingerprint }) => fingerprint), ...window(REPEAT_WINDOW_MS)],
  );
  for (const message of repeats) history.addMessage(message);

  const networks = new Set(candidates.flatMap(({ submission }) => submission.networks.map((network) => network.hash)));
  const windows = candidates.flatMap(({ rules }) => rules.rateLimits.map(({ windowMs }) => windowMs));
  if (networks.size > 0 && windows.length > 0) {
    const hits = await query<{ clientHash: string; ms: number }>(
      `SELECT client_hash, at AS ms FROM client_hits WHERE ${dialect.isIn("client_hash", "$1")} AND at > $2 AND at < $3`,
      [[...networks], ...window(Math.max(...windows))],
    );
    for (const { clientHash, ms } of hits) history.addHit(clientHash, ms);
  }

  const highestLimit = Math.max(0, ...candidates.map(({ rules }) => rules.hourlyLimit ?? 0));
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
  const { query, dialect, drawReference: draw = drawReference } = parts;
  const drawn = new Set<string>();
  while (drawn.size < batch.length) {
    const missing = batch.slice(drawn.size);
    const candidates = new Set(missing.map(({ rules }) => draw(rules.referencePrefix)));
    const sql = `SELECT reference FROM messages WHERE ${dialect.isIn("reference", "$1")}`;
    for (const taken of await queryReferences(query, sql, [[...candidates]])) candidates.delete(taken);
    for (const reference of candidates) drawn.add(reference);
  }
  return [...drawn];
}

/** Values by column. */
export type Row = Readonly<Record<string, string | number | null>>;

/** All rows in one statement. They have the same columns. */
export async function insertRows(table: string, rows: readonly Row[], { query, dialect }: Transaction): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0] ?? {});
  const values = columns.map((name, index) => `CAST(value ->> ${index} AS ${isTime(name) ? "BIGINT" : "TEXT"})`);
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${dialect.itemsOf("$1")}`;
  await query(sql, [rows.map((row) => Object.values(row))]);
}

function identify(pending: PendingMessage, clientKey: Uint8Array): Candidate {
  const { message, footprint, idempotencyKey, networks } = pending.submission;
  const secret = Buffer.from(clientKey).toString("hex");
  const { name, email, phone, country, message: text } = message;
  return {
    ...pending,
    fingerprint: keyedHash(secret, [name, email, phone, country, text, ...(footprint ? inputsOf(footprint) : [])]),
    key:
      idempotencyKey === null
        ? null
        : {
            hash: keyedHash(secret, ["key", idempotencyKey]),
            clientProof: keyedHash(secret, ["client", idempotencyKey, networks[0]?.hash ?? ""]),
          },
  };
}

/** The same inputs in whatever order they were sent. */
function inputsOf({ inputs }: FootprintEstimate): string[] {
  return Object.entries(inputs)
    .map(([field, value]) => `${field}=${value}`)
    .sort();
}

/**
 * Keyed, so that a hash tells nothing to somebody who guesses at what was hashed. Not an HMAC, which costs ten times as
 * much: nobody but us ever presents such a hash. JSON keeps the values apart: "ab","c" and "a","bc" differ.
 */
export function keyedHash(secret: string, values: readonly string[]): string {
  return hash("sha256", secret + JSON.stringify(values), "base64url").slice(0, HASH_LENGTH);
}

function append<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
