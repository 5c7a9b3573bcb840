import type { Migration } from "./migration.ts";

// The state leads messages_due, which holds only one, because SQLite picks the index that answers most conditions.
// No index on the e-mail address: only the operator looks for one, and every copy fewer is one fewer to erase.
export const messages: Migration = ({ identity, integer, tableEnd }) => `
  CREATE TABLE messages (
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
  )${tableEnd};
  CREATE UNIQUE INDEX messages_by_key ON messages (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX messages_by_words ON messages (fingerprint, accepted_at);
  CREATE INDEX messages_by_age ON messages (accepted_at);
  CREATE INDEX messages_by_state ON messages (state, accepted_at);
  CREATE INDEX messages_due ON messages (state, due_at, id) WHERE state = 'queued' AND is_restricted = 0;
  CREATE INDEX messages_leased ON messages (state, leased_until) WHERE leased_until IS NOT NULL;

  CREATE TABLE client_hits (
    client_hash TEXT NOT NULL,
    at ${integer} NOT NULL
  )${tableEnd};
  CREATE INDEX client_hits_by_client ON client_hits (client_hash, at);
`;
