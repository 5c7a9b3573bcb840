import { errorName, type Log } from "../log.ts";
import { removeStrayEmls } from "../mail/eml.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import type { Clock } from "../time.ts";

const FIRST_SAVE_RETRY_MS = 1000;
const LONGEST_SAVE_RETRY_MS = 30_000;

export interface ResultSaver {
  /**
   * Saves the result of an attempt, with retries while the store is unavailable: a sent e-mail must be marked before
   * anybody may send it again. Returns false when the lease was lost or the store never answered; never rejects.
   */
  save(reference: string, write: () => Promise<boolean>): Promise<boolean>;
  /** The store does not take results at the moment, so nothing new should be started. */
  readonly hasUnsavedResults: boolean;
  /** The process is about to exit: stops retrying. */
  stop(): void;
}

export function createResultSaver({ log, clock, leaseMs }: { log: Log; clock: Clock; leaseMs: number }): ResultSaver {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let unsavedResults = 0;

  async function save(reference: string, write: () => Promise<boolean>): Promise<boolean> {
    let hasLease: boolean | null;
    try {
      hasLease = await write();
    } catch (error) {
      log.warn(
        { event: "mark-failed", reference, error: errorName(error) },
        "The result of an attempt could not be saved; retrying",
      );
      unsavedResults += 1;
      hasLease = await retrySaving(write);
      unsavedResults -= 1;
    }
    if (hasLease === null) {
      log.error(
        { event: "mark-given-up", reference },
        "The result of an attempt could not be saved; the e-mail may be sent again, with the same Message-ID",
      );
    } else if (!hasLease) {
      log.warn(
        { event: "lease-lost", reference },
        "The result of an attempt was not saved: the message was erased, or its lease ended and another worker has it",
      );
    }
    return hasLease === true;
  }

  /** Returns what `write` returned in the end; `null` when it never did. */
  async function retrySaving(write: () => Promise<boolean>): Promise<boolean | null> {
    const startedAtMs = clock.now().getTime();
    for (let waitMs = FIRST_SAVE_RETRY_MS; !isStopped; waitMs = Math.min(waitMs * 2, LONGEST_SAVE_RETRY_MS)) {
      const wait = Promise.withResolvers<void>();
      const cancelTimer = clock.setTimer(wait.resolve, waitMs);
      await Promise.race([wait.promise, stopped.promise]);
      cancelTimer();
      try {
        return await write();
      } catch (error) {
        // An unavailable store comes back; any other error may be permanent and must not stop the queue for ever.
        const isLeaseOver = clock.now().getTime() - startedAtMs > leaseMs;
        if (!(error instanceof StoreUnavailable) && isLeaseOver) break;
      }
    }
    return null;
  }

  return {
    save,
    get hasUnsavedResults() {
      return unsavedResults > 0;
    },
    stop() {
      isStopped = true;
      stopped.resolve();
    },
  };
}

/** For a message that may have been erased while its file was written. Never rejects. */
export async function removeStrayFiles(
  reference: string,
  { dataDir, store, log }: { dataDir: string; store: Pick<Store, "existingReferences">; log: Log },
): Promise<void> {
  try {
    await removeStrayEmls(dataDir, store);
  } catch (error) {
    log.error(
      { event: "not-forgotten", reference, error: errorName(error) },
      "The .eml file of an erased message may be left in DATA_DIR/outbox; retrying within an hour",
    );
  }
}
