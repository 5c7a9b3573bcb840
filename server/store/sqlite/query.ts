import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Dialect, Query } from "../query.ts";
import { whenFree } from "./when-free.ts";

const PATIENCE_MS = 3000;

export const SQLITE_DIALECT: Dialect = { lockRows: "", foldedEmail: "lower(email)" };

/** Statements are prepared once and kept: there are a few dozen of them. */
export function sqliteQuery(db: DatabaseSync): Query {
  const prepared = new Map<string, StatementSync>();

  return <Row>(sql: string, values: readonly (string | number | null)[] = []) =>
    whenFree(() => {
      const statement = prepared.get(sql) ?? db.prepare(sql);
      prepared.set(sql, statement);
      // SQLite takes `$1` for a name, so the values are given by name.
      return statement.all(Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]))) as Row[];
    }, PATIENCE_MS);
}
