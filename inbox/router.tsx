import { type AnchorHTMLAttributes, type MouseEvent, type ReactNode, useSyncExternalStore } from "react";
import { type MessageQuery, TABS, type Tab } from "../contract/inbox.ts";

/** What the list shows. Everything of it is in the page's address, so that it can be kept, shared and gone back to. */
export interface ListView {
  tab: Tab;
  search: string;
  /** A two-letter code, NO_COUNTRY, or empty for all. */
  country: string;
  /** `dates` uses `since` and `until`, which are dates of the operator's own time zone, both included. */
  period: Period;
  since: string;
  until: string;
  /** From the page before; empty for the newest messages. */
  cursor: string;
}

export const PERIODS = ["any", "24h", "7d", "30d", "dates"] as const;
export type Period = (typeof PERIODS)[number];

export type Route =
  | { screen: "list"; view: ListView }
  | { screen: "message"; reference: string }
  | { screen: "person"; email: string }
  | { screen: "overview" }
  | { screen: "unknown" };

export const NEWEST: ListView = {
  tab: "all",
  search: "",
  country: "",
  period: "any",
  since: "",
  until: "",
  cursor: "",
};

export function parseRoute(path: string, search: string): Route {
  const parameters = new URLSearchParams(search);
  const text = (name: string) => parameters.get(name)?.trim() ?? "";
  const [, first, second, ...more] = path.split("/");
  if (first === "" && second === undefined) {
    const view: ListView = {
      tab: TABS.find((tab) => tab === text("tab")) ?? "all",
      search: text("search"),
      country: text("country"),
      period: PERIODS.find((period) => period === text("period")) ?? "any",
      since: dateOnly(text("since")),
      until: dateOnly(text("until")),
      cursor: text("cursor"),
    };
    return { screen: "list", view: view.since || view.until ? { ...view, period: "dates" } : view };
  }
  if (first === "messages" && second && more.length === 0) return { screen: "message", reference: decode(second) };
  if (first === "people" && second === undefined) return { screen: "person", email: text("email") };
  if (first === "overview" && second === undefined) return { screen: "overview" };
  return { screen: "unknown" };
}

export function hrefOf(route: Route): string {
  if (route.screen === "message") return `/messages/${encodeURIComponent(route.reference)}`;
  if (route.screen === "overview") return "/overview";
  if (route.screen === "person")
    return `/people${route.email ? `?${new URLSearchParams({ email: route.email })}` : ""}`;
  if (route.screen === "unknown") return "/";
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(route.view)) {
    if (value !== "" && value !== NEWEST[name as keyof ListView]) parameters.set(name, value);
  }
  return parameters.size > 0 ? `/?${parameters}` : "/";
}

export function listHref(view: Partial<ListView>): string {
  return hrefOf({ screen: "list", view: { ...NEWEST, ...view } });
}

/** The filters as the API takes them, without the cursor. */
export function toMessageQuery({ tab, search, country, period, since, until }: ListView, now: Date): MessageQuery {
  const hours = { any: 0, "24h": 24, "7d": 7 * 24, "30d": 30 * 24, dates: 0 }[period];
  const from =
    period === "dates" ? startOfDay(since, 0) : hours > 0 ? new Date(now.getTime() - hours * 3_600_000) : null;
  const to = period === "dates" ? startOfDay(until, 1) : null;
  return {
    tab,
    ...(search && { search }),
    ...(country && { country }),
    ...(from && { since: from.toISOString() }),
    ...(to && { until: to.toISOString() }),
  };
}

export function hasFilters({ search, country, period, since, until }: ListView): boolean {
  return search !== "" || country !== "" || (period !== "any" && (period !== "dates" || since !== "" || until !== ""));
}

/** Midnight of a date in the operator's time zone, plus a number of days. */
function startOfDay(date: string, daysLater: number): Date | null {
  const [year, month, day] = date.split("-").map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  return new Date(year, month - 1, day + daysLater);
}

function dateOnly(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const listeners = new Set<() => void>();
/** Where each step of the history was scrolled to, by the number that the step was given. */
const scrollPositions = new Map<number, number>();
let step = 0;

/** Call once, before the first render. */
export function watchHistory(): void {
  history.scrollRestoration = "manual";
  history.replaceState({ step }, "");
  addEventListener("popstate", ({ state }) => {
    scrollPositions.set(step, scrollY);
    step = typeof state?.step === "number" ? state.step : 0;
    for (const listener of listeners) listener();
  });
}

export function navigate(href: string, how: "push" | "replace" = "push"): void {
  if (how === "replace") {
    history.replaceState({ step }, "", href);
  } else {
    scrollPositions.set(step, scrollY);
    step += 1;
    scrollPositions.delete(step);
    history.pushState({ step }, "", href);
  }
  for (const listener of listeners) listener();
}

/** Where this step of the history was left; the top for a new one. */
export function rememberedScroll(): number {
  return scrollPositions.get(step) ?? 0;
}

/** The path and query of the page's address; renders again when they change. */
export function useHref(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; children: ReactNode };

/** A plain link that loads no page. New tabs and windows work as with any link. */
export function Link({ href, children, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
  };
  return (
    <a href={href} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
