import { hostname } from "node:os";
import type { Retention } from "../../contract/build-settings.ts";
import { remedyText } from "../../contract/commands.ts";
import { durationInWords } from "../../contract/duration.ts";
import { capitalised } from "../../contract/text.ts";
import { createDefectLog, errorCode, type Log } from "../log.ts";
import { inTime } from "../store/model.ts";
import { announcementIntervalMs } from "../store/retention.ts";
import type { SentAlert } from "../store/status.ts";
import type { Store } from "../store/store.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, repeat, systemClock } from "../time.ts";
import { ruleOf, SILENT, type Trouble, type Watch } from "./troubles.ts";

export interface AlertOptions {
  store: Pick<Store, "retention" | "status">;
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
 * All nodes of one database together send an alert, because one of them writes its row; each sends its own while the
 * store cannot save it.
 */
export function startAlerts(options: AlertOptions) {
  const { store, watch, program, retention, brand, log, clock = systemClock } = options;
  const stopping = new AbortController();
  const noteDefect = createDefectLog(log);
  /** `null` when the store fails or does not answer in time: no error may silence an alert. */
  const ifAvailable = <T>(answer: Promise<T>) =>
    inTime(answer).catch((error) => {
      noteDefect(error);
      return null;
    });
  const unsaved = new Map<string, SentAlert>();

  /** False if another node has replaced the row. */
  async function move(key: string, from: SentAlert | null, to: SentAlert | null): Promise<boolean> {
    const isMoved = await ifAvailable(store.status.moveAlert(key, from, to));
    if (isMoved === null && to) unsaved.set(key, to);
    else unsaved.delete(key);
    return isMoved !== false;
  }

  async function check(): Promise<void> {
    // Taken before the query, so that events during the query count as later than this alert.
    const now = clock.now();
    const { facts, troubles, error } = await watch.find(options.clock ? now : null);
    if (error !== null) noteDefect(error);
    else for (const [key, alert] of unsaved) await move(key, null, alert);
    const alerts = new Map([...((await ifAvailable(store.status.alerts())) ?? []), ...unsaved]);
    // Without the store it is unknown what has ended.
    if (error === null) await tellEnds(alerts, new Set(troubles.map(keyOf)), now);

    const claims = [];
    for (const trouble of troubles) {
      const key = keyOf(trouble);
      const last = alerts.get(key) ?? null;
      if (last && !isDue(trouble, last, now, retention)) continue;
      if (trouble.kind === "expiring" && !facts?.expiring.unannounced) continue;
      const { count, lastAt, problem, since } = trouble;
      const sinceMs = last?.sinceMs ?? (since ?? now).getTime();
      const alert = { atMs: now.getTime(), sinceMs, problem, count, lastMs: lastAt?.getTime() ?? 0, isPosted: true };
      if (await move(key, last, alert)) claims.push({ trouble, key, last, alert });
    }
    if (claims.length === 0) return;
    const unlogged = claims.filter(({ last }) => last?.isPosted !== false).map(({ trouble }) => trouble);
    // The most urgent comes first.
    const [worst] = unlogged;
    if (worst) log[LEVEL[worst.severity]]({ event: "alert", troubles: unlogged.map(nameOf) }, textOf(unlogged));
    const found = claims.map(({ trouble }) => trouble);
    const isPosted = await post(textOf(found), { troubles: found.map(nameOf) }, options, stopping.signal);
    if (!isPosted) for (const { key, alert } of claims) await move(key, alert, { ...alert, isPosted });
    // Without ALERT_URL, the log announces erasures: what is not announced is never erased.
    else if (facts && found.some(({ kind }) => kind === "expiring")) {
      await ifAvailable(store.retention.markAnnounced(facts.expiring));
    }
  }

  async function tellEnds(alerts: Map<string, SentAlert>, lasting: ReadonlySet<string>, now: Date): Promise<void> {
    for (const [key, alert] of alerts) {
      if (lasting.has(key) || !isEndTold(key) || !(await move(key, alert, null))) continue;
      alerts.delete(key);
      const [name = key] = key.split("@");
      const duration = durationInWords(Math.max(0, now.getTime() - alert.sinceMs));
      const text = `${brand}: Resolved after ${duration}: ${alert.problem}`;
      if (await post(text, { troubles: [], resolved: [name] }, options, stopping.signal)) {
        log.info({ event: "alert-over", troubles: [name] }, text);
      } else await move(key, null, alert);
    }
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

function isDue({ kind, count, lastAt }: Trouble, last: SentAlert, now: Date, retention: Retention): boolean {
  const isLessThan = (ms: number) => Math.abs(now.getTime() - last.atMs) < ms;
  if (!last.isPosted) return !isLessThan(CHECK_INTERVAL_MS);
  // Slightly earlier than necessary, because a late announcement delays the erasure.
  if (kind === "expiring") return !isLessThan(announcementIntervalMs(retention) - 2 * CHECK_INTERVAL_MS);
  const { repeats } = ruleOf(kind);
  if (isLessThan(repeats === "daily" ? DAY_MS : HOUR_MS)) return false;
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
