import { setImmediate } from "node:timers/promises";
import { StoreUnavailable } from "./store.ts";

const MAX_BATCH = 256;
const MAX_WAITING = 10_000;

interface Waiting<Entry, Result> {
  entry: Entry;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Entries that arrive together share one commit, and so one wait for the disk. Each entry's promise settles after the
 * commit that holds it.
 */
export class GroupCommit<Entry, Result> {
  readonly #commit: (entries: readonly Entry[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Entry, Result>[] = [];
  #draining: Promise<void> | null = null;

  /** @param commit commits all entries in one transaction, or none */
  constructor(commit: (entries: readonly Entry[]) => Promise<readonly Result[]>) {
    this.#commit = commit;
  }

  submit(entry: Entry): Promise<Result> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(
        new StoreUnavailable(`${MAX_WAITING} messages are waiting for the database already; try again later`),
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ entry, resolve, reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Resolves when no entry is waiting any more. */
  async settled(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop, so that requests that arrived together are in one batch.
      await setImmediate();
      await this.#settle(this.#waiting.splice(0, MAX_BATCH));
    }
    this.#draining = null;
  }

  async #settle(batch: readonly Waiting<Entry, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ entry }) => entry));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error);
      } else {
        // One entry's fault: the others must not suffer from it.
        for (const one of batch) await this.#settle([one]);
      }
    }
  }
}
