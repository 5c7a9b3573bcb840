const FULL = {
  isFull: true,
  kills: 100,
  commands: 15,
  lockedMs: 30_000,
  rows: 10_000,
  tracedMessages: 40,
  fuzzedRequests: 24_000,
};
const QUICK: typeof FULL = {
  isFull: false,
  kills: 6,
  commands: 1,
  lockedMs: 2000,
  rows: 250,
  tracedMessages: 8,
  fuzzedRequests: 2000,
};

/** How much of each fault: everything for `npm run test:faults`, a little for `npm test`. The tests are the same. */
export const SCALE = process.env.FAULTS === "full" ? FULL : QUICK;
