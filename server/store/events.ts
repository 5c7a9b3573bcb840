import type { Database, Dialect, Query } from "./database.ts";
import { normaliseReference } from "./reference.ts";
import type { Channel, EventKind, Listing, Note, StoredEvent } from "./store.ts";

/** A history entry, which several messages may get at once. */
interface NewEvent {
  kind: EventKind;
  at: Date;
  channel?: Channel;
  detail?: string | null;
  author?: string | null;
}

/** Writes the event into the history of each of the messages. */
export async function addEvents(
  query: Query,
  { isIn }: Dialect,
  ids: readonly number[],
  { kind, at, channel, detail, author }: NewEvent,
): Promise<void> {
  if (ids.length === 0) return;
  await query(
    `INSERT INTO events (message_id, at, kind, channel, detail, author)
     SELECT id, CAST($2 AS BIGINT), $3, CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT) FROM messages
     WHERE ${isIn("id", "$1", "BIGINT")}`,
    [ids, at, kind, channel ?? null, detail ?? null, author ?? null],
  );
}

export function eventMethods({ query, dialect }: Database): Pick<Listing, "history" | "notes"> {
  return {
    history: (reference) =>
      query<StoredEvent>(
        `SELECT at, kind, channel, detail, author FROM events
         WHERE message_id = (SELECT id FROM messages WHERE reference = $1) ORDER BY id`,
        [normaliseReference(reference)],
      ),

    async notes(references) {
      const rows = await query<Note & { reference: string }>(
        `SELECT reference, kind, at, author, detail AS text FROM events JOIN messages ON messages.id = message_id
         WHERE ${dialect.isIn("reference", "$1")} AND kind IN ('noted', 'replied') ORDER BY events.id`,
        [references],
      );
      const notes = new Map<string, Note[]>();
      for (const { reference, ...note } of rows) notes.set(reference, [...(notes.get(reference) ?? []), note]);
      return notes;
    },
  };
}
