import { randomBytes } from "node:crypto";
import { type Query, readMeta, writeMeta } from "./database.ts";
import { StoreRefused, StoreUnavailable } from "./store.ts";

/** The words in which the two databases' definitions differ. */
export interface ColumnTypes {
  identity: string;
  /** Holds milliseconds since 1970. */
  integer: string;
  /** Ends a table's definition. */
  tableEnd: string;
  /** Ends the definition of a table that is only ever searched by its primary key. */
  keyedTableEnd: string;
  /** Statements that make each deletion of messages write to `erased_references`, in the same transaction. */
  recordErasures: readonly string[];
  /** The type of a column that always holds a number out of a column with JSON. */
  numberIn(json: string, field: string): string;
}

/** The statements that lead from the version before to this one. Never edited once released: add another. */
type Migration = (types: ColumnTypes) => readonly string[];

/** Number n of this list leads to schema version n. */
const MIGRATIONS: readonly Migration[] = [
  createMessages,
  addKeysAndReasons,
  addFootprint,
  addAcknowledgements,
  (types) => [
    ...addHook(types),
    ...addErasedReferences(types),
    ...indexQuarantine(),
    ...addReports(types),
    ...addFootprintTotal(types),
    ...addAuthors(),
  ],
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** What is known of a database without creating, upgrading or locking anything. */
export interface SchemaState {
  /** `null`: the database has no tables of ours yet. */
  version: number | null;
  /** A commit is confirmed before it is on disk. */
  losesCommits: boolean;
  /** How far this machine's clock is ahead of the database's. */
  clockAheadMs: number;
}

/**
 * Creates the tables or upgrades them, and resolves to the database's client key. Runs within a transaction that no
 * other node's migration can enter. Rejects with StoreRefused when a newer version of the program wrote the database,
 * or its version is not true. The query rejects with StoreUnavailable where a later try may succeed.
 */
export async function migrate(query: Query, types: ColumnTypes): Promise<Uint8Array> {
  await query(`CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)${types.tableEnd}`);
  const version = (await readSchemaVersion(query)) ?? 0;
  if (version > SCHEMA_VERSION) {
    throw new StoreRefused(
      `This database was written by a newer version of the program (schema ${version}, this one knows ${SCHEMA_VERSION}); ` +
        "run that version, or restore a backup made before the upgrade",
    );
  }
  for (const migration of MIGRATIONS.slice(version)) {
    for (const statement of migration(types)) {
      await query(statement).catch((error: Error) => {
        if (error instanceof StoreUnavailable) throw error;
        throw new StoreRefused(
          `The schema of the message database does not fit its version ${version} (${error.message}); restore a backup`,
        );
      });
    }
  }
  if (version < SCHEMA_VERSION) await writeMeta(query, "schema_version", String(SCHEMA_VERSION));
  await query("INSERT INTO store_meta VALUES ('client_key', $1) ON CONFLICT DO NOTHING", [
    randomBytes(32).toString("hex"),
  ]);
  return Buffer.from((await readMeta(query, "client_key")) ?? "", "hex");
}

/** `null` for a database without a version. Rejects with StoreRefused when it is none that this program ever wrote. */
export async function readSchemaVersion(query: Query): Promise<number | null> {
  const version = await readMeta(query, "schema_version");
  if (version !== null && !/^[1-9]\d*$/.test(version)) {
    const shown = JSON.stringify(version.slice(0, 20));
    throw new StoreRefused(`The message database has the schema version ${shown}, which is none; restore a backup`);
  }
  return version === null ? null : Number(version);
}

function createMessages({ identity, integer, tableEnd }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE messages (
      id ${identity},
      reference TEXT NOT NULL UNIQUE,
      idempotency_key TEXT,
      fingerprint TEXT NOT NULL,
      name TEXT NOT NULL,
      email TEXT NOT NULL,
      phone TEXT NOT NULL,
      country TEXT NOT NULL,
      message TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'failed', 'quarantined')),
      accepted_at ${integer} NOT NULL,
      state_changed_at ${integer} NOT NULL,
      due_at ${integer} CHECK ((due_at IS NULL) = (state <> 'queued')),
      attempts ${integer} NOT NULL DEFAULT 0,
      last_error TEXT,
      lease_token TEXT,
      leased_until ${integer},
      is_restricted ${integer} NOT NULL DEFAULT 0
    )${tableEnd}`,
    "CREATE UNIQUE INDEX messages_by_key ON messages (idempotency_key) WHERE idempotency_key IS NOT NULL",
    "CREATE INDEX messages_by_words ON messages (fingerprint, accepted_at)",
    "CREATE INDEX messages_by_age ON messages (accepted_at)",
    "CREATE INDEX messages_by_state ON messages (state, accepted_at)",
    // The state leads this index, which holds only one, because SQLite picks the index that answers most conditions.
    "CREATE INDEX messages_due ON messages (state, due_at, id) WHERE state = 'queued' AND is_restricted = 0",
    "CREATE INDEX messages_leased ON messages (state, leased_until) WHERE leased_until IS NOT NULL",
    // No index on the e-mail address: only the operator looks for one, and every copy fewer is one fewer to erase.
    `CREATE TABLE client_hits (client_hash TEXT NOT NULL, at ${integer} NOT NULL)${tableEnd}`,
    "CREATE INDEX client_hits_by_client ON client_hits (client_hash, at)",
  ];
}

/**
 * A message may have several keys: each key with which the same words were sent again. Only hashes are kept. Keys of the
 * first version cannot be hashed here: for ten minutes the words themselves still tell a repeat. Their column is left,
 * empty for new messages, because a node of the first version may still be running on the same PostgreSQL database.
 */
function addKeysAndReasons({ identity, integer, tableEnd, keyedTableEnd }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE message_keys (
      key_hash TEXT NOT NULL,
      reference TEXT NOT NULL,
      client_proof TEXT NOT NULL,
      PRIMARY KEY (key_hash, reference)
    )${keyedTableEnd}`,
    `ALTER TABLE messages ADD COLUMN answered_at ${integer}`,
    `ALTER TABLE messages ADD COLUMN corrected_at ${integer}`,
    "ALTER TABLE messages ADD COLUMN quarantine_reason TEXT",
    // The history of a message, which ends with it. Nothing is written here when one is accepted.
    `CREATE TABLE message_events (
      id ${identity},
      reference TEXT NOT NULL REFERENCES messages (reference) ON DELETE CASCADE,
      at ${integer} NOT NULL,
      kind TEXT NOT NULL,
      detail TEXT
    )${tableEnd}`,
    "CREATE INDEX message_events_by_message ON message_events (reference, id)",
    // Holds only what was answered, so that accepting a message does not write to it.
    "CREATE INDEX messages_answered ON messages (state, accepted_at) WHERE answered_at IS NOT NULL",
    // Holds only what was released or retried, so that the oldest of these is found without reading the whole queue.
    `CREATE INDEX messages_requeued ON messages (state, state_changed_at)
     WHERE state = 'queued' AND is_restricted = 0 AND state_changed_at > accepted_at`,
  ];
}

/** A FootprintEstimate as JSON, for messages that came with one. A node of the version before leaves it empty. */
function addFootprint(): readonly string[] {
  return ["ALTER TABLE messages ADD COLUMN footprint TEXT"];
}

/**
 * The mail to the sender that says that the message has arrived: queued once the message is delivered, and due only while
 * it is still to be sent. What counts towards its limits is in client_hits. No address is copied.
 */
function addAcknowledgements({ integer }: ColumnTypes): readonly string[] {
  return [
    ...deliveryColumns("ack", integer),
    // Holds only what is still to be sent, so that accepting a message does not write to it.
    "CREATE INDEX messages_to_acknowledge ON messages (ack_due_at, id) WHERE ack_due_at IS NOT NULL",
  ];
}

function deliveryColumns(prefix: string, integer: string): readonly string[] {
  return [
    "state TEXT",
    `changed_at ${integer}`,
    `due_at ${integer}`,
    `attempts ${integer} NOT NULL DEFAULT 0`,
    "reason TEXT",
    "lease_token TEXT",
    `leased_until ${integer}`,
  ].map((column) => `ALTER TABLE messages ADD COLUMN ${prefix}_${column}`);
}

/**
 * The post to HOOK_URL. What is in quarantine or restricted leaves the first index and comes back to it by itself, also
 * when a node of the version before releases it. Both hold little, so that accepting a message without a hook does not
 * write to them.
 */
function addHook({ integer }: ColumnTypes): readonly string[] {
  return [
    ...deliveryColumns("hook", integer),
    `CREATE INDEX messages_to_post ON messages (hook_due_at, id)
     WHERE hook_due_at IS NOT NULL AND state <> 'quarantined' AND is_restricted = 0`,
    "CREATE INDEX messages_not_posted ON messages (hook_state, hook_changed_at) WHERE hook_state = 'failed' AND is_restricted = 0",
  ];
}

/**
 * Tells files of erased messages from files of messages that another database knows. Written by a trigger, so that no way
 * to delete a message is forgotten, and a node of the version before writes it too. Holds nothing about a person.
 */
function addErasedReferences({ integer, keyedTableEnd, recordErasures }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE erased_references (reference TEXT PRIMARY KEY, erased_at ${integer} NOT NULL)${keyedTableEnd}`,
    ...recordErasures,
  ];
}

/**
 * Counts what is in quarantine without reading it. Holds nothing else, so that accepting another message does not write to
 * it. The state leads, because SQLite picks the index that answers most conditions.
 */
function indexQuarantine(): readonly string[] {
  return [
    "CREATE INDEX messages_quarantined ON messages (state, id) WHERE state = 'quarantined' AND is_restricted = 0",
  ];
}

/**
 * What alerts have told the operator of a message: that it ends, and that it failed, by the time of that failure. Before,
 * failures were compared with the time of the last alert, which a clock that is set back makes wrong.
 */
function addReports({ integer }: ColumnTypes): readonly string[] {
  const lastAlert = "(SELECT CAST(value AS BIGINT) FROM store_meta WHERE name = 'last_alert_at')";
  return [
    `ALTER TABLE messages ADD COLUMN notified_at ${integer}`,
    `ALTER TABLE messages ADD COLUMN reported_failure ${integer}`,
    `ALTER TABLE messages ADD COLUMN hook_reported_failure ${integer}`,
    `UPDATE messages SET reported_failure = state_changed_at WHERE state = 'failed' AND state_changed_at <= ${lastAlert}`,
    // The time at which a server of the version before last checked that it can write.
    `INSERT INTO store_meta SELECT 'clock', '{"seenAtMs":' || substr(value, 1, 13) || '}' FROM store_meta
     WHERE name = 'write_check'`,
  ];
}

/**
 * The total of the estimate, by which operators sort. The database computes it, also of what a node of the version before
 * writes. Messages without an estimate come last.
 */
function addFootprintTotal({ numberIn }: ColumnTypes): readonly string[] {
  return [
    `ALTER TABLE messages ADD COLUMN footprint_kg ${numberIn("footprint", "totalKg")}`,
    "CREATE INDEX messages_by_footprint ON messages (COALESCE(footprint_kg, -1), accepted_at, id)",
  ];
}

/** Who wrote a note: the events of the kind `noted`, whose text is the detail. */
function addAuthors(): readonly string[] {
  return ["ALTER TABLE message_events ADD COLUMN author TEXT"];
}
