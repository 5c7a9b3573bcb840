import type { EventKind, SkipReason } from "../../contract/inbox.ts";
import { DAY_MS, HOUR_MS } from "../time.ts";
import { insertRows, keyedHash, type Row } from "./acceptance.ts";
import { type Database, type Dialect, queryReferences, type Transaction, type Value } from "./database.ts";
import { dueConditions } from "./queue.ts";
import type { AcknowledgementRules, DeliveryState, Refusals, Store } from "./store.ts";

/** An acknowledgement that comes later than this after its message is more confusing than none. */
export const ACKNOWLEDGED_WITHIN_MS = DAY_MS;
/** A server that dies again and again between sending and saving must not write to a stranger again and again. */
const MAX_UNKNOWN_ENDS = 3;
/** Decided on at once: more than are ever sent at once, since a flood to one address is skipped. */
const CANDIDATES = 100;
/** Under this name every acknowledgement counts towards the limit of all; hashes are longer. */
const ALL_HITS = "acknowledgements";

/** Who gets an acknowledgement; the queue sends it. */
export function acknowledgementMethods(database: Database): Pick<Store, "admitAcknowledgements"> {
  const { query, dialect } = database;
  return {
    async admitAcknowledgements(limit, leaseMs, rules, now) {
      // Asked first because it needs no transaction, and most of the time there is nothing to send.
      const due = await query(`SELECT 1 FROM messages WHERE ${isUndecided(dialect)} LIMIT 1`, [now, leaseMs]);
      if (due.length === 0) return { skipped: [], failed: [] };
      return database.admitAcknowledgements(limit, leaseMs, rules, now);
    },
  };
}

function isUndecided(dialect: Dialect): string {
  const { isDue, isStray, isFree } = dueConditions("acknowledgement", dialect);
  return `(${isDue} OR ${isStray}) AND ${isFree}`;
}

interface Candidate {
  reference: string;
  email: string;
  acceptedMs: number;
  isRestricted: boolean;
  ackState: DeliveryState;
  ackLeaseToken: string | null;
}

const UNKNOWN_END = "the server stopped before it saved how the attempt ended, so this mail may come twice";
const GIVEN_UP = "given up: the server stopped again and again before it saved how an attempt ended";

/**
 * Decides on due acknowledgements one after the other: each may be sent, is refused, or is left for later once enough may
 * be sent. No other transaction may do so until the present one ends.
 */
export async function admitAcknowledgements(
  parts: Transaction,
  ...[limit, leaseMs, rules, now]: Parameters<Store["admitAcknowledgements"]>
): Promise<Refusals> {
  const { query, dialect } = parts;
  const nowMs = now.getTime();
  const candidates = await query<Candidate>(
    `SELECT reference, email, accepted_at AS accepted_ms, is_restricted, ack_state, ack_lease_token FROM messages
     WHERE ${isUndecided(dialect)} ORDER BY ack_due_at, id LIMIT ${CANDIDATES} ${dialect.lockRows}`,
    [nowMs, leaseMs],
  );
  const counter = await readCounter(candidates, rules, nowMs, parts);
  const unknownEnds = await readUnknownEnds(candidates, parts);
  const refusals: Refusals = { skipped: [], failed: [] };
  const admitted: Candidate[] = [];
  const events: Row[] = [];
  const note = (reference: string, kind: EventKind, detail: string) =>
    events.push({ reference, at: nowMs, kind, detail });

  for (const candidate of candidates) {
    if (admitted.length === limit) break;
    const { reference, email } = candidate;
    const unknown = unknownEnds.get(reference) ?? 0;
    const reason = reasonToSkip(candidate, rules, counter, nowMs);
    if (reason !== null) {
      refusals.skipped.push({ reference, reason });
      note(reference, "acknowledgement-skipped", reason);
    } else if (unknown >= MAX_UNKNOWN_ENDS) {
      refusals.failed.push(reference);
      note(reference, "acknowledgement-failed", GIVEN_UP);
    } else {
      if (candidate.ackState === "queued") counter.add(email);
      if (unknown > 0) note(reference, "acknowledgement-deferred", UNKNOWN_END);
      admitted.push(candidate);
    }
  }

  /** Each loses its token, so that an attempt with an unknown result is noted once. */
  const set = async (changes: string, references: readonly string[], ...values: Value[]) => {
    if (references.length === 0) return;
    const freed = "ack_lease_token = NULL, ack_leased_until = NULL";
    const sql = `UPDATE messages SET ${changes}, ${freed} WHERE ${dialect.isIn("reference", "$1")}`;
    await query(sql, [references, ...values]);
  };
  const { queued = [], sending = [] } = Object.groupBy(admitted, ({ ackState }) => ackState);
  await set("ack_state = 'sending', ack_changed_at = $2", queued.map(referenceOf), nowMs);
  await set("ack_state = 'sending'", sending.map(referenceOf));
  const end = "ack_changed_at = $2, ack_reason = $3, ack_due_at = NULL";
  await set(`ack_state = 'failed', ${end}`, refusals.failed, nowMs, GIVEN_UP);
  for (const [reason, skipped] of Map.groupBy(refusals.skipped, (one) => one.reason)) {
    await set(`ack_state = 'skipped', ${end}`, skipped.map(referenceOf), nowMs, reason);
  }
  await insertRows("message_events", events, parts);
  await insertRows("client_hits", counter.newHits, parts);
  return refusals;
}

const referenceOf = ({ reference }: { reference: string }) => reference;

/** For each candidate whose last attempt has an unknown result: how many attempts at it have, the last one included. */
async function readUnknownEnds(
  candidates: readonly Candidate[],
  { query, dialect }: Transaction,
): Promise<Map<string, number>> {
  const references = candidates.flatMap((one) => (one.ackLeaseToken === null ? [] : one.reference));
  const noted = await queryReferences(
    query,
    `SELECT reference FROM message_events WHERE ${dialect.isIn("reference", "$1")} AND detail = $2`,
    [references, UNKNOWN_END],
  );
  const counts = new Map(references.map((reference) => [reference, 1]));
  for (const reference of noted) counts.set(reference, (counts.get(reference) ?? 0) + 1);
  return counts;
}

function reasonToSkip(
  { email, acceptedMs, isRestricted, ackState }: Candidate,
  rules: AcknowledgementRules,
  counter: Counter,
  nowMs: number,
): SkipReason | null {
  if (isRestricted) return "restricted";
  if (nowMs - acceptedMs > ACKNOWLEDGED_WITHIN_MS) return "too-late";
  const mailbox = mailboxOf(email);
  if (rules.ownAddresses.some((own) => mailboxOf(own) === mailbox)) return "own-address";
  if (!isReadByPerson(email)) return "not-a-person";
  // Whatever was let through once has been counted.
  if (ackState !== "queued") return null;
  if (counter.has(email)) return "address-limit";
  return counter.isFull ? "hourly-limit" : null;
}

type Counter = Awaited<ReturnType<typeof readCounter>>;

/**
 * What was sent within the last day to the candidates' addresses, and within the last hour to all. Looks ahead as far as
 * back, because another node's clock may be a little ahead.
 */
async function readCounter(
  candidates: readonly Candidate[],
  { perHour }: AcknowledgementRules,
  nowMs: number,
  { query, dialect, clientKey }: Transaction,
) {
  const secret = Buffer.from(clientKey).toString("hex");
  const hashOf = (email: string) => keyedHash(secret, ["acknowledged", mailboxOf(email)]);
  const window = (ms: number) => [nowMs - ms, nowMs + ms];
  const hits = await query<{ clientHash: string }>(
    `SELECT DISTINCT client_hash FROM client_hits WHERE ${dialect.isIn("client_hash", "$1")} AND at > $2 AND at < $3`,
    [candidates.map(({ email }) => hashOf(email)), ...window(DAY_MS)],
  );
  const [lastHour] = await query<{ count: number }>(
    "SELECT count(*) AS count FROM client_hits WHERE client_hash = $1 AND at > $2 AND at < $3",
    [ALL_HITS, ...window(HOUR_MS)],
  );
  const known = new Set(hits.map(({ clientHash }) => clientHash));
  const newHits: Row[] = [];
  let count = lastHour?.count ?? 0;
  return {
    has: (email: string) => known.has(hashOf(email)),
    get isFull() {
      return count >= perHour;
    },
    add(email: string): void {
      known.add(hashOf(email));
      count += 1;
      newHits.push({ client_hash: hashOf(email), at: nowMs }, { client_hash: ALL_HITS, at: nowMs });
    },
    newHits,
  };
}

/**
 * The same for all spellings that usually lead to one mailbox: case, dots and what follows a plus do not count. Where they
 * do, two people share a limit, which costs one of them a mail; the other way round somebody would get many.
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf("@");
  const local = email.slice(0, at).toLowerCase().split("+", 1).join("").replaceAll(".", "");
  const domain = email.slice(at + 1).toLowerCase();
  return `${local}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}

/**
 * The characters that people have in their addresses, at a name with a dot whose last part is no number. RFC 5321 allows
 * more, but these are routes through other servers (`victim%v.example@relay`, `host!victim@`), commands (`|sh@`) or options
 * (`-f@`): nobody writes them by hand, and some mail server may obey them.
 */
const PERSONAL_ADDRESS = /^[a-z\d_][\w+'&-]*(\.[\w+'&-]+)*@([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]([a-z\d-]*[a-z\d])?$/i;
/** Programs and desks that must not be written to automatically (RFC 3834, section 2), however they are separated. */
const PROGRAM = /^(mailerdaemon|postmaster|abuse|root|bounces?|noreply|donotreply)$/;
/** The same for lists, with each separator as a hyphen. */
const LIST = /^(owner-.*|.*-(request|owner|bounces?))$/;

export function isReadByPerson(email: string): boolean {
  const local = email.toLowerCase().split(/[@+]/, 1).join("");
  const isProgram = PROGRAM.test(local.replaceAll(/[._-]/g, "")) || LIST.test(local.replaceAll(/[._]/g, "-"));
  return PERSONAL_ADDRESS.test(email) && !isProgram;
}
