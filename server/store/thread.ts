import { parentPort, Worker } from "node:worker_threads";
import { errorName } from "../log.ts";
import { type PlainError, restoreError, StoreUnavailable } from "./store.ts";

// Calls the methods of an object's parts in another thread, each by its name, such as `queue.claim`.
const MAX_CALLS = 10_000;

type Call = { id: number; method: string; args: readonly unknown[] };
/** What the thread has: each part with the names of its methods, and plain values. */
type Served = Readonly<Record<string, readonly string[] | Uint8Array>>;
/** Reply 0 is the result of opening, a Served. Errors lose their class between threads, so the name is sent. */
type Reply = { id: number; result?: unknown; failure?: PlainError };

interface ThreadOptions {
  /** Rejects if the answer takes too long. */
  bound(answer: Promise<unknown>, method: string): Promise<unknown>;
  /** Called if the thread ends without `close`. */
  onEnd?: ((error: StoreUnavailable) => void) | undefined;
}

/** Runs the file in a thread and resolves to the object that `serveThread` opens there. `close` ends the thread. */
export async function openInThread<Target>(file: URL, data: unknown, options: ThreadOptions): Promise<Target> {
  const thread = new Worker(file, { workerData: data });
  const opened = Promise.withResolvers<unknown>();
  const waiting = new Map([[0, opened]]);
  let lastId = 0;
  let ended: StoreUnavailable | null = null;
  thread.on("message", (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.failure) call?.reject(restoreError(reply.failure));
    else call?.resolve(reply.result);
  });
  thread.on("error", (error) => end(errorName(error)));
  thread.once("exit", () => end("no error was given"));
  function end(reason: string): void {
    if (ended) return;
    ended = new StoreUnavailable({
      problem: `The message database's thread ended (${reason})`,
      remedy: "restart the server",
    });
    for (const { reject } of waiting.values()) reject(ended);
    options.onEnd?.(ended);
  }

  function call(method: string, ...args: unknown[]): Promise<unknown> {
    // Calls to a thread that hangs must not fill the memory.
    const isFull = waiting.size >= MAX_CALLS;
    if (ended || isFull)
      return Promise.reject(ended ?? new StoreUnavailable({ problem: "Too many calls wait for the database" }));
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return options.bound(answer.promise, method);
  }
  async function close(): Promise<void> {
    const closed = ended ? Promise.resolve() : call("close");
    ended ??= new StoreUnavailable({ problem: "The message database is closed" });
    await closed.finally(() => thread.terminate());
  }
  const served = await opened.promise.catch((error) => close().then(() => Promise.reject(error)));
  const parts = Object.entries(served as Served).map(([part, names]) => [
    part,
    Array.isArray(names)
      ? Object.fromEntries(names.map((name: string) => [name, call.bind(null, `${part}.${name}`)]))
      : names,
  ]);
  return { ...Object.fromEntries(parts), close } as Target;
}

/** Call it in the thread. Opens the object and serves its parts. If opening fails, it serves only `close`. */
export async function serveThread(open: () => Promise<object>): Promise<void> {
  type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  let target: Readonly<Record<string, unknown>> = { close: () => {} };
  const reply = (message: Reply) => parentPort?.postMessage(message);
  const answer = (id: number, work: () => unknown) =>
    Promise.try(work).then(
      (result) => reply({ id, result }),
      ({ name, message, advice }: PlainError) => reply({ id, failure: { name, message, ...(advice && { advice }) } }),
    );
  parentPort?.on("message", ({ id, method, args }: Call) => {
    const [part = "", name] = method.split(".");
    const methods = (name === undefined ? target : target[part]) as Methods;
    return answer(id, () => methods[name ?? part]?.(...args));
  });
  await answer(0, async (): Promise<Served> => {
    target = { ...(await open()) };
    const { close: _, ...parts } = target;
    const served = Object.entries(parts).map(([part, methods]) => [
      part,
      methods instanceof Uint8Array ? methods : Object.keys(methods as Methods),
    ]);
    return Object.fromEntries(served);
  });
}
