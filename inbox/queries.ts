import { keepPreviousData, QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ChangeNotice } from "../contract/inbox.ts";
import { ApiFailure, api, type CallOptions } from "./api.ts";
import { type ListView, PAGE_SIZE, toMessageQuery } from "./list-view.ts";

/** The next call for changes follows the one before at once. */
const LIVE_MS = 100;
const RETRY_MS = 1000;
/** A server that stops leaves no other trace than that its sign of life stays away. */
const STATUS_MS = 15_000;
/** Few enough that a page with a wrong key does not count as somebody who guesses keys. */
const SLOW_RETRY_MS = 10_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    // What has changed is loaded again when `useLive` hears of it, which is also how a lost connection ends.
    // The inbox is on this machine: it answers without any network.
    queries: { networkMode: "always", retry: false, refetchOnWindowFocus: false },
    mutations: { networkMode: "always" },
  },
});

/** A call for what is already shown is the page's own, not the operator's. */
function query<T>(queryKey: readonly unknown[], call: (options: CallOptions) => Promise<T>) {
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }) => call({ signal, isBackground: client.getQueryData(queryKey) !== undefined }),
  });
}

/** The page before stays until the new one is there. */
export const listQuery = (view: ListView) => ({
  ...query(["list", view], (options) =>
    api.list(
      {
        ...toMessageQuery(view, new Date()),
        sort: view.sort,
        offset: (view.page - 1) * PAGE_SIZE,
        limit: PAGE_SIZE,
      },
      options,
    ),
  ),
  placeholderData: keepPreviousData,
});
/** Where the message is in the list that it was opened from. While another one loads, its neighbours are not known. */
export const placeQuery = (reference: string, view: ListView) =>
  query(["place", reference, { ...view, page: 1 }], (options) =>
    api.place(reference, { ...toMessageQuery(view, new Date()), sort: view.sort }, options),
  );
export const messageQuery = (reference: string) =>
  query(["message", reference], (options) => api.find(reference, options));
export const personQuery = (email: string) => query(["person", email], (options) => api.person(email, options));
export const peopleQuery = (search: string) => ({
  ...query(["people", search], (options) => api.findPeople(search, options)),
  placeholderData: keepPreviousData,
});
export const countriesQuery = query(["countries"], (options) => api.countries(options));
export const overviewQuery = query(["overview"], (options) => api.overview({}, options));
/** The same of one day, which is quick to count: what every screen tells. */
export const statusQuery = {
  ...query(["status"], (options) => api.overview({ days: 1 }, options)),
  refetchInterval: STATUS_MS,
};

/**
 * `lost`: nothing answers. `unavailable`: the command answers, but its database does not. `slowed`: somebody tries wrong
 * keys. All three are asked again. `refused`: the key is not, or no longer, the one of this run.
 */
export type Connection = "connecting" | "live" | "lost" | "unavailable" | "slowed" | "refused";

interface Live extends Pick<ChangeNotice, "counts"> {
  connection: Connection;
  token: string;
}

const LIVE_KEY = ["live"];

/** Waits for the next change; when that fails, what was known before stays. */
const liveQuery = queryOptions({
  queryKey: LIVE_KEY,
  queryFn: async ({ client, signal }): Promise<Partial<Live> & Pick<Live, "connection">> => {
    const before = client.getQueryData<Live>(LIVE_KEY);
    try {
      // Without a token the answer comes at once, so that the page knows when the connection is back.
      return {
        connection: "live",
        ...(await api.changes(before?.connection === "live" ? before.token : null, { signal })),
      };
    } catch (error) {
      if (signal.aborted) throw error;
      return { ...before, connection: connectionAfter(error) };
    }
  },
  refetchInterval: ({ state: { data } }) => {
    if (data?.connection === "refused") return false;
    return data?.connection === "slowed" ? SLOW_RETRY_MS : data?.connection === "live" ? LIVE_MS : RETRY_MS;
  },
  refetchIntervalInBackground: true,
});

/** The state of the connection, and the counts of all tabs once it was there. */
export function useLive() {
  const { connection = "connecting", counts = null, token = null } = useQuery(liveQuery).data ?? {};
  return { connection, counts, token };
}

/** Loads again whatever is shown, as soon as anything has changed. For the whole page, once. */
export function useLiveUpdates(): void {
  const { token } = useLive();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the token is another one
  useEffect(() => void reloadAll(), [token]);
}

/** Resolves once everything that is shown is up to date. */
export function reloadAll(): Promise<void> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== LIVE_KEY[0] });
}

function connectionAfter(error: unknown): Connection {
  switch (error instanceof ApiFailure ? error.kind : "unreachable") {
    case "unreachable":
      return "lost";
    case "unauthorised":
    case "forbidden":
      return "refused";
    case "slow-down":
      return "slowed";
    default:
      return "unavailable";
  }
}

/** The time, again every half minute: ages grow while nothing happens. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  const { token } = useLive();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has just arrived is not from the future
  useEffect(() => {
    setNow(new Date());
    const timer = setInterval(() => setNow(new Date()), 30_000);
    return () => clearInterval(timer);
  }, [token]);
  return now;
}
