import { createDefectLog, errorName, type Log } from "../log.ts";
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
/** Later attempts follow each other like this one, and have no end. */
const LAST_COUNTED_ATTEMPT = 7;

/**
 * Tells the receiver of HOOK_URL which messages were erased or corrected, with their references alone. Retries until the
 * receiver accepts them, because a law demands that it hears of them.
 */
export function startHookEvents(options: HookEventsOptions): { stop(): Promise<void> } {
  const { queue, hook, log, clock = systemClock, random = Math.random } = options;
  const stopping = new AbortController();
  const noteDefect = createDefectLog(log);
  async function work(): Promise<void> {
    try {
      for (const { id, type, reference, at, attempts } of await queue.claimHookEvents(EVENTS_AT_ONCE, clock.now())) {
        const event = { id: `${reference}.${type}.${id}`, type, timestamp: at, data: { reference } };
        const failure = failureOf(await postEvent(hook, event, clock.now(), stopping.signal));
        // The next start repeats it when its lease ends.
        if (failure && stopping.signal.aborted) return;
        const counted = Math.min(attempts, LAST_COUNTED_ATTEMPT);
        const dueAt = failure && nextAttemptAt(counted, clock.now(), random, failure.retryAfterMs);
        await queue.settleHookEvent(id, dueAt);
        const facts = { channel: "hook", reference, attempts };
        if (failure) {
          const deferred = { event: "deferred", ...facts, ...(dueAt && { dueAt }), error: failure.message };
          log.info(deferred, `Web hook, ${type}: not delivered yet; will be retried`);
        } else log.info({ event: "delivered", ...facts }, `Web hook, ${type}: delivered`);
      }
    } catch (error) {
      if (noteDefect(error)) return;
      const text = "Events for HOOK_URL wait, because the database does not answer";
      log.warn({ event: "store-unavailable", channel: "hook", error: errorName(error) }, text);
    }
  }
  const posting = repeat(work, POLL_INTERVAL_MS, clock, true);
  return {
    stop(): Promise<void> {
      stopping.abort();
      return posting.stop();
    },
  };
}
