import { setTimeout } from "node:timers/promises";
import { isBusy, toStoreError } from "./errors.ts";

const PAUSE_MS = 5;

/**
 * Runs a synchronous piece of database work, and again while another process holds the lock, without ever blocking the
 * event loop to wait. Rejects with StoreUnavailable when the lock is not had in time.
 */
export async function whenFree<T>(work: () => T, patienceMs: number): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadlineMs) throw toStoreError(error);
    }
    await setTimeout(PAUSE_MS);
  }
}
