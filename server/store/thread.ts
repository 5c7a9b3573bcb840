import { parentPort, Worker } from "node:worker_threads";
import { errorName } from "../log.ts";
import { MINUTE_MS, withinMs } from "../time.ts";
import { type PlainError, restoreError, StoreUnavailable, toPlainError } from "./store.ts";

// An object whose parts run in another thread: calling `queue.claim` here calls it there.

/** Calls to a thread that hangs must not fill the memory. */
const MAX_CALLS = 10_000;

/** A call that takes longer is reported as unavailable, but may still complete. */
const CALL_LIMIT_MS = 8000;

type Call = { id: number; method: string; args: readonly unknown[] };
/** What the thread has: each part's methods, with the limit of a call, and plain values. */
type Served = Readonly<Record<string, Readonly<Record<string, number>> | Uint8Array>>;
/** The reply with which the thread reports that what it serves is unusable until a restart. */
const ENDED = -1;
/** Reply 0 is the result of opening, a Served. Errors lose their class between threads, so the name is sent. */
type Reply = { id: number; result?: unknown; failure?: PlainError };

const limitsMs = new WeakMap<object, number>();

/** Sets how long a call of the method from another thread may take. */
export function mayTake<Method extends object>(limitMs: number, method: Method): Method {
  limitsMs.set(method, limitMs);
  return method;
}

/** For methods that change or copy any number of rows. */
export const mayTakeMinutes = <Method extends object>(method: Method): Method => mayTake(15 * MINUTE_MS, method);

function noAnswer(limitMs: number): StoreUnavailable {
  const problem = `The message database has not answered for ${limitMs / 1000} s`;
  return new StoreUnavailable({ problem, remedy: "check the disk that holds DATA_DIR" });
}

/**
 * Runs the file in a thread and resolves to the object that `serveThread` opens there. `close` ends the thread. `onEnd`
 * is called once if the thread ends without it, or reports an end. Then every call rejects.
 */
export async function openInThread<Target>(
  file: URL,
  data: unknown,
  onEnd: (error: StoreUnavailable) => void = () => {},
): Promise<Target> {
  const thread = new Worker(file, { workerData: data });
  const opened = Promise.withResolvers<unknown>();
  const waiting = new Map([[0, opened]]);
  let lastId = 0;
  let ended: StoreUnavailable | null = null;
  thread.on("message", (reply: Reply) => {
    if (reply.id === ENDED && reply.failure) return end(restoreError(reply.failure) as StoreUnavailable);
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.failure) call?.reject(restoreError(reply.failure));
    else call?.resolve(reply.result);
  });
  const endOf = (reason: string) =>
    new StoreUnavailable({
      problem: `The message database's thread ended (${reason})`,
      remedy: "restart the server",
    });
  thread.on("error", (error) => end(endOf(errorName(error))));
  thread.once("exit", () => end(endOf("no error was given")));
  function end(error: StoreUnavailable): void {
    if (ended) return;
    ended = error;
    for (const { reject } of waiting.values()) reject(ended);
    onEnd(ended);
  }

  function call(method: string, limitMs: number, ...args: unknown[]): Promise<unknown> {
    const isFull = waiting.size >= MAX_CALLS;
    if (ended || isFull)
      return Promise.reject(ended ?? new StoreUnavailable({ problem: "Too many calls wait for the database" }));
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return Number.isFinite(limitMs) ? withinMs(limitMs, answer.promise, noAnswer) : answer.promise;
  }
  async function close(): Promise<void> {
    const closed = ended ? Promise.resolve() : call("close", CALL_LIMIT_MS);
    ended ??= new StoreUnavailable({ problem: "The message database is closed" });
    await closed.finally(() => thread.terminate());
  }
  const served = await opened.promise.catch((error) => close().then(() => Promise.reject(error)));
  const parts = Object.entries(served as Served).map(([part, methods]) => {
    if (methods instanceof Uint8Array) return [part, methods];
    const calls = Object.entries(methods).map(([name, limitMs]) => [name, call.bind(null, `${part}.${name}`, limitMs)]);
    return [part, Object.fromEntries(calls)];
  });
  return { ...Object.fromEntries(parts), close } as Target;
}

/**
 * Call it in the thread. Opens the object and serves its parts. If opening fails, it serves only `close`. `open` gets a
 * function with which the object reports its end.
 */
export async function serveThread(open: (onEnd: (error: StoreUnavailable) => void) => Promise<object>): Promise<void> {
  type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  let target: Readonly<Record<string, unknown>> = { close: () => {} };
  const reply = (message: Reply) => parentPort?.postMessage(message);
  const answer = (id: number, work: () => unknown) =>
    Promise.try(work).then(
      (result) => reply({ id, result }),
      (error: PlainError) => reply({ id, failure: toPlainError(error) }),
    );
  parentPort?.on("message", ({ id, method, args }: Call) => {
    const [part = "", name] = method.split(".");
    const methods = (name === undefined ? target : target[part]) as Methods;
    return answer(id, () => methods[name ?? part]?.(...args));
  });
  await answer(0, async (): Promise<Served> => {
    target = { ...(await open((error) => reply({ id: ENDED, failure: toPlainError(error) }))) };
    const { close: _, ...parts } = target;
    const served = Object.entries(parts).map(([part, methods]) => {
      if (methods instanceof Uint8Array) return [part, methods];
      const limits = Object.entries(methods as Methods).map(([name, method]) => [
        name,
        limitsMs.get(method) ?? CALL_LIMIT_MS,
      ]);
      return [part, Object.fromEntries(limits)];
    });
    return Object.fromEntries(served);
  });
}
