import { parentPort, Worker } from "node:worker_threads";
import { withinMs } from "../time.ts";
import { StoreLost, StoreRefused, StoreUnavailable } from "./store.ts";

// Calls the methods of an object that lives in another thread, by their names.

type Call = { id: number; method: string; args: readonly unknown[] };
/** Number 0 answers the opening. Errors lose their class between threads, so it travels by name. */
type Reply = { id: number; result?: unknown; failure?: { name: string; message: string } } | { notice: string };

interface ThreadOptions {
  limitMs(method: string): number;
  /** Called when the thread has ended though nobody closed it. */
  onEnd?: ((error: StoreUnavailable) => void) | undefined;
  onNotice(notice: string): void;
}

/** Resolves to what `serveThread` opens in the thread of the file; its `close` ends the thread. Calls are bounded in time. */
export async function openInThread<Target extends { close(): Promise<void> }>(
  file: URL,
  workerData: unknown,
  options: ThreadOptions,
): Promise<Target> {
  const thread = new Worker(file, { workerData });
  const opened = Promise.withResolvers<unknown>();
  const waiting = new Map([[0, opened]]);
  let lastId = 0;
  let ended: StoreUnavailable | null = null;
  thread.on("message", (reply: Reply) => {
    if ("notice" in reply) return options.onNotice(reply.notice);
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.failure) call?.reject(toError(reply.failure));
    else call?.resolve(reply.result);
  });
  // Its end follows, and says all that is known.
  thread.on("error", () => {});
  thread.once("exit", () => {
    if (ended) return;
    ended = new StoreUnavailable("The thread of the message database ended unexpectedly; restart the server");
    for (const { reject } of waiting.values()) reject(ended);
    options.onEnd?.(ended);
  });

  function call(method: string, ...args: unknown[]): Promise<unknown> {
    if (ended) return Promise.reject(ended);
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return withinMs(options.limitMs(method), answer.promise, noAnswer);
  }
  async function close(): Promise<void> {
    const closed = ended ? Promise.resolve() : call("close");
    ended ??= new StoreUnavailable("The message database is closed");
    await closed.finally(() => thread.terminate());
  }
  // The object's values that are no methods.
  const values = await opened.promise.catch((error) => close().then(() => Promise.reject(error)));
  return new Proxy({ ...(values as object), close } as Target & object, {
    get(target, name) {
      // A `then` would make it a promise.
      return name in target || name === "then" ? Reflect.get(target, name) : call.bind(null, String(name));
    },
  });
}

function noAnswer(limitMs: number): StoreUnavailable {
  const problem = `The message database has not answered for ${limitMs / 1000} s`;
  return new StoreUnavailable(`${problem}; check the disk that holds DATA_DIR`);
}

function toError({ name, message }: { name: string; message: string }): Error {
  const kind = [StoreLost, StoreUnavailable, StoreRefused].find((known) => known.name === name);
  return kind ? new kind(message) : Object.assign(new Error(message), { name });
}

/** To be called in the thread: opens the object whose methods are called. Where that fails, only closing is answered. */
export async function serveThread(open: (notify: (notice: string) => void) => Promise<object>): Promise<void> {
  let target: Record<string, unknown> = { close: () => {} };
  const reply = (message: Reply) => parentPort?.postMessage(message);
  async function answer(id: number, work: () => unknown): Promise<void> {
    try {
      reply({ id, result: await work() });
    } catch (error) {
      const { name, message } = error as Error;
      reply({ id, failure: { name, message } });
    }
  }
  parentPort?.on("message", ({ id, method, args }: Call) =>
    answer(id, () => (target[method] as (...values: readonly unknown[]) => unknown)(...args)),
  );
  await answer(0, async () => {
    target = { ...(await open((notice) => reply({ notice }))) };
    return Object.fromEntries(Object.entries(target).filter(([, value]) => typeof value !== "function"));
  });
}
