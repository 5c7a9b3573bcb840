import pg from "pg";
import { StoreUnavailable } from "../store.ts";

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const NO_PRIVILEGE = "42501";
/** SQLSTATE classes of a wrong statement or value: faults of this program that asking again does not cure. */
const OWN_FAULTS = ["22", "23", "42"];

/** What a query's error means: StoreUnavailable for a database that is away, full or overloaded; else as it is. */
export function toStoreError(error: unknown): unknown {
  const code = sqlState(error);
  if (code && OWN_FAULTS.some((fault) => code.startsWith(fault)) && code !== NO_PRIVILEGE) return error;
  return new StoreUnavailable(
    `The message database cannot be used: ${reasonOf(error)}; check DATABASE_URL and the PostgreSQL server`,
    { cause: error },
  );
}

/** The transaction had to give way to another one and may simply be tried again. */
export function mustGiveWay(error: unknown): boolean {
  const code = error instanceof StoreUnavailable ? sqlState(error.cause) : undefined;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
}

/** The connection failed, or nothing is known about its state. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  const code = sqlState(error.cause);
  // Class 57P: the server is being shut down and has ended the connection.
  return code === undefined || code.startsWith("57P");
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

// Never PostgreSQL's DETAIL, which may hold a row's values.
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}
