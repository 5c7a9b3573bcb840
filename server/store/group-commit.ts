import { setImmediate } from "node:timers/promises";
import { StoreUnavailable } from "./store.ts";

// Small enough that a batch holds up the pages for some milliseconds only.
const MAX_BATCH = 256;
const MAX_WAITING = 10_000;
/** How long a submission waits for a store that cannot be written just now. */
const PATIENCE_MS = 3000;

/** Commits all entries in one transaction, or none; gives up after `patienceMs` when the store is busy. */
export type Commit<Entry, Result> = (entries: readonly Entry[], patienceMs: number) => Promise<readonly Result[]>;

interface Waiting<Entry, Result> {
  entry: Entry;
  sinceMs: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Entries that arrive together share one commit, and so one wait for the disk. Each entry's promise settles after the
 * commit that holds it.
 */
export class GroupCommit<Entry, Result> {
  readonly #commit: Commit<Entry, Result>;
  #waiting: Waiting<Entry, Result>[] = [];
  #draining: Promise<void> | null = null;

  constructor(commit: Commit<Entry, Result>) {
    this.#commit = commit;
  }

  submit(entry: Entry): Promise<Result> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new StoreUnavailable(`${MAX_WAITING} messages wait for the disk already; try again later`));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ entry, sinceMs: performance.now(), resolve, reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop: gathers what arrives together, and lets pages be served between two batches.
      await setImmediate();
      await this.#settle(this.#waiting.splice(0, MAX_BATCH));
    }
    this.#draining = null;
  }

  async #settle(batch: readonly Waiting<Entry, Result>[]): Promise<void> {
    const oldestMs = batch[0]?.sinceMs ?? 0;
    const patienceMs = Math.max(0, oldestMs + PATIENCE_MS - performance.now());
    try {
      const results = await this.#commit(
        batch.map(({ entry }) => entry),
        patienceMs,
      );
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
