import type { Ledger, NewMessage } from "../acceptance.ts";

export interface KnownMessage {
  reference: string;
  idempotency_key: string | null;
  fingerprint: string;
  accepted_at: number;
}

export interface Hit {
  client_hash: string;
  at: number;
}

export interface FreeReference {
  prefix: string;
  reference: string;
}

/** All that the database knows of one batch's keys, words, clients and references. */
export interface BatchFacts {
  messages: readonly KnownMessage[];
  hits: readonly Hit[];
  mailedLastHour: number;
  /** One for each submission, with its prefix. */
  freeReferences: FreeReference[];
}

/** What a batch of decisions adds, to be written in one go. */
export interface BatchAdditions {
  messages: NewMessage[];
  hits: Hit[];
}

/** Decides a batch in memory, between one round of questions to the database and one round of writing. */
export function batchLedger(facts: BatchFacts): { ledger: Ledger; additions: BatchAdditions } {
  const additions: BatchAdditions = { messages: [], hits: [] };
  const byKey = new Map<string, { reference: string; fingerprint: string }>();
  const byWords = new Map<string, { reference: string; acceptedAtMs: number }[]>();
  const hitsOf = new Map<string, number[]>();
  let mailed = facts.mailedLastHour;

  const learn = (reference: string, key: string | null, fingerprint: string, acceptedAtMs: number) => {
    if (key !== null) byKey.set(key, { reference, fingerprint });
    push(byWords, fingerprint, { reference, acceptedAtMs });
  };
  for (const known of facts.messages) {
    learn(known.reference, known.idempotency_key, known.fingerprint, known.accepted_at);
  }
  for (const { client_hash, at } of facts.hits) push(hitsOf, client_hash, at);

  const ledger: Ledger = {
    findByKey: (key) => byKey.get(key),
    findRepeat: (fingerprint, { afterMs, beforeMs }) =>
      byWords.get(fingerprint)?.find(({ acceptedAtMs }) => acceptedAtMs > afterMs && acceptedAtMs < beforeMs)
        ?.reference,
    nthNewestHitMs: (clientHash, { afterMs, beforeMs }, n) =>
      (hitsOf.get(clientHash) ?? []).filter((at) => at > afterMs && at < beforeMs).sort((a, b) => b - a)[n - 1],
    countMailed: () => mailed,
    freeReference(prefix) {
      const index = facts.freeReferences.findIndex((free) => free.prefix === prefix);
      const reference = index < 0 ? undefined : facts.freeReferences.splice(index, 1)[0]?.reference;
      if (reference === undefined) throw new Error("A batch needs one free reference for each submission");
      return reference;
    },
    addMessage(message) {
      additions.messages.push(message);
      learn(message.reference, message.idempotencyKey, message.fingerprint, message.acceptedAtMs);
      if (message.state === "queued") mailed += 1;
    },
    addHit(clientHash, atMs) {
      additions.hits.push({ client_hash: clientHash, at: atMs });
      push(hitsOf, clientHash, atMs);
    },
  };
  return { ledger, additions };
}

function push<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
