import { errorName, type Log } from "../log.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { Clock } from "../time.ts";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export interface Marker {
  /** A result is not stored yet, so the store is in trouble and nothing new should be started. */
  readonly isBehind: boolean;
  /**
   * Stores the result of an attempt, again and again while the store is away: a mail that is sent must be marked before
   * anybody may send it again. True if it was stored; never rejects.
   */
  mark(reference: string, write: () => Promise<boolean>): Promise<boolean>;
  /** No more tries: the process ends. */
  abandon(): void;
}

export function createMarker({ clock, log, leaseMs }: { clock: Clock; log: Log; leaseMs: number }): Marker {
  let behind = 0;
  const abandoned = Promise.withResolvers<void>();
  let isAbandoned = false;

  /** Whether the lease was still ours; `null` when the store never answered. */
  async function markAgain(write: () => Promise<boolean>): Promise<boolean | null> {
    const startedAtMs = clock.now().getTime();
    for (let waitMs = FIRST_WAIT_MS; !isAbandoned; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      await wait(clock, waitMs, abandoned.promise);
      try {
        return await write();
      } catch (error) {
        // A store that is away comes back; any other error may be there for good, and must not stop the queue for ever.
        const isOutOfTime = clock.now().getTime() - startedAtMs > leaseMs;
        if (!(error instanceof StoreUnavailable) && isOutOfTime) break;
      }
    }
    return null;
  }

  return {
    get isBehind() {
      return behind > 0;
    },
    async mark(reference, write) {
      let isStored: boolean | null;
      try {
        isStored = await write();
      } catch (error) {
        log.warn(
          { event: "mark-failed", reference, error: errorName(error) },
          "The result of an attempt could not be stored; trying again until it is",
        );
        behind += 1;
        isStored = await markAgain(write);
        behind -= 1;
      }
      if (isStored === null) {
        log.error(
          { event: "mark-given-up", reference },
          "The result of an attempt could not be stored; the mail may be sent once more, with the same Message-ID",
        );
      } else if (!isStored) {
        log.warn(
          { event: "lease-lost", reference },
          "The message went to somebody else after its lease, or was erased; the result of the attempt was not stored",
        );
      }
      return isStored === true;
    },
    abandon() {
      isAbandoned = true;
      abandoned.resolve();
    },
  };
}

async function wait(clock: Clock, delayMs: number, until: Promise<void>): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const cancel = clock.setTimer(timer.resolve, delayMs);
  await Promise.race([timer.promise, until]);
  cancel();
}
