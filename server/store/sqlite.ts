import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { withinMs } from "../time.ts";
import type { Database, Dialect } from "./database.ts";
import { StoreRefused, StoreUnavailable } from "./store.ts";

export const SQLITE_DIALECT: Dialect = {
  lockRows: "",
  lowerCaseEmail: "lower(email)",
  isIn: (column, jsonArray) => `${column} IN (SELECT value FROM json_each(${jsonArray}))`,
  // Binary items, so that reading a field of one does not parse all of it again.
  itemsOf: (jsonArray) => `jsonb_each(${jsonArray})`,
};

export function sqliteFile(dataDir: string): string {
  return join(dataDir, "messages.db");
}

/** Tells this program's thread from any other that loads the same file. */
export const THREAD_ROLE = "sqlite";

type Method = Exclude<keyof Database, "dialect" | "clientKey">;

export interface Call {
  id: number;
  method: Method;
  args: readonly unknown[];
}

/** Number 0 answers the opening, with the client key. */
export type Reply =
  | { id: number; result: unknown }
  | { id: number; failure: { name: string; message: string; code?: string } };

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A disk that takes longer than this is reported as unavailable; what was asked may still happen. */
const CALL_LIMIT_MS = 8000;
const LONG_CALL_LIMIT_MS = 15 * 60_000;

/**
 * The SQLite database of `dataDir`, in a thread of its own (sqlite-thread.ts): its calls wait for the disk, and the
 * thread that serves the pages must not. For one server, with the operator's commands beside it.
 */
export async function openSqlite(dataDir: string): Promise<Database> {
  const thread = new Worker(new URL("./sqlite-thread.ts", import.meta.url), {
    workerData: { role: THREAD_ROLE, file: sqliteFile(dataDir) },
  });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let isClosed = false;

  thread.on("message", (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("result" in reply) call?.resolve(reply.result);
    else call?.reject(toError(reply.failure));
  });

  function answerTo<T>(id: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.set(id, { resolve, reject });
    return promise;
  }

  function call<T>(method: Method, args: readonly unknown[], limitMs = CALL_LIMIT_MS): Promise<T> {
    if (isClosed) return Promise.reject(new StoreUnavailable("The message database is closed"));
    lastId += 1;
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return withinMs(limitMs, answerTo<T>(lastId), noAnswer);
  }

  const clientKey = await answerTo<Uint8Array>(0).catch(async (error) => {
    await thread.terminate();
    throw error;
  });
  return {
    dialect: SQLITE_DIALECT,
    clientKey,
    query: (sql, values) => call("query", [sql, values]),
    queryLong: (sql, values) => call("queryLong", [sql, values], LONG_CALL_LIMIT_MS),
    accept: (batch) => call("accept", [batch]),
    eraseTraces: () => call("eraseTraces", [], LONG_CALL_LIMIT_MS),
    checkpoint: () => call("checkpoint", [], LONG_CALL_LIMIT_MS),
    copyTo: (file) => call("copyTo", [file], LONG_CALL_LIMIT_MS),
    async close() {
      if (isClosed) return;
      const closed = call<void>("close", []);
      isClosed = true;
      await closed;
      await thread.terminate();
    },
  };
}

function noAnswer(limitMs: number): StoreUnavailable {
  return new StoreUnavailable(
    `The message database has not answered for ${limitMs / 1000} s; check the disk that holds DATA_DIR`,
  );
}

function toError({ name, message, code }: { name: string; message: string; code?: string }): Error {
  if (name === "StoreUnavailable") return new StoreUnavailable(message);
  if (name === "StoreRefused") return new StoreRefused(message);
  return Object.assign(new Error(message), { name, code });
}
