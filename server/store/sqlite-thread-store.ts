import { Worker } from "node:worker_threads";
import { gathering, type SqliteCore } from "./sqlite-store.ts";
import { type Store, StoreRefused, StoreUnavailable } from "./store.ts";

export type Method = Exclude<keyof SqliteCore, "clientKey">;

/** What the thread is asked to do; `close` has more to it. */
const METHODS: readonly Method[] = [
  ...(["acceptAll", "claim", "markDelivered", "reschedule", "setAside", "unclaim", "nextDueAt", "queueDepth"] as const),
  ...(["lastAlertAt", "moveLastAlert"] as const),
  ...(["list", "find", "countByDayAndCountry", "retry", "release"] as const),
  ...(["rectify", "restrict", "erase", "purge", "backup", "ping"] as const),
];

export interface Call {
  id: number;
  method: Method;
  args: unknown[];
}

export type Reply = { id: number; result: unknown } | { id: number; failure: PlainError };

/** Errors lose their class between threads, so it travels by name. */
export interface PlainError {
  name: string;
  message: string;
  code?: string;
}

/**
 * The SQLite store in a thread of its own: its calls wait for the disk, and the thread that serves the pages must not.
 * Each group of messages travels as one call.
 */
export async function openSqliteThreadStore(dataDir: string): Promise<Store> {
  const thread = new Worker(new URL("./sqlite/thread.ts", import.meta.url), { workerData: { dataDir } });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let isClosed = false;

  thread.on("message", (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("result" in reply) call?.resolve(reply.result);
    else call?.reject(revive(reply.failure));
  });

  function call(method: Method, args: unknown[]): Promise<unknown> {
    if (isClosed) return Promise.reject(new StoreUnavailable("The message database is closed"));
    lastId += 1;
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return expectReply(lastId);
  }

  function expectReply(id: number): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    return answer.promise;
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    const closed = call("close", []);
    isClosed = true;
    await closed;
    await thread.terminate();
  }

  const clientKey = await expectReply(0).catch(async (error) => {
    await thread.terminate();
    throw error;
  });
  const methods = Object.fromEntries(METHODS.map((name) => [name, (...args: unknown[]) => call(name, args)]));
  return gathering({ ...methods, clientKey, close } as unknown as SqliteCore);
}

function revive({ name, message, code }: PlainError): Error {
  if (name === "StoreUnavailable") return new StoreUnavailable(message);
  if (name === "StoreRefused") return new StoreRefused(message);
  return Object.assign(new Error(message), { name, code });
}
