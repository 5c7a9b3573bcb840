import { parentPort, Worker } from "node:worker_threads";
import { errorName, type OperatorError } from "../errors.ts";
import { StoreLost, StoreRefused, StoreUnavailable } from "./errors.ts";

// An object whose parts run in another thread: calling `queue.claim` here calls it there. A call waits for its answer
// without a limit, because some copy or change any number of rows. Who must answer somebody limits the wait.

const MAX_CALLS = 10_000;

type Call = { id: number; method: string; args: readonly unknown[] };
/** What the thread has: the names of each part's methods, and plain values. */
type Served = Readonly<Record<string, readonly string[] | string>>;
/** Reply 0 is the result of opening, a Served. Errors lose their class between threads, so the name is sent. */
type Reply = { id: number; result?: unknown; failure?: PlainError };

/**
 * Resolves to the object that `serveThread` opens in the thread of the file. `close` ends the thread. `onEnd` is called
 * once if the thread ends without it, or a call rejects with StoreLost. Then every call rejects.
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
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (!reply.failure) return call?.resolve(reply.result);
    const error = restoreError(reply.failure);
    call?.reject(error);
    if (error instanceof StoreLost) end(error);
  });
  const endOf = (reason: string) =>
    new StoreLost({
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

  function call(method: string, ...args: unknown[]): Promise<unknown> {
    const isFull = waiting.size >= MAX_CALLS;
    if (ended || isFull)
      return Promise.reject(ended ?? new StoreUnavailable({ problem: "Too many calls wait for the database" }));
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    thread.postMessage({ id: lastId, method, args } satisfies Call);
    return answer.promise;
  }
  async function close(): Promise<void> {
    const closed = ended ? Promise.resolve() : call("close");
    ended ??= new StoreUnavailable({ problem: "The message database is closed" });
    await closed.finally(() => thread.terminate());
  }
  const served = await opened.promise.catch((error) => close().then(() => Promise.reject(error)));
  const parts = Object.entries(served as Served).map(([part, methods]) => {
    if (typeof methods === "string") return [part, methods];
    return [part, Object.fromEntries(methods.map((name) => [name, call.bind(null, `${part}.${name}`)]))];
  });
  return { ...Object.fromEntries(parts), close } as Target;
}

/** If opening fails, it serves only `close`. */
export async function serveThread(open: () => Promise<object>): Promise<void> {
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
    target = { ...(await open()) };
    const { close: _, ...parts } = target;
    const served = Object.entries(parts).map(([part, methods]) => [
      part,
      typeof methods === "string" ? methods : Object.keys(methods as Methods),
    ]);
    return Object.fromEntries(served);
  });
}

function restoreError({ name, message, stack, code, advice }: PlainError): Error {
  const kind = [StoreUnavailable, StoreLost, StoreRefused].find((known) => known.name === name);
  // With the stack of its thread, which shows where the defect is.
  return kind && advice ? new kind(advice) : Object.assign(new Error(message), { name, stack }, code ? { code } : {});
}

function toPlainError({ name, message, stack, code, advice }: PlainError): PlainError {
  return { name, message, stack, code, ...(advice && { advice }) };
}

type PlainError = Pick<Error, "name" | "message"> &
  Partial<Pick<OperatorError, "advice">> & { stack?: string | undefined; code?: string | undefined };
