import { StoreRefused } from "../store.ts";
import { messages } from "./0001-messages.ts";

/** The words in which the two databases' definitions differ. */
export interface ColumnTypes {
  identity: string;
  /** Holds milliseconds since 1970. */
  integer: string;
  /** Ends a table's definition. */
  tableEnd: string;
}

/** SQL that brings a database of the version before to this one. Never edited once released: add another. */
export type Migration = (types: ColumnTypes) => string;

/** Number n of this list leads to schema version n. */
const MIGRATIONS: readonly Migration[] = [messages];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The SQL that is missing from a database of this version; refuses one from the future. */
export function pendingSql(version: number, types: ColumnTypes): string[] {
  if (version > SCHEMA_VERSION) {
    throw new StoreRefused(
      `This database was written by a newer version of the program (schema ${version}, this one knows ${SCHEMA_VERSION}); ` +
        "run that version, or restore a backup made before the upgrade",
    );
  }
  return MIGRATIONS.slice(version).map((migration) => migration(types));
}
