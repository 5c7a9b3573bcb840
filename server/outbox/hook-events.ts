import { errorName, type Log } from "../log.ts";
import type { Queue } from "../store/queue.ts";
import { type Clock, repeat, systemClock } from "../time.ts";
import { failureOf, type HookSettings, postEvent } from "./hook.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

interface HookEventsOptions {
  queue: Pick<Queue, "claimHookEvents" | "settleHookEvent">;
  hook: HookSettings;
  log: Log;
  clock?: Clock;
  random?: () => number;
}

const POLL_INTERVAL_MS = 10_000;
/** Few, so that a round with a slow receiver ends within the lease of its events. */
const EVENTS_AT_ONCE = 3;

/**
 * Tells the receiver of HOOK_URL which messages were erased or corrected, with their references alone. Retries for five
 * days, like other deliveries.
 */
export function startHookEvents(options: HookEventsOptions): { stop(): Promise<void> } {
  const { queue, hook, log, clock = systemClock, random = Math.random } = options;

  async function work(): Promise<void> {
    try {
      for (const { id, type, reference, at, attempts } of await queue.claimHookEvents(EVENTS_AT_ONCE, clock.now())) {
        const event = { id: `${reference}.${type}.${id}`, type, timestamp: at, data: { reference } };
        const failure = failureOf(await postEvent(hook, event, clock.now()));
        const isRetried = failure?.kind === "temporary";
        const dueAt = isRetried ? nextAttemptAt(attempts, clock.now(), random, failure.retryAfterMs) : null;
        await queue.settleHookEvent(id, dueAt);
        const outcome = failure === null ? "delivered" : dueAt ? "deferred" : "failed";
        const facts = { event: outcome, channel: "hook", reference, attempts, ...(dueAt && { dueAt }) };
        const level = outcome === "failed" ? "error" : "info";
        log[level](failure ? { ...facts, error: failure.message } : facts, `Web hook, ${type}: ${outcome}`);
      }
    } catch (error) {
      const text = "Events for HOOK_URL wait, because the database does not answer";
      log.warn({ event: "store-unavailable", channel: "hook", error: errorName(error) }, text);
    }
  }

  return repeat(work, POLL_INTERVAL_MS, clock, true);
}
