import { hostname } from "node:os";
import type { Retention } from "../../contract/build-settings.ts";
import { remedyText } from "../../contract/commands.ts";
import { durationInWords } from "../../contract/duration.ts";
import { capitalised } from "../../contract/text.ts";
import { errorCode } from "../errors.ts";
import { createDefectLog, type Log } from "../log.ts";
import { inTime } from "../store/errors.ts";
import { announcementIntervalMs } from "../store/retention.ts";
import type { SentAlert } from "../store/status.ts";
import type { Store } from "../store/store.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, repeat, systemClock } from "../time.ts";
import { ruleOf, SILENT, STORE_AWAY_MS, type Trouble, type Watch } from "./troubles.ts";

export interface AlertOptions {
  openedStore(): Promise<Pick<Store, "retention" | "status">>;
  watch: Watch;
  retention: Retention;
  program: string;
  brand: string;
  alertUrl: string | null;
  /** Writes at every LOG_LEVEL: an erasure that nobody could read of must not happen. */
  log: Log;
  clock?: Clock;
}

export type Alerts = ReturnType<typeof startAlerts>;

const CHECK_INTERVAL_MS = MINUTE_MS / 2;
/** A short delay, so that a flood of messages does not become a flood of checks. */
const SOON_MS = 1000;
const POST_TIMEOUT_MS = 10_000;
const LEVEL = { critical: "error", warning: "warn", info: "info" } as const;

/**
 * All nodes of one database together send an alert, because one of them writes its row. While the store is away, nobody
 * can write one: then each node tells only that, and once.
 */
export function startAlerts(options: AlertOptions) {
  const { openedStore, watch, program, retention, brand, log, clock = systemClock } = options;
  const stopping = new AbortController();
  const noteDefect = createDefectLog(log);
  /** `null` when the store fails or does not answer in time: no error may silence an alert. */
  const ifAvailable = <T>(answer: Promise<T>) =>
    inTime(answer).catch((error) => {
      noteDefect(error);
      return null;
    });
  /** What this node has told of a store that is away. */
  let away: { problem: string; sinceMs: number; isPosted: boolean } | null = null;

  /** False if another node has replaced the row, or if it cannot be saved. */
  async function move(key: string, from: SentAlert | null, to: SentAlert | null): Promise<boolean> {
    return (await ifAvailable(openedStore().then(({ status }) => status.moveAlert(key, from, to)))) ?? false;
  }

  async function check(): Promise<void> {
    const { facts, troubles, error, awayMs } = await watch.find(options.clock ? clock.now() : null);
    if (error !== null) noteDefect(error);
    if (awayMs !== null) return tellAway(troubles, awayMs);
    await tellBack();
    const alerts = await ifAvailable(openedStore().then(({ status }) => status.alerts()));
    // Without all facts it is unknown what has ended.
    if (!facts || !alerts) return;
    const { now, expiring } = facts;
    await tellEnds(alerts, new Set(troubles.map(keyOf)), now);

    const claims = [];
    for (const trouble of troubles) {
      const key = keyOf(trouble);
      const last = alerts.get(key) ?? null;
      const isUnposted = last?.isPosted === false && options.alertUrl !== null;
      if (last && !isDue(trouble, last, now, retention, isUnposted)) continue;
      if (trouble.kind === "expiring" && !expiring.unannounced && !isUnposted) continue;
      const { count, lastAt, problem, since } = trouble;
      const sinceMs = last?.sinceMs ?? (since ?? now).getTime();
      const isPosted = options.alertUrl !== null;
      const alert = { atMs: now.getTime(), sinceMs, problem, count, lastMs: lastAt?.getTime() ?? 0, isPosted };
      if (await move(key, last, alert)) claims.push({ trouble, key, last, alert, isUnposted });
    }
    if (claims.length === 0) return;
    logAlert(claims.filter(({ isUnposted }) => !isUnposted).map(({ trouble }) => trouble));
    const found = claims.map(({ trouble }) => trouble);
    const isPosted = await postAll(found);
    if (!isPosted) for (const { key, alert } of claims) await move(key, alert, { ...alert, isPosted });
    // Without ALERT_URL, the log announces erasures: what is not announced is never erased.
    else if (found.some(({ kind }) => kind === "expiring")) {
      await ifAvailable(openedStore().then(({ retention }) => retention.markAnnounced(expiring)));
    }
  }

  async function tellAway(troubles: readonly Trouble[], awayMs: number): Promise<void> {
    const trouble = troubles.find(({ kind }) => kind === "store-away");
    if (!trouble) return checking.soon(STORE_AWAY_MS - awayMs);
    if (!away) logAlert([trouble]);
    away ??= { problem: trouble.problem, sinceMs: clock.elapsedMs() - awayMs, isPosted: false };
    away.isPosted ||= await postAll([trouble]);
  }

  async function tellBack(): Promise<void> {
    if (away && (await tellEnd("store-away", away.problem, clock.elapsedMs() - away.sinceMs))) away = null;
  }

  async function tellEnds(
    alerts: ReadonlyMap<string, SentAlert>,
    lasting: ReadonlySet<string>,
    now: Date,
  ): Promise<void> {
    for (const [key, alert] of alerts) {
      if (lasting.has(key) || !isEndTold(key) || !(await move(key, alert, null))) continue;
      const [name = key] = key.split("@");
      if (!(await tellEnd(name, alert.problem, now.getTime() - alert.sinceMs))) await move(key, null, alert);
    }
  }

  async function tellEnd(name: string, problem: string, lastedMs: number): Promise<boolean> {
    const text = `${brand}: Resolved after ${durationInWords(Math.max(0, lastedMs))}: ${problem}`;
    const isPosted = await post(text, { troubles: [], resolved: [name] }, options, stopping.signal);
    if (isPosted) log.info({ event: "alert-over", troubles: [name] }, text);
    return isPosted;
  }

  /** The most urgent comes first. */
  function logAlert(troubles: readonly Trouble[]): void {
    const [worst] = troubles;
    if (worst) log[LEVEL[worst.severity]]({ event: "alert", troubles: troubles.map(nameOf) }, textOf(troubles));
  }

  function postAll(troubles: readonly Trouble[]): Promise<boolean> {
    return post(textOf(troubles), { troubles: troubles.map(nameOf) }, options, stopping.signal);
  }

  function textOf(troubles: readonly Trouble[]): string {
    const parts = troubles.flatMap((trouble) => [trouble.problem, capitalised(remedyText(trouble, program))]);
    return `${brand}: ${parts.filter(Boolean).join(". ")}`;
  }

  // What can fail is caught where it fails.
  const checking = repeat(() => check().catch((error) => void noteDefect(error)), CHECK_INTERVAL_MS, clock);
  return {
    checkNow: () => checking.soon(SOON_MS),
    stop(): Promise<void> {
      stopping.abort();
      return checking.stop();
    },
  };
}

async function post(
  text: string,
  body: Readonly<Record<string, unknown>> & { troubles: readonly string[] },
  { alertUrl, log }: Pick<AlertOptions, "alertUrl" | "log">,
  stopping: AbortSignal,
): Promise<boolean> {
  if (alertUrl === null) return true;
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(POST_TIMEOUT_MS)]);
    const response = await postAlert(alertUrl, { text, ...body }, signal);
    await response.body?.cancel();
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

/** `isUnposted`: it was only logged, because a post failed or ALERT_URL was not set. */
function isDue(
  { kind, count, lastAt }: Trouble,
  last: SentAlert,
  now: Date,
  retention: Retention,
  isUnposted: boolean,
): boolean {
  const isLessThan = (ms: number) => Math.abs(now.getTime() - last.atMs) < ms;
  if (isUnposted) return !isLessThan(CHECK_INTERVAL_MS);
  // Slightly earlier than necessary, because a late announcement delays the erasure.
  if (kind === "expiring") return !isLessThan(announcementIntervalMs(retention) - 2 * CHECK_INTERVAL_MS);
  const { repeats } = ruleOf(kind);
  if (repeats === "never" || isLessThan(repeats === "daily" ? DAY_MS : HOUR_MS)) return false;
  return repeats !== "new" || count > last.count || (lastAt?.getTime() ?? 0) > last.lastMs;
}

function nameOf({ kind, channel }: Trouble): string {
  return channel === null || channel === "mail" ? kind : `${channel}-${kind}`;
}

/** Nodes share the key, unless the trouble concerns one machine. */
function keyOf(trouble: Trouble): string {
  return ruleOf(trouble.kind).isOfMachine ? `${nameOf(trouble)}@${hostname()}` : nameOf(trouble);
}

/** Whether this node knows that the trouble has ended, and somebody is told. */
function isEndTold(key: string): boolean {
  const [name = "", machine = hostname()] = key.split("@");
  return machine === hostname() && !SILENT.includes(name);
}

/** Chat services show `text`; programs may read the rest. Errors do not contain the URL, which may be a secret. */
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
