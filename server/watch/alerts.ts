import { hostname } from "node:os";
import { remedyText } from "../../contract/commands.ts";
import { durationInWords } from "../../contract/duration.ts";
import { capitalised } from "../../contract/text.ts";
import type { Retention } from "../config.ts";
import { createDefectLog, errorCode, errorName, type Log } from "../log.ts";
import type { Store } from "../store/open-store.ts";
import { announcementIntervalMs } from "../store/retention.ts";
import type { SentAlert } from "../store/status.ts";
import { type Clock, DAY_MS, HOUR_MS, isWithin, MINUTE_MS, repeat, systemClock } from "../time.ts";
import { inTime, type Situation, type Trouble, type TroubleKind, type Watch } from "./troubles.ts";

export interface AlertOptions {
  store: Pick<Store, "archive" | "queue" | "status">;
  watch: Watch;
  retention: Retention;
  /** How an operator calls the program, e.g. `npm run messages --`. */
  program: string;
  /** The first word of each alert. */
  brand: string;
  /** Where to post each alert; `null` to log it only. */
  alertUrl: string | null;
  log: Log;
  /** Writes at every LOG_LEVEL: an erasure that nobody could read of must not happen. */
  announcementLog?: Log;
  clock?: Clock;
}

export type Alerts = ReturnType<typeof startAlerts>;

const CHECK_INTERVAL_MS = MINUTE_MS / 2;
/** A short delay, so that a flood of messages does not become a flood of checks. */
const SOON_MS = 1000;
const POST_TIMEOUT_MS = 10_000;
/** These alerts are sent at most daily. Others are sent at most hourly, except `expiring`. */
const DAILY: readonly TroubleKind[] = ["clock", "backup-overdue", "unanswered"];
/** The outbox has logged these as errors already. */
const LOGGED: readonly TroubleKind[] = ["paused", "failed"];
const LEVEL = { critical: "error", warning: "warn", info: "info" } as const;

/**
 * Alerts the operator to new troubles with one log line and one post, and tells when they end. All nodes of one database
 * together send at most one alert per hour for each trouble that lasts, even across restarts; a trouble that returns
 * causes another. A failed post is retried at the next check. Without ALERT_URL an alert is only logged; it does not
 * count as delivered and does not delay later alerts. Message delivery never waits for alerts, and alerts are sent even
 * if the store cannot be read or written.
 */
export function startAlerts(options: AlertOptions) {
  const { store, watch, program, retention, brand, alertUrl, log } = options;
  const { announcementLog = log, clock = systemClock } = options;
  const isPosted = alertUrl !== null;
  const stopping = new AbortController();
  const noteDefect = createDefectLog(log);
  /** Resolves to `null` when the store fails or does not answer in time: no error may silence an alert. */
  const ifAvailable: IfAvailable = (answer) =>
    inTime(answer).catch((error) => {
      noteDefect(error);
      return null;
    });
  /** This node's alerts, used while the store does not answer, and for the words about their end. */
  const sent = new Map<string, SentAlert & { problem: string; isStored: boolean }>();
  let failedPost: { at: Date; keys: string } | null = null;
  /** The ends of alerts that were logged, but not posted yet. */
  const unpostedEnds = new Map<string, string>();

  async function check(): Promise<void> {
    // Taken before the query, so that events during the query count as later than this alert.
    const now = clock.now();
    const situation = await watch.find(now);
    if (situation.defect !== null) noteDefect(situation.defect);
    if (failedPost && isWithin(CHECK_INTERVAL_MS, failedPost.at.getTime(), now.getTime())) return;
    const stored = (isPosted && (await ifAvailable(store.status.alerts()))) || new Map<string, SentAlert>();
    await reportEnds(situation, stored);
    const claims = [];
    for (const trouble of situation.troubles) {
      const claim = await claimAlert(trouble, situation, stored);
      if (claim) claims.push(claim);
    }
    if (claims.length === 0) {
      failedPost = null;
      return;
    }
    const found = claims.map(({ trouble }) => trouble);
    const isSent = await sendAlert(found, now);
    for (const { trouble, key, last, alert, isStored, onSent } of claims) {
      if (isSent) {
        sent.set(key, { ...alert, problem: trouble.problem, isStored });
        // Without ALERT_URL, the log and the inbox announce erasures. Otherwise nothing would ever be erased.
        if (isPosted || trouble.kind === "expiring") await ifAvailable(onSent());
      }
      // Undone, so that any node may retry at its next check.
      else await ifAvailable(store.status.moveAlert(key, alert, last));
    }
  }

  /**
   * Returns `null` if there is nothing new, if an alert was sent recently, or if another node sends it. Without the
   * store nodes cannot coordinate, so each sends its own.
   */
  async function claimAlert(trouble: Trouble, { now, facts }: Situation, stored: ReadonlyMap<string, SentAlert>) {
    const key = keyOf(trouble);
    const last = stored.get(key) ?? null;
    const isRecent = (alert: SentAlert | null | undefined) =>
      alert && isWithin(intervalMs(trouble, retention), alert.at.getTime(), now.getTime());
    if (isRecent(last) || isRecent(sent.get(key))) return null;
    const onSent = await newsOf(trouble, facts, store, ifAvailable);
    if (onSent === null) return null;
    const alert = { at: now, since: last?.since ?? trouble.since ?? now };
    const isStored = isPosted ? await ifAvailable(store.status.moveAlert(key, last, alert)) : null;
    return isStored === false ? null : { trouble, key, last, alert, isStored: isStored ?? false, onSent };
  }

  /** Says which troubles have ended, once for all nodes. Without facts it is unknown whether a trouble has ended. */
  async function reportEnds({ now, facts, troubles }: Situation, stored: ReadonlyMap<string, SentAlert>) {
    if (facts === null) return;
    const lasting = troubles.map(keyOf);
    for (const key of lasting) unpostedEnds.delete(key);
    const known = new Map<string, SentAlert & { problem?: string; isStored?: boolean }>([...stored, ...sent]);
    const ended = [...known].filter(([key]) => !lasting.includes(key) && isOwn(key) && !UNENDED.has(key));
    for (const [key, { since, problem, isStored = true }] of ended) {
      const [name = key] = key.split(".");
      const last = stored.get(key);
      sent.delete(key);
      if (last && (await ifAvailable(store.status.moveAlert(key, last, null))) !== true) continue;
      const duration = durationInWords(Math.max(0, now.getTime() - since.getTime()));
      const text = unpostedEnds.get(key) ?? `${brand}: Resolved after ${duration}: ${problem ?? name}`;
      if (!unpostedEnds.delete(key)) log.info({ event: "alert-over", troubles: [name] }, text);
      // Another node has told about the end of an alert that is no longer stored.
      if (!last && isStored) continue;
      const isSent = await post(text, { troubles: [], resolved: [name] }, options, stopping.signal);
      // Put back, so that the next check tries again.
      if (isSent || !last) continue;
      unpostedEnds.set(key, text);
      await ifAvailable(store.status.moveAlert(key, null, last));
    }
  }

  /** Returns false when the post failed; the alert is not logged again when it is retried. */
  async function sendAlert(found: readonly Trouble[], now: Date): Promise<boolean> {
    const troubles = found.map(nameOf);
    const parts = found.flatMap((trouble) => [trouble.problem, capitalised(remedyText(trouble, program))]);
    const text = `${brand}: ${parts.filter(Boolean).join(". ")}`;
    const keys = found.map(keyOf).join();
    if (keys !== failedPost?.keys) {
      const worst = found.find(({ kind }) => !LOGGED.includes(kind));
      const usedLog = found.some(({ kind }) => kind === "expiring") ? announcementLog : log;
      usedLog[worst ? LEVEL[worst.severity] : "info"]({ event: "alert", troubles }, text);
    }
    failedPost = null;
    const isSent = await post(text, { troubles }, options, stopping.signal);
    if (!isSent) failedPost = { at: now, keys };
    return isSent;
  }

  const onFailure = (error: unknown) => {
    if (noteDefect(error)) return;
    log.warn({ event: "alert-check-failed", error: errorName(error) }, "Could not check for troubles");
  };
  const checking = repeat(() => check().catch(onFailure), CHECK_INTERVAL_MS, clock);
  return {
    /** Looks for troubles within a second. Call it when a queue pauses or a message is held back. */
    checkNow: () => checking.soon(SOON_MS),
    stop(): Promise<void> {
      stopping.abort();
      return checking.stop();
    },
  };
}

/** Returns false if the alert did not arrive at ALERT_URL; true also without one. */
async function post(
  text: string,
  body: Readonly<Record<string, unknown>> & { troubles: readonly string[] },
  { alertUrl, watch, log }: Pick<AlertOptions, "alertUrl" | "watch" | "log">,
  stopping: AbortSignal,
): Promise<boolean> {
  if (alertUrl === null) return true;
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(POST_TIMEOUT_MS)]);
    const response = await postAlert(alertUrl, { text, ...body }, signal);
    await response.body?.cancel();
    watch.compareClock(response.headers);
    if (!response.ok) throw new Error(`status ${response.status}`);
    log.info({ event: "alert-sent" }, "The alert was posted to ALERT_URL");
    return true;
  } catch (error) {
    log.warn(
      { event: "alert-not-sent", error: (error as Error).message },
      `The alert could not be posted to ALERT_URL; next attempt in ${CHECK_INTERVAL_MS / 1000} s`,
    );
    return false;
  }
}

/** The shortest time between two alerts for the trouble. */
function intervalMs({ kind }: Trouble, retention: Retention): number {
  // Slightly earlier than necessary, because a late announcement delays the erasure.
  if (kind === "expiring") return announcementIntervalMs(retention) - 2 * CHECK_INTERVAL_MS;
  return DAILY.includes(kind) ? DAY_MS : HOUR_MS;
}

type IfAvailable = <T>(answer: Promise<T>) => Promise<T | null>;

/** Returns a function that marks the trouble as reported; `null` if it was reported before. */
async function newsOf(
  { kind, channel }: Trouble,
  facts: Situation["facts"],
  store: AlertOptions["store"],
  ifAvailable: IfAvailable,
) {
  if (kind === "expiring") {
    const expiring = facts?.expiring;
    return expiring?.unannounced ? () => store.archive.markAnnounced(expiring) : null;
  }
  if (kind !== "failed" && kind !== "quarantined") return async () => {};
  // Read before the alert is sent, so that no later failure is marked as reported.
  const ids = (await ifAvailable(store.queue.unreported(channel ?? "mail", kind))) ?? [];
  return ids.length > 0 ? () => store.queue.markReported(channel ?? "mail", kind, ids) : null;
}

/** The trouble's name in alerts and in the log. */
function nameOf({ kind, channel }: Trouble): string {
  return channel === null || channel === "mail" ? kind : `${channel}-${kind}`;
}

const LOCAL: readonly TroubleKind[] = ["disk-low", "clock"];
/** These are about messages, which operators open, answer and export. Their end is no news. */
const UNENDED: ReadonlySet<string> = new Set<TroubleKind>(["quarantined", "unanswered", "expiring"]);

/** Nodes share the key, unless the trouble concerns one machine. */
function keyOf(trouble: Trouble): string {
  return LOCAL.includes(trouble.kind) ? `${trouble.kind}.${hostname()}` : nameOf(trouble);
}

/** Whether this node knows if the trouble has ended. */
function isOwn(key: string): boolean {
  return !LOCAL.some((kind) => key.startsWith(`${kind}.`)) || key.endsWith(`.${hostname()}`);
}

/**
 * Chat services show `text`; programs may read the rest. The alert contains no visitor data. Resolves to the service's
 * answer. Errors contain a word such as ECONNREFUSED or TimeoutError, but not the URL, which may be a secret.
 */
export async function postAlert(
  alertUrl: string,
  body: { text: string; troubles: readonly string[] },
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(alertUrl);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    // fetch refuses URLs that contain credentials.
    const credentials = [url.username, url.password].map(decodeURIComponent).join(":");
    headers.authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  // A redirected post would arrive as a GET, without its body.
  const options = { method: "POST", headers, body: JSON.stringify(body), redirect: "manual", signal } as const;
  return fetch(url, options).catch(({ name, cause }: Error) => {
    throw new Error(errorCode(cause) ?? name);
  });
}
