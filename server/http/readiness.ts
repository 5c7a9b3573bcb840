import { setTimeout as wait } from "node:timers/promises";

/** Whoever asked so lately is a load balancer and will ask again soon. */
const ASKED_LATELY_MS = 15_000;
const LONGEST_NOTICE_MS = 3000;
/** For what a load balancer had sent on its way before it heard. */
const GRACE_MS = 250;

/** Whether this node wants visitors, as it tells those who ask. */
export interface Readiness {
  readonly isEnding: boolean;
  /** Notes that somebody asks, and is told now. */
  noteAsked(): void;
  /** From now on the answer is no. Resolves once those who ask regularly have heard it; at once when nobody does. */
  end(): Promise<void>;
}

export function createReadiness(): Readiness {
  let isEnding = false;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const told = Promise.withResolvers<void>();
  return {
    get isEnding() {
      return isEnding;
    },
    noteAsked() {
      askedAtMs = performance.now();
      if (isEnding) told.resolve();
    },
    async end() {
      isEnding = true;
      if (performance.now() - askedAtMs > ASKED_LATELY_MS) return;
      await Promise.race([told.promise.then(() => wait(GRACE_MS)), wait(LONGEST_NOTICE_MS)]);
    },
  };
}
