/** Time as an argument, so that a test can live through five days in a second. */
export interface Clock {
  now(): Date;
  /** Calls once, no earlier than after `delayMs`, unless the returned function is called before. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
