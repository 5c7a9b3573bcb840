import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ElectricityTable } from "../../contract/footprint.ts";
import {
  ACTIONS,
  type ActionAnswer,
  type ActionResult,
  CHANGES_WAIT_MS,
  type Changes,
  type CountryCount,
  EXCERPT_LENGTH,
  EXPORT_FORMATS,
  type ExportPart,
  MAX_PAGE,
  MAX_SEARCH_LENGTH,
  MAX_TARGETS,
  type MessageDetail,
  type MessageEvent,
  type MessageItem,
  type MessagePage,
  NO_COUNTRY,
  type Overview,
  type Person,
  type PersonAnswer,
  TABS,
  type Tab,
  type TabCounts,
} from "../../contract/inbox.ts";
import { csvPart, EXPORT_TYPE, jsonPart, messageJson, visibleJson } from "../export.ts";
import { actOn, changePerson, type PersonChange, parseCorrection, readPerson, type TargetResult } from "../operator.ts";
import {
  type MessageCount,
  type MessageFilter,
  type StateCounts,
  type Store,
  type StoredEvent,
  type StoredMessage,
  StoreUnavailable,
} from "../store/store.ts";
import type { Clock } from "../time.ts";

export interface ApiParts {
  store: Store;
  /** Throws BuildMissing. */
  readElectricity(): ElectricityTable;
  dataDir: string;
  databaseKind: Overview["database"]["kind"];
  clock: Clock;
}

export interface ApiCall {
  method: "GET" | "POST";
  /** Without `/api`. */
  path: string;
  query: URLSearchParams;
  /** Parsed from JSON; of a GET undefined. */
  body: unknown;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The request is wrong; the message is one sentence. */
export class InvalidCall extends Error {
  override readonly name = "InvalidCall";
}

/** There is nothing under this path. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

const DEFAULT_PAGE = 50;
const EXPORT_PAGE = 1000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Longer than the longest pause between two attempts of a queue that is paused. */
const PAUSE_SEEN_MS = 20 * MINUTE_MS;
/** The site's server looks for due messages twice a minute. */
const STALLED_MS = 3 * MINUTE_MS;
const LOW_DISK_BYTES = 500 * 1024 * 1024;
const CHANGES_INTERVAL_MS = 700;
const DELIVERY_BOUNDS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, DAY_MS];

/** All calls of contract/inbox.ts. Whoever calls has been let in already. */
export function createApi(parts: ApiParts): (call: ApiCall) => Promise<unknown> {
  const { store, readElectricity, dataDir, databaseKind, clock } = parts;
  const operatorParts = () => ({ store, readElectricity, dataDir, now: clock.now() });
  const readChanges = shared(CHANGES_INTERVAL_MS, clock, async (): Promise<Changes> => {
    const counts = tabCounts(await store.countStates({}));
    return { token: `${await store.changeToken()}.${Object.values(counts).join(".")}`, counts };
  });

  async function listMessages(query: URLSearchParams): Promise<MessagePage> {
    const cursor = query.get("cursor");
    const { tab, filter } = readFilter(query);
    const limit = readNumber(query, "limit", DEFAULT_PAGE, MAX_PAGE);
    if (cursor === null) {
      const { messages, counts } = await store.firstPage(filter, TAB_FILTERS[tab], limit + 1);
      const page = cutPage(messages, limit);
      return { items: page.messages.map(toItem), nextCursor: page.nextCursor, counts: tabCounts(counts) };
    }
    const page = await readPage({ ...filter, ...TAB_FILTERS[tab] }, cursor, limit);
    return { items: page.messages.map(toItem), nextCursor: page.nextCursor, counts: null };
  }

  async function readPage(filter: MessageFilter, cursor: string | null, limit: number) {
    const after = cursor === null ? {} : { after: parseCursor(cursor) };
    return cutPage(await store.list({ ...filter, ...after, limit: limit + 1 }), limit);
  }

  async function showMessage(reference: string): Promise<MessageDetail> {
    const message = await store.find(reference);
    if (!message) throw new NotFound("There is no such message; it may have been deleted.");
    if (message.state === "quarantined") await store.markSeen(message.reference, clock.now());
    const events = await store.history(message.reference);
    const { phone, message: words, footprint } = message;
    return { ...toItem(message), phone, message: words, footprint, history: historyOf(message, events) };
  }

  async function act(body: unknown): Promise<ActionAnswer> {
    const { action, targets } = record(body);
    const known = oneOf(ACTIONS, action, "action");
    if (!Array.isArray(targets) || targets.length === 0 || targets.length > MAX_TARGETS) {
      throw new InvalidCall(`Send from 1 to ${MAX_TARGETS} targets.`);
    }
    const parsed = targets.map((target) => {
      const { reference, version } = record(target);
      return { reference: text(reference, "reference"), version: text(version, "version") };
    });
    const { results } = await actOn(known, parsed, operatorParts());
    return { results: results.map(toActionResult) };
  }

  async function showPerson(email: string): Promise<Person> {
    const { messages, version } = await readPerson(email, store);
    const restricted = messages.filter(({ isRestricted }) => isRestricted).length;
    return {
      email,
      version,
      messages: messages.map(toItem),
      restricted: restricted === 0 ? "none" : restricted === messages.length ? "all" : "some",
      hasFootprint: messages.some(({ footprint }) => footprint !== null),
    };
  }

  async function exportPerson(email: string): Promise<ExportPart> {
    const { messages } = await readPerson(email, store);
    const now = clock.now();
    return {
      text: visibleJson({ email, exportedAt: now, messages: messages.map(messageJson) }),
      count: messages.length,
      nextCursor: null,
      fileName: `privacy-export-${dayOf(now)}.json`,
      contentType: EXPORT_TYPE.json,
    };
  }

  async function change(
    body: unknown,
    toChange: (fields: Fields, email: string) => PersonChange,
  ): Promise<PersonAnswer> {
    const fields = record(body);
    const email = text(fields.email, "email");
    const version = text(fields.version, "version");
    const result = await changePerson(email, toChange(fields, email), operatorParts(), version);
    if (result.outcome === "no-estimate") throw new InvalidCall("There is no estimate to remove.");
    return result;
  }

  async function correct(body: unknown): Promise<PersonAnswer> {
    const { changes: given, removesFootprint = false } = record(body);
    if (typeof removesFootprint !== "boolean") throw new InvalidCall("Send removesFootprint as true or false.");
    const parsed = parseCorrection(record(given));
    if (!parsed.ok) return { outcome: "invalid", fields: parsed.fields };
    const { changes } = parsed;
    if (Object.keys(changes).length === 0 && !removesFootprint) {
      throw new InvalidCall("Send at least one field to correct.");
    }
    return change(body, () => ({ kind: "correct", changes, footprint: removesFootprint ? "none" : undefined }));
  }

  const restrict = (body: unknown) =>
    change(body, ({ isRestricted }) => {
      if (typeof isRestricted !== "boolean") throw new InvalidCall("Send isRestricted as true or false.");
      return { kind: "restrict", isRestricted };
    });

  const erase = (body: unknown) =>
    change(body, ({ confirmation }, email) => {
      const typed = text(confirmation, "confirmation").trim().toLowerCase();
      if (typed !== email.trim().toLowerCase()) throw new InvalidCall("Type the address itself to confirm.");
      return { kind: "erase" };
    });

  async function exportMessages(query: URLSearchParams): Promise<ExportPart> {
    const format = oneOf(EXPORT_FORMATS, query.get("format"), "format");
    const cursor = query.get("cursor");
    const { tab, filter } = readFilter(query);
    const { messages, nextCursor } = await readPage({ ...filter, ...TAB_FILTERS[tab] }, cursor, EXPORT_PAGE);
    const position = { isFirst: cursor === null, isLast: nextCursor === null };
    return {
      text: format === "csv" ? csvPart(messages, position) : jsonPart(messages, position),
      count: messages.length,
      nextCursor,
      fileName: `messages-${dayOf(clock.now())}.${format}`,
      contentType: EXPORT_TYPE[format],
    };
  }

  async function showOverview(query: URLSearchParams): Promise<Overview> {
    const days = readNumber(query, "days", 30, 366);
    const now = clock.now();
    const firstDay = Math.floor(now.getTime() / DAY_MS) - days + 1;
    const since = new Date(firstDay * DAY_MS);
    const [depth, unseen, trouble, counts, times, problem, disk] = await Promise.all([
      store.queueDepth(),
      store.countUnseen(),
      store.queueTrouble(now),
      store.countByDayAndCountry(since),
      store.deliveryTimes(since, DELIVERY_BOUNDS_MS),
      store.ping().then(() => null, problemOf),
      diskOf(dataDir),
    ]);
    const perDay = sumBy(counts, ({ day }) => day);
    return {
      now: now.toISOString(),
      days,
      failed: { count: depth.failed, lastAt: isoOf(depth.lastFailedAt) },
      heldBack: { count: depth.quarantined, unseen },
      waiting: { count: depth.queued, oldestAt: isoOf(depth.oldestQueuedAt) },
      queue: queueHealth(trouble, now),
      database: { kind: databaseKind, problem },
      disk,
      perDay: Array.from({ length: days }, (_, index) => {
        const day = dayOf(new Date((firstDay + index) * DAY_MS));
        return { day, count: perDay.get(day) ?? 0 };
      }),
      perCountry: countriesOf(counts),
      delivery: {
        ...times,
        buckets: times.buckets.map((count, index) => ({ upToMs: DELIVERY_BOUNDS_MS[index] ?? null, count })),
      },
    };
  }

  async function waitForChanges(query: URLSearchParams, signal: AbortSignal): Promise<Changes> {
    const since = query.get("since");
    const startedAtMs = performance.now();
    for (;;) {
      const changes = await readChanges();
      const isOver = performance.now() - startedAtMs >= CHANGES_WAIT_MS - CHANGES_INTERVAL_MS;
      if (changes.token !== since || isOver || signal.aborted) return changes;
      await sleep(CHANGES_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  }

  return async ({ method, path, query, body, signal }) => {
    const call = `${method} ${path}`;
    const reference = /^GET \/messages\/([\w-]{1,20})$/.exec(call)?.[1];
    if (reference !== undefined) return showMessage(reference);
    switch (call) {
      case "GET /messages":
        return listMessages(query);
      case "POST /actions":
        return act(body);
      case "GET /people":
        return showPerson(text(query.get("email"), "email"));
      case "GET /people/export":
        return exportPerson(text(query.get("email"), "email"));
      case "POST /people/correct":
        return correct(body);
      case "POST /people/restrict":
        return restrict(body);
      case "POST /people/erase":
        return erase(body);
      case "GET /export":
        return exportMessages(query);
      case "GET /countries":
        return store.countByCountry();
      case "GET /overview":
        return showOverview(query);
      case "GET /changes":
        return waitForChanges(query, signal);
      default:
        throw new NotFound("There is no such call.");
    }
  };
}

/** One message more than fits tells that there is another page. */
function cutPage(messages: readonly StoredMessage[], limit: number) {
  const last = messages.length > limit ? messages[limit - 1] : undefined;
  return {
    messages: messages.slice(0, limit),
    nextCursor: last ? `${last.acceptedAt.getTime()}.${last.id}` : null,
  };
}

const TAB_FILTERS: Readonly<Record<Tab, Pick<MessageFilter, "state" | "unanswered">>> = {
  all: {},
  unanswered: { unanswered: true },
  waiting: { state: "queued" },
  failed: { state: "failed" },
  "held-back": { state: "quarantined" },
};

function tabCounts({ queued, delivered, failed, quarantined }: StateCounts): TabCounts {
  const passed = [queued, delivered, failed];
  return {
    all: [...passed, quarantined].reduce((sum, { count }) => sum + count, 0),
    unanswered: passed.reduce((sum, { count, answered }) => sum + count - answered, 0),
    waiting: queued.count,
    failed: failed.count,
    "held-back": quarantined.count,
  };
}

function toItem(message: StoredMessage): MessageItem {
  const { reference, version, state, name, email, country, attempts, lastError, isRestricted } = message;
  return {
    ...{ reference, version, state, name, email, country },
    // Never half of a character that takes two units.
    excerpt: message.message.slice(0, EXCERPT_LENGTH).replace(/[\uD800-\uDBFF]$/, ""),
    acceptedAt: message.acceptedAt.toISOString(),
    stateChangedAt: message.stateChangedAt.toISOString(),
    dueAt: isoOf(message.dueAt),
    ...{ attempts, lastError, isRestricted },
    answeredAt: isoOf(message.answeredAt),
    quarantineReason: message.quarantineReason,
  };
}

function toActionResult(result: TargetResult): ActionResult {
  switch (result.outcome) {
    case "done":
      return { ...result, message: result.message && toItem(result.message) };
    case "gone":
      return result;
    default:
      return { ...result, message: toItem(result.message) };
  }
}

/** Begins with how it came in, and has its present state even where a node of the version before reached it. */
function historyOf(message: StoredMessage, events: readonly StoredEvent[]): MessageEvent[] {
  const { state, quarantineReason } = message;
  const wasHeldBack =
    state === "quarantined" || quarantineReason !== null || events.some(({ kind }) => kind === "released");
  const history: StoredEvent[] = [
    wasHeldBack
      ? { at: message.acceptedAt, kind: "quarantined", detail: quarantineReason }
      : { at: message.acceptedAt, kind: "accepted", detail: null },
    ...events,
  ];
  if ((state === "delivered" || state === "failed") && !events.some(({ kind }) => kind === state)) {
    history.push({ at: message.stateChangedAt, kind: state, detail: message.lastError });
  }
  return history.map(({ at, kind, detail }) => ({ at: at.toISOString(), kind, detail }));
}

function queueHealth({ pause, dueSince }: Awaited<ReturnType<Store["queueTrouble"]>>, now: Date): Overview["queue"] {
  if (pause && now.getTime() - pause.lastAt.getTime() < PAUSE_SEEN_MS) {
    return { state: "paused", reason: pause.reason, since: pause.since.toISOString() };
  }
  const isStalled = dueSince !== null && now.getTime() - dueSince.getTime() > STALLED_MS;
  return isStalled ? { state: "stalled", since: dueSince.toISOString() } : { state: "running" };
}

function problemOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return error.message;
  throw error;
}

async function diskOf(dataDir: string): Promise<Overview["disk"]> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, isLow: bavail * bsize < LOW_DISK_BYTES };
  } catch {
    // With PostgreSQL the folder may not exist.
    return null;
  }
}

function countriesOf(counts: readonly MessageCount[]): CountryCount[] {
  return [...sumBy(counts, ({ country }) => country)]
    .map(([country, count]) => ({ country, count }))
    .sort((a, b) => b.count - a.count || a.country.localeCompare(b.country, "en"));
}

function sumBy(counts: readonly MessageCount[], keyOf: (count: MessageCount) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const count of counts) sums.set(keyOf(count), (sums.get(keyOf(count)) ?? 0) + count.count);
  return sums;
}

/** Calls that come within the time get the same answer, so that many waiting pages cost no more than one. */
function shared<Result>(maxAgeMs: number, clock: Clock, read: () => Promise<Result>): () => Promise<Result> {
  let last: { atMs: number; result: Promise<Result> } | null = null;
  return () => {
    const nowMs = clock.now().getTime();
    if (last && Math.abs(nowMs - last.atMs) < maxAgeMs / 2) return last.result;
    const result = read();
    last = { atMs: nowMs, result };
    // An error is for those who asked; the next call reads again.
    result.catch(() => {
      last = null;
    });
    return result;
  };
}

type Fields = Readonly<Record<string, unknown>>;

function readFilter(query: URLSearchParams): { tab: Tab; filter: MessageFilter } {
  const search = query.get("search") ?? "";
  if (search.length > MAX_SEARCH_LENGTH) throw new InvalidCall(`Search for at most ${MAX_SEARCH_LENGTH} characters.`);
  const country = query.get("country");
  if (country !== null && country !== NO_COUNTRY && !/^[A-Z]{2}$/.test(country)) {
    throw new InvalidCall("country is neither a two-letter code nor none.");
  }
  const since = readTime(query, "since");
  const until = readTime(query, "until");
  return {
    tab: oneOf(TABS, query.get("tab") ?? "all", "tab"),
    filter: {
      ...(search.trim() !== "" && { search }),
      ...(country !== null && { country: country === NO_COUNTRY ? "" : country }),
      ...(since && { since }),
      ...(until && { until }),
    },
  };
}

function readTime(query: URLSearchParams, name: string): Date | null {
  const given = query.get(name);
  if (given === null) return null;
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(given) ? new Date(given) : null;
  if (time === null || Number.isNaN(time.getTime())) throw new InvalidCall(`${name} is not a date; e.g. 2026-01-31.`);
  return time;
}

function readNumber(query: URLSearchParams, name: string, unlessGiven: number, highest: number): number {
  const number = Number(query.get(name) ?? unlessGiven);
  if (Number.isInteger(number) && number >= 1 && number <= highest) return number;
  throw new InvalidCall(`${name} is not a whole number from 1 to ${highest}.`);
}

function parseCursor(cursor: string): { acceptedAtMs: number; id: number } {
  const [, acceptedAtMs, id] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (id === undefined) throw new InvalidCall("cursor is not from the page before.");
  return { acceptedAtMs: Number(acceptedAtMs), id: Number(id) };
}

function record(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new InvalidCall("Send a JSON object.");
  return { ...value };
}

/** Short enough for anything that is not a message. */
const MAX_TEXT_LENGTH = 500;

function text(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "" || value.length > MAX_TEXT_LENGTH || value.includes("\0")) {
    throw new InvalidCall(`Send ${name} as a text.`);
  }
  return value;
}

function oneOf<const Choice extends string>(choices: readonly Choice[], value: unknown, name: string): Choice {
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw new InvalidCall(`${name} is not one of ${choices.join(", ")}.`);
  return choice;
}

function isoOf(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** `2026-01-31` in UTC. */
function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
