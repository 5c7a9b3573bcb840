import { createContext, useContext, useEffect, useRef, useState } from "react";
import type { TabCounts } from "../contract/inbox.ts";
import { ApiFailure, api, type CallOptions, isAbort } from "./api.ts";

const RETRY_MS = 1000;
const KEPT_ANSWERS = 20;

/**
 * `lost`: nothing answers; asked again every second. `unavailable`: the command answers, but its database does not.
 * `refused`: the token is not, or no longer, the one of this run.
 */
export type Connection = "connecting" | "live" | "lost" | "unavailable" | "refused";

export interface Status {
  connection: Connection;
  /** Another text whenever something changed, or may have changed while the connection was lost. `null` at first. */
  changes: string | null;
  counts: TabCounts | null;
}

const NOTHING_YET: Status = { connection: "connecting", changes: null, counts: null };
export const StatusContext = createContext<Status>(NOTHING_YET);
export const useStatus = () => useContext(StatusContext);

/** Hears of every change within about a second, for as long as the page is open. */
export function usePolling(): Status {
  const [status, setStatus] = useState<Status>(NOTHING_YET);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    async function follow() {
      let since: string | null = null;
      let connections = 0;
      while (!signal.aborted) {
        try {
          const { token, counts } = await api.changes(since, { signal });
          if (since === null) connections += 1;
          if (token !== since) setStatus({ connection: "live", changes: `${connections}:${token}`, counts });
          since = token;
        } catch (error) {
          if (signal.aborted) return;
          const connection = connectionAfter(error);
          setStatus((before) => ({ ...before, connection }));
          if (connection === "refused") return;
          // Without it the answer comes at once, so that the page knows when the connection is back.
          since = null;
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
      }
    }
    follow();
    return () => stop.abort();
  }, []);
  return status;
}

function connectionAfter(error: unknown): Connection {
  const kind = error instanceof ApiFailure ? error.kind : "unreachable";
  if (kind === "unreachable") return "lost";
  // A right token is let in even while wrong ones are slowed down.
  return kind === "unauthorised" || kind === "forbidden" || kind === "slow-down" ? "refused" : "unavailable";
}

/** `isOutdated`: what is shown belongs to other filters; the right answer is on its way. */
export type Loaded<T> =
  | { state: "loading" }
  | { state: "failed"; error: unknown }
  | { state: "ready"; data: T; isOutdated: boolean };

type Answer<T> = { key: string; data: T } | { key: string; error: unknown };

/** Answers by key, so that going back shows at once what was there. */
const kept = new Map<string, unknown>();

/**
 * Loads what `key` names, and with `refetch` again after every change in the store. When only that fails, the answer
 * before stays, under the connection's banner. `reload` resolves once the new answer is shown.
 */
export function useQuery<T>(
  key: string,
  load: (options: CallOptions) => Promise<T>,
  how: "refetch" | "once" = "refetch",
): { loaded: Loaded<T>; reload: () => Promise<void> } {
  const { changes } = useStatus();
  const [answer, setAnswer] = useState<Answer<T> | null>(null);
  const loadedKey = useRef<string | null>(null);
  const latestLoad = useRef(load);
  latestLoad.current = load;

  const loadNow = async (options: CallOptions) => {
    const isWanted = () => !options.signal?.aborted && loadedKey.current === key;
    try {
      const data = await latestLoad.current(options);
      if (!isWanted()) return;
      keep(key, data);
      setAnswer({ key, data });
    } catch (error) {
      if (!isWanted() || isAbort(error)) return;
      const isGone = error instanceof ApiFailure && error.kind === "not-found";
      setAnswer((before) => (!isGone && before?.key === key && "data" in before ? before : { key, error }));
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: also when something changed
  useEffect(() => {
    const stop = new AbortController();
    const isBackground = loadedKey.current === key;
    loadedKey.current = key;
    loadNow({ signal: stop.signal, isBackground });
    return () => stop.abort();
  }, [key, how === "refetch" ? changes : null]);

  const reload = () => {
    setAnswer((before) => (before && "error" in before ? null : before));
    return loadNow({});
  };
  return { loaded: toLoaded(answer, key), reload };
}

function toLoaded<T>(answer: Answer<T> | null, key: string): Loaded<T> {
  if (answer?.key === key) {
    return "data" in answer
      ? { state: "ready", data: answer.data, isOutdated: false }
      : { state: "failed", error: answer.error };
  }
  // Kept by this very hook under this key, hence of this type.
  if (kept.has(key)) return { state: "ready", data: kept.get(key) as T, isOutdated: false };
  if (answer && "data" in answer) return { state: "ready", data: answer.data, isOutdated: true };
  return { state: "loading" };
}

function keep(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, data);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_ANSWERS && oldest !== undefined) kept.delete(oldest);
}

/** The time, again every half minute: ages grow while nothing happens. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  const { changes } = useStatus();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has just arrived is not from the future
  useEffect(() => {
    setNow(new Date());
    const timer = setInterval(() => setNow(new Date()), 30_000);
    return () => clearInterval(timer);
  }, [changes]);
  return now;
}
