import { parentPort, Worker } from "node:worker_threads";
import { errorName } from "../log.ts";
import { type PlainError, restoreError, StoreUnavailable } from "./store.ts";

// Calls the methods of an object in another thread by name.
const MAX_CALLS = 10_000;

type Call = { id: number; method: string; args: readonly unknown[] };
/** Reply 0 is the result of opening. Errors lose their class between threads, so the name is sent. */
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
  const values = await opened.promise.catch((error) => close().then(() => Promise.reject(error)));
  // With a `then`, the proxy would count as a promise.
  const get = (target: object, name: string) =>
    name in target || name === "then" ? Reflect.get(target, name) : call.bind(null, name);
  return new Proxy({ ...(values as object), close }, { get }) as Target;
}

/** Call it in the thread. Opens the object and serves its methods. If opening fails, it serves only `close`. */
export async function serveThread(open: () => Promise<object>): Promise<void> {
  let target: Record<string, unknown> = { close: () => {} };
  const reply = (message: Reply) => parentPort?.postMessage(message);
  const answer = (id: number, work: () => unknown) =>
    Promise.try(work).then(
      (result) => reply({ id, result }),
      ({ name, message, advice }: PlainError) => reply({ id, failure: { name, message, ...(advice && { advice }) } }),
    );
  parentPort?.on("message", ({ id, method, args }: Call) =>
    answer(id, () => (target[method] as (...values: readonly unknown[]) => unknown)(...args)),
  );
  await answer(0, async () => {
    target = { ...(await open()) };
    return Object.fromEntries(Object.entries(target).filter(([, value]) => typeof value !== "function"));
  });
}
