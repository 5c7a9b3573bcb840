export type Value = string | number | null;

/**
 * Runs one statement in a transaction of its own and gives its rows, once it is committed. Placeholders are `$1`, `$2`,
 * … in both databases.
 */
export type Query = <Row>(sql: string, values?: readonly Value[]) => Promise<Row[]>;

/** The few words in which the two databases differ where they share a statement. */
export interface Dialect {
  /** Ends the choice of the messages to claim. */
  lockRows: string;
  /** The e-mail address in lower case, whatever the database's language. */
  foldedEmail: string;
}
