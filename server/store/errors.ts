import type { Advice } from "../../contract/commands.ts";
import { OperatorError } from "../errors.ts";
import { withinMs } from "../time.ts";

/** Nothing can be stored or read now. The website stays, answers pages, and tries again. */
export class StoreUnavailable extends OperatorError {
  override readonly name: string = "StoreUnavailable";
}

/** The same until an operator has fixed something: the website ends. */
export class StoreLost extends StoreUnavailable {
  override readonly name = "StoreLost";
}

/** Whether the website waits for the store instead of ending. */
export function isAway(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && !(error instanceof StoreLost);
}

interface StoreFailure {
  what: string;
  /** SQLSTATE, or `sqlite` and the primary result code, or the name of a system error. Without: found by our own checks. */
  codes?: RegExp;
  /** What the website does, at its start and while it runs. */
  effect: "away" | "ends";
}

/** How a database fails. docs/operations.md has the same table for operators. Any other error of a database is `away`. */
export const STORE_FAILURES: readonly StoreFailure[] = [
  { what: "SQLite: disk full", codes: /^(sqlite 13|ENOSPC|EDQUOT)$/, effect: "away" },
  { what: "SQLite: I/O error", codes: /^(sqlite 10|EIO)$/, effect: "away" },
  { what: "SQLite: locked", codes: /^sqlite [56]$/, effect: "away" },
  { what: "SQLite: damaged page", codes: /^sqlite 11$/, effect: "away" },
  {
    what: "PostgreSQL: no connection",
    codes: /^(08\w{3}|ECONN\w+|EPIPE|E\w+UNREACH|ETIMEDOUT)$/,
    effect: "away",
  },
  { what: "PostgreSQL: name not found", codes: /^(ENOTFOUND|EAI_AGAIN)$/, effect: "away" },
  { what: "PostgreSQL: starting, stopping (57P0x)", codes: /^57P0\w$/, effect: "away" },
  { what: "PostgreSQL: connections, space (53xxx)", codes: /^53\w{3}$/, effect: "away" },
  {
    what: "SQLite: not writable",
    codes: /^(sqlite [38]|EACCES|EPERM|EROFS)$/,
    effect: "ends",
  },
  { what: "SQLite: damaged header", codes: /^sqlite 26$/, effect: "ends" },
  { what: "SQLite: folder in use", effect: "ends" },
  { what: "SQLite: files removed, replaced", effect: "ends" },
  { what: "SQLite: thread ended", effect: "ends" },
  { what: "PostgreSQL: password, role, rights (28xxx, 42501)", codes: /^(28\w{3}|42501)$/, effect: "ends" },
  { what: "PostgreSQL: no such database (3D000)", codes: /^3D000$/, effect: "ends" },
  { what: "newer schema, 1.x", effect: "ends" },
];

/** What every program says of a store that is away; a reason follows. */
export const UNUSABLE = "The message database cannot be used";

export function storeError(code: string | undefined, advice: Advice, cause: unknown): StoreUnavailable {
  const { effect } = STORE_FAILURES.find(({ codes }) => codes?.test(code ?? "")) ?? {};
  return new (effect === "ends" ? StoreLost : StoreUnavailable)(advice, { cause });
}

/** The files or rows are no longer those that were opened. */
export class StoreReplaced extends StoreUnavailable {}

const ANSWER_LIMIT_MS = 8000;

/** For who cannot wait while e.g. a disk hangs. The call itself may still complete. */
export function inTime<T>(answer: Promise<T>): Promise<T> {
  const problem = `The message database has not answered for ${ANSWER_LIMIT_MS / 1000} s`;
  return withinMs(ANSWER_LIMIT_MS, answer, () => new StoreUnavailable({ problem, remedy: "check its disk" }));
}

/** The store must not be used, because of e.g. another program's file or a newer schema. */
export class StoreRefused extends OperatorError {
  override readonly name: string = "StoreRefused";
}

/** The website has not yet created the database, or upgraded it to this version. */
export class StoreNotReady extends StoreRefused {
  override readonly name = "StoreNotReady";
}
