import { QueryClient, skipToken, useQuery } from "@tanstack/react-query";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink, TRPCClientError } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { EventSource } from "eventsource";
import superjson from "superjson";
import { asSentence } from "../../contract/text.ts";
import type { Router } from "../operations.ts";

type Inputs = inferRouterInputs<Router>;
type Outputs = inferRouterOutputs<Router>;
export type Filter = Pick<Inputs["list"], "tab" | "search" | "hasDraft">;
export type Action = Inputs["act"]["action"];
export type TabCounts = Outputs["list"]["counts"];
export type Tab = keyof TabCounts;
export type MessageView = Outputs["list"]["messages"][number];
export type MessageDetail = Outputs["message"];
export type ActionResult = Outputs["act"]["results"][number];
export type Person = Outputs["person"];

const TOKEN_KEY = "inbox-token";
const TOKEN_IN_FRAGMENT = /^#([\w-]{43})/;

let token: string | null = null;

/**
 * Takes the token from the URL's fragment, which browsers send to no server, and removes it from the URL. Reloads and
 * new tabs use the stored one, which only pages of this host and port can read. If a new address is opened in this tab
 * or another one, this page goes on with its token.
 */
export function obtainToken(): boolean {
  const take = () => {
    const given = TOKEN_IN_FRAGMENT.exec(location.hash)?.[1];
    if (given) {
      localStorage.setItem(TOKEN_KEY, given);
      history.replaceState(null, "", location.pathname + location.search);
    }
    const isNew = token !== localStorage.getItem(TOKEN_KEY);
    token = localStorage.getItem(TOKEN_KEY);
    return isNew;
  };
  const goOn = () => {
    if (!take() || token === null) return;
    if (live.connection === "connecting" || live.connection === "refused") return location.reload();
    followChanges();
  };
  take();
  // The new address may differ only in its fragment, so the browser does not load it.
  addEventListener("hashchange", goOn);
  addEventListener("storage", goOn);
  return token !== null;
}

const headers = () => ({ authorization: `Bearer ${token}` });

/** The HTTP status of the last subscription request; `null` if there was no answer. */
let liveStatus: number | null = null;

const url = "/api/operations";
export const call = createTRPCClient<Router>({
  links: [
    splitLink({
      condition: ({ type }) => type === "subscription",
      // The browser's own EventSource cannot send headers.
      true: httpSubscriptionLink({
        url,
        transformer: superjson,
        EventSource,
        eventSourceOptions: () => ({
          async fetch(input, init) {
            liveStatus = null;
            const headers = { ...init.headers, authorization: `Bearer ${token}` };
            const answer = await fetch(input, { ...init, headers });
            liveStatus = answer.status;
            return answer;
          },
        }),
      }),
      // One request for each call: in a batch the list would wait for the slower overview.
      false: httpLink({
        url,
        transformer: superjson,
        headers,
        // With `keepalive`, a draft that is saved while the page closes still arrives. Browsers limit its size.
        fetch: (input, init) =>
          fetch(input, { ...(init as RequestInit), keepalive: String(init?.body ?? "").length < 10_000 }),
      }),
    }),
  ],
});

export const queryClient = new QueryClient({
  defaultOptions: {
    // The subscription reports every change, so a focused window need not reload. The inbox needs no network.
    queries: { networkMode: "always", retry: false, refetchOnWindowFocus: false },
    mutations: { networkMode: "always" },
  },
});
export const trpc = createTRPCOptionsProxy<Router>({ client: call, queryClient });

export const reloadAll = () => queryClient.invalidateQueries();

/**
 * `unavailable`: the command answers, but its database does not. `replaced`: that is no longer the database of the
 * messages. `refused`: the token is of another run; `restarted`: and was valid when this page was opened.
 */
export type Connection = "connecting" | "live" | "lost" | "unavailable" | "replaced" | "refused" | "restarted";

const RETRY_MS = 1000;

interface Live {
  connection: Connection;
  /** Why the database is unavailable. */
  reason?: string;
  counts: TabCounts | null;
  hasNewAnswer: boolean;
  token: string | null;
}

const LIVE_KEY = ["live"];
let live: Live = { connection: "connecting", counts: null, hasNewAnswer: false, token: null };

function setLive(changes: Partial<Live>): void {
  live = { ...live, ...changes };
  queryClient.setQueryData(LIVE_KEY, live);
}

export const useLive = () => useQuery<Live>({ queryKey: LIVE_KEY, queryFn: skipToken }).data ?? live;

/** Polled, because a server that stops causes no change: it just stops reporting. */
const STATUS_MS = 15_000;

export const useStatus = () => useQuery(trpc.status.queryOptions(undefined, { refetchInterval: STATUS_MS })).data;

let closeStream = () => {};

/** Only a visible tab has a stream, because browsers allow only six connections to one host. */
export function followChanges(): void {
  closeStream();
  closeStream = document.hidden ? () => {} : openStream();
}

function openStream(): () => void {
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    subscription.unsubscribe();
    if (liveStatus === 401 || liveStatus === 403)
      return setLive({ connection: live.counts === null ? "refused" : "restarted" });
    if (liveStatus !== 200) setLive({ connection: "lost" });
    const timer = setTimeout(() => (close = openStream()), RETRY_MS);
    close = () => clearTimeout(timer);
  };
  const subscription = call.changes.subscribe(undefined, {
    onData(state) {
      const { problem, ...news } = state;
      if (problem !== null) return setLive({ connection: problem, reason: state.reason });
      setLive({ connection: "live", ...news });
      void reloadAll();
    },
    onConnectionStateChange: ({ state, error }) => state === "connecting" && error && end(),
    onError: end,
    onComplete: end,
  });
  let close = () => {
    hasEnded = true;
    subscription.unsubscribe();
  };
  return () => close();
}

export async function download(path: string, query: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(`/api/${path}?${new URLSearchParams(query)}`, { headers: headers() });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1] ?? "export";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}

export function describeFailure(error: unknown): string {
  if (error instanceof TRPCClientError && !error.data)
    // An answer that is no result refuses the token.
    return error.meta?.response
      ? "The inbox was started again."
      : "The inbox does not answer. It may have been stopped.";
  return error instanceof Error && error.message
    ? asSentence(error.message)
    : "Something went wrong. Reload this page.";
}

const hasCode = (error: unknown, code: string) => error instanceof TRPCClientError && error.data?.code === code;
export const isNotFound = (error: unknown) => hasCode(error, "NOT_FOUND");
/** A rule refuses the call, so it cannot succeed later. */
export const isRefused = (error: unknown) => hasCode(error, "UNPROCESSABLE_CONTENT");
