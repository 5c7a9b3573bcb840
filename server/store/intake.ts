import { setImmediate } from "node:timers/promises";
import { type ContactMessage, FIELD_NAMES } from "../../contract/contact-message.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import type { Config } from "../config.ts";
import type { QuarantineReason } from "../message-words.ts";
import { HOUR_MS, MINUTE_MS } from "../time.ts";
import { type Database, insertRows, readColumn, type Sql, timeOf } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import { coarseMs, type Hits, readHits, waitMs } from "./hits.ts";
import { keyedHash } from "./meta.ts";
import { type Channel, channelsOf, rulesOf } from "./model.ts";
import { drawReference } from "./reference.ts";
import { writeExpiry } from "./retention.ts";
import { searchText } from "./search.ts";
import type { Spam } from "./spam.ts";
import { columnsOf, type NewRow, type RowOf } from "./tables.ts";

export interface Submission {
  message: ContactMessage;
  footprint?: FootprintEstimate | null;
  /** The client's key for this message, if it sent one. Keys of different clients are independent. */
  idempotencyKey: string | null;
  /** The client and its networks, from the narrowest to the widest. */
  networks: readonly Network[];
  /** The trap field was filled: store, but do not mail. */
  isTrapped: boolean;
}

export interface Network {
  hash: string;
  /** The network's limit as a multiple of a single client's. */
  allowance: number;
}

/** The same for all messages that a server accepts. */
export interface AcceptanceRules extends Pick<Config, "rateLimits" | "hourlyLimit" | "spamFilter"> {
  referencePrefix: string;
  /** The deliveries that every message gets at once. */
  channels: readonly Channel[];
}

export function acceptanceRules(config: Config, referencePrefix: string): AcceptanceRules {
  const { rateLimits, hourlyLimit, spamFilter } = config;
  const channels = channelsOf(config).filter((channel) => rulesOf(channel).queuedBy === "message");
  return { referencePrefix, rateLimits, hourlyLimit, spamFilter, channels };
}

/**
 * `repeated`: the same key and body, or the same text and estimate within ten minutes. `key-reused`: the same client
 * sent the key before with another body. `limited`: nothing was stored.
 */
export type Acceptance =
  | { kind: "stored"; reference: string; state: "queued" | "quarantined" }
  | { kind: "repeated"; reference: string }
  | { kind: "key-reused" }
  | { kind: "limited"; retryAfterMs: number };

const REPEAT_WINDOW_MS = 10 * MINUTE_MS;
const MAX_BATCH = 256;
const MAX_WAITING = 10_000;

interface PendingMessage {
  submission: Submission;
  testTime: Date | null;
}

type Waiting = PromiseWithResolvers<Acceptance> & PendingMessage;

interface IntakeOptions {
  /** Absent for commands, which accept nothing. */
  rules: AcceptanceRules | undefined;
  secret: string;
  findSpam: Spam["findSpam"];
}

/** Messages that arrive together share one commit, and so one wait for the disk. */
export function createIntake({ transaction, verify }: Database, { rules, secret, findSpam }: IntakeOptions) {
  const waiting: Waiting[] = [];
  let draining: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // Waits one turn of the event loop, so that messages that arrive together are in one batch.
      await setImmediate();
      await commit(waiting.splice(0, MAX_BATCH));
    }
    draining = null;
  }

  async function commit(batch: readonly Waiting[]): Promise<void> {
    try {
      if (!rules) throw new Error("Only the website accepts messages");
      const acceptances = await transaction(
        (sql) => acceptBatch(sql, { rules, secret, findSpam }, batch),
        // Nodes accept one after the other, so limits and repeats are exact.
        { lock: "accepting" },
      );
      // Must precede the confirmation: messages in a removed file are lost after a restart.
      await verify();
      for (const [index, { resolve }] of batch.entries()) resolve(acceptances[index] as Acceptance);
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error);
      } else {
        // One message caused the error: store the others separately.
        for (const one of batch) await commit([one]);
      }
    }
  }

  return {
    async accept(submission: Submission, testTime: Date | null): Promise<Acceptance> {
      if (waiting.length >= MAX_WAITING) {
        const problem = `${MAX_WAITING} messages are waiting for the database already`;
        throw new StoreUnavailable({ problem, remedy: "try again later" });
      }
      const one = { submission, testTime, ...Promise.withResolvers<Acceptance>() };
      waiting.push(one);
      draining ??= drain();
      return one.promise;
    },
    async settled(): Promise<void> {
      while (draining) await draining;
    },
  };
}

interface Candidate extends PendingMessage {
  nowMs: number;
  /** Two messages have the same fingerprint only if all their fields and their estimate's inputs are equal. */
  fingerprint: string;
  key: { hash: string; clientProof: string } | null;
}

/** Each query is for the whole batch, so the number of statements does not depend on the batch size. */
async function acceptBatch(
  sql: Sql,
  { rules, secret, findSpam }: IntakeOptions & { rules: AcceptanceRules },
  batch: readonly PendingMessage[],
): Promise<Acceptance[]> {
  const now = await timeOf(sql, batch[0]?.testTime);
  const candidates = batch.map((pending) => identify(pending, pending.testTime ?? now, secret));
  const past = await readPast(sql, rules, findSpam, candidates);
  const references = await drawReferences(sql, rules.referencePrefix, batch.length);
  const messages: NewRow<"messages">[] = [];
  const deliveries: NewRow<"deliveries">[] = [];
  const keys: NewRow<"keys">[] = [];
  const hits: NewRow<"hits">[] = [];

  // In order: `past` gets each message, so that a later one of the batch sees it.
  const acceptances = candidates.map((candidate, index): Acceptance => {
    const { submission, nowMs, fingerprint, key } = candidate;
    const { quarantineReason, ...acceptance } = decide(candidate, references[index] ?? "", past, rules);
    if (acceptance.kind !== "stored" && acceptance.kind !== "repeated") return acceptance;

    const { reference } = acceptance;
    if (acceptance.kind === "stored") {
      const { state } = acceptance;
      const { footprint = null } = submission;
      messages.push({
        reference,
        fingerprint,
        ...submission.message,
        quarantine_reason: quarantineReason ?? null,
        accepted_at: nowMs,
        footprint: footprint && JSON.stringify(footprint),
        search_text: searchText(reference, submission.message),
      });
      for (const channel of rules.channels) {
        // Quarantined messages get rows too; a release queues them.
        deliveries.push({ reference, channel, state, changed_at: nowMs, due_at: state === "queued" ? nowMs : null });
      }
      past.messages.push({ reference, fingerprint, acceptedMs: nowMs });
      if (state === "queued") past.queuedLastHour += 1;
    }
    const isNewKey =
      key !== null && !past.keys.some((known) => known.keyHash === key.hash && known.fingerprint === fingerprint);
    if (isNewKey) {
      keys.push({ reference, key_hash: key.hash, client_proof: key.clientProof });
      past.keys.push({ keyHash: key.hash, reference, fingerprint, clientProof: key.clientProof });
    }
    // A repeat that adds a row counts too. The hit does not name the message, so that no hash leads to a text.
    if ((acceptance.kind === "stored" || isNewKey) && rules.rateLimits.length > 0) {
      for (const network of submission.networks) {
        // Further hits would say no more, and a flood of them would fill the table.
        if (networkWaitMs(network, past, rules, nowMs) > 0) continue;
        const { hash } = network;
        const ms = coarseMs(nowMs, rules.rateLimits);
        hits.push({ hash, at: ms });
        past.hits.set(hash, [...(past.hits.get(hash) ?? []), ms]);
      }
    }
    return acceptance;
  });

  await insertRows(sql, "messages", messages);
  await insertRows(sql, "deliveries", deliveries);
  await insertRows(sql, "keys", keys);
  await insertRows(sql, "hits", hits);
  const quarantined = deliveries.filter(({ state }) => state === "quarantined").map(({ reference }) => reference);
  if (quarantined.length > 0) {
    const find = `SELECT id FROM messages WHERE ${sql.dialect.isIn("reference", "$1")}`;
    await writeExpiry(sql, await readColumn<number>(sql.query, find, [quarantined]));
  }
  return acceptances;
}

function decide(
  candidate: Candidate,
  reference: string,
  past: Past,
  rules: AcceptanceRules,
): Acceptance & { quarantineReason?: QuarantineReason | null } {
  const { submission, nowMs, fingerprint, key } = candidate;
  // A client that knows both a key and its text has sent them before.
  const sameKey = past.keys.filter(({ keyHash }) => keyHash === key?.hash);
  const first = sameKey.find((known) => known.fingerprint === fingerprint);
  if (first) return { kind: "repeated", reference: first.reference };
  if (sameKey.some((known) => known.clientProof === key?.clientProof)) return { kind: "key-reused" };

  // Precedes the comparison of texts. Otherwise a client could try any number of guesses at another visitor's message.
  const [client, ...widerNetworks] = submission.networks;
  const retryAfterMs = client ? networkWaitMs(client, past, rules, nowMs) : 0;
  if (retryAfterMs > 0) return { kind: "limited", retryAfterMs };

  const repeated = past.messages.find(
    (known) => known.fingerprint === fingerprint && nowMs - known.acceptedMs < REPEAT_WINDOW_MS,
  );
  if (repeated) return { kind: "repeated", reference: repeated.reference };

  const quarantineReason = reasonToHold();
  return { kind: "stored", reference, state: quarantineReason ? "quarantined" : "queued", quarantineReason };

  /** Held, not refused, so that the message of a visitor who shares a network with an attacker is kept. */
  function reasonToHold(): QuarantineReason | null {
    if (submission.isTrapped) return "trap";
    if (widerNetworks.some((network) => networkWaitMs(network, past, rules, nowMs) > 0)) return "network-limit";
    const isOverLimit = rules.hourlyLimit !== null && past.queuedLastHour >= rules.hourlyLimit;
    return past.spam.get(submission.message) ?? (isOverLimit ? "hourly-limit" : null);
  }
}

type Known = Pick<RowOf<"messages">, "reference" | "fingerprint">;
type KnownMessage = Known & { acceptedMs: number };
type KnownKey = Known & Pick<RowOf<"keys">, "keyHash" | "clientProof">;
const KNOWN = columnsOf("messages", "reference", "fingerprint");

interface Past {
  messages: KnownMessage[];
  keys: KnownKey[];
  hits: Hits;
  queuedLastHour: number;
  spam: Awaited<ReturnType<Spam["findSpam"]>>;
}

const networkWaitMs = ({ hash, allowance }: Network, { hits }: Past, { rateLimits }: AcceptanceRules, nowMs: number) =>
  waitMs(hits.get(hash), rateLimits, nowMs, allowance);

async function readPast(
  sql: Sql,
  { rateLimits, hourlyLimit, spamFilter }: AcceptanceRules,
  findSpam: Spam["findSpam"],
  candidates: readonly Candidate[],
): Promise<Past> {
  const { query, dialect } = sql;
  const firstMs = Math.min(...candidates.map(({ nowMs }) => nowMs));

  const keyHashes = candidates.flatMap(({ key }) => key?.hash ?? []);
  const keys = await query<KnownKey>(
    `SELECT ${columnsOf("keys", "keyHash", "clientProof")}, ${KNOWN} FROM keys JOIN messages ON id = message_id
     WHERE ${dialect.isIn("key_hash", "$1")}`,
    [keyHashes],
  );
  const messages = await query<KnownMessage>(
    `SELECT ${KNOWN}, accepted_at AS accepted_ms FROM messages
     WHERE ${dialect.isIn("fingerprint", "$1")} AND accepted_at > $2`,
    [candidates.map(({ fingerprint }) => fingerprint), firstMs - REPEAT_WINDOW_MS],
  );

  const networks = candidates.flatMap(({ submission }) => submission.networks.map((network) => network.hash));
  const hits = await readHits(sql, networks, rateLimits, firstMs);

  // Counts no further than the limit. Quarantined messages do not count, so that a flood of trapped spam does not delay
  // visitors' messages.
  const [queuedLastHour = 0] = await readColumn<number>(
    query,
    `SELECT count(*) FROM (SELECT 1 FROM messages
     WHERE quarantine_reason IS NULL AND accepted_at > $1 LIMIT $2) AS counted`,
    [firstMs - HOUR_MS, hourlyLimit ?? 0],
  );
  const read = candidates.flatMap(({ submission }) => (spamFilter && !submission.isTrapped ? submission.message : []));
  const spam = await findSpam(query, read);
  return { messages, keys, hits, queuedLastHour, spam };
}

/** Draws again if any of them is taken, which is rare. */
async function drawReferences(sql: Sql, prefix: string, count: number): Promise<string[]> {
  const { query, dialect } = sql;
  const drawn = [...new Set(Array.from({ length: count }, () => drawReference(prefix)))];
  const taken = await query(`SELECT 1 FROM messages WHERE ${dialect.isIn("reference", "$1")}`, [drawn]);
  return taken.length === 0 && drawn.length === count ? drawn : drawReferences(sql, prefix, count);
}

function identify(pending: PendingMessage, now: Date, secret: string): Candidate {
  const { message, footprint, idempotencyKey, networks } = pending.submission;
  return {
    ...pending,
    nowMs: now.getTime(),
    fingerprint: keyedHash(secret, fingerprintParts(message, footprint ?? null)),
    key:
      idempotencyKey === null
        ? null
        : {
            hash: keyedHash(secret, ["key", idempotencyKey]),
            clientProof: keyedHash(secret, ["client", idempotencyKey, networks[0]?.hash ?? ""]),
          },
  };
}

/** Every field and input of a message, in an order that does not depend on how they were sent. */
function fingerprintParts(message: ContactMessage, footprint: FootprintEstimate | null): string[] {
  const inputs = Object.entries(footprint?.inputs ?? {}).map(([name, value]) => `${name}=${value}`);
  return [...FIELD_NAMES.map((field) => message[field]), ...inputs.sort()];
}
