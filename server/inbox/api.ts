import { setTimeout as sleep } from "node:timers/promises";
import type { ElectricityTable } from "../../contract/footprint.ts";
import {
  ACTIONS,
  type ActionAnswer,
  type ActionResult,
  CHANGES_WAIT_MS,
  type Changes,
  CURSOR_PATTERN,
  EXCERPT_LENGTH,
  EXPORT_FORMATS,
  type ExportPart,
  MAX_PAGE,
  MAX_SEARCH_LENGTH,
  MAX_TARGETS,
  type MessageDetail,
  type MessageItem,
  type MessagePage,
  NO_COUNTRY,
  type Overview,
  type Person,
  type PersonAnswer,
  TABS,
} from "../../contract/inbox.ts";
import { actOn, refusalsOf, type TargetResult } from "../operator/actions.ts";
import { EXPORT_TYPE, exportPart } from "../operator/export.ts";
import { parseTime, readFirstPage, readHistory, readPage, type TabFilter, tabCounts } from "../operator/messages.ts";
import { changePerson, exportPerson, type PersonChange, parseCorrection, readPerson } from "../operator/person.ts";
import { dayOf, readOverview } from "../operator/statistics.ts";
import type { Store, StoredMessage } from "../store/store.ts";
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
const CHANGES_INTERVAL_MS = 700;

/** All calls of contract/inbox.ts. Whoever calls has been let in already. */
export function createApi(parts: ApiParts): (call: ApiCall) => Promise<unknown> {
  const { store, readElectricity, dataDir, databaseKind, clock } = parts;
  const operatorParts = () => ({ store, readElectricity, dataDir, now: clock.now() });
  const readChanges = shared(CHANGES_INTERVAL_MS, clock, async (): Promise<Changes> => {
    const counts = tabCounts(await store.countStates({}));
    return { token: `${await store.changeToken()}.${Object.values(counts).join(".")}`, counts };
  });

  async function listMessages(query: URLSearchParams): Promise<MessagePage> {
    const cursor = readCursor(query);
    const filter = readFilter(query);
    const limit = readNumber(query, "limit", DEFAULT_PAGE, MAX_PAGE);
    const { messages, ...page } =
      cursor === null
        ? await readFirstPage(filter, limit, store)
        : { ...(await readPage(filter, limit, cursor, store)), counts: null };
    return { items: messages.map(toItem), ...page };
  }

  async function showMessage(reference: string): Promise<MessageDetail> {
    const message = await store.find(reference);
    if (!message) throw new NotFound("There is no such message; it may have been deleted.");
    if (message.state === "quarantined") await store.markSeen(message.reference, clock.now());
    const history = (await readHistory(message, store)).map((event) => ({ ...event, at: event.at.toISOString() }));
    const { phone, message: text, footprint } = message;
    return { ...toItem(message), phone, message: text, footprint, history };
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

  async function showPersonExport(email: string): Promise<ExportPart> {
    const now = clock.now();
    const file = { fileName: `privacy-export-${dayOf(now)}.json`, contentType: EXPORT_TYPE.json };
    return { ...(await exportPerson(email, store, now)), nextCursor: null, ...file };
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

  async function showExportPart(query: URLSearchParams): Promise<ExportPart> {
    const format = oneOf(EXPORT_FORMATS, query.get("format"), "format");
    const part = await exportPart({ filter: readFilter(query), format }, readCursor(query), store);
    return { ...part, fileName: `messages-${dayOf(clock.now())}.${format}`, contentType: EXPORT_TYPE[format] };
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
        return showPersonExport(text(query.get("email"), "email"));
      case "POST /people/correct":
        return correct(body);
      case "POST /people/restrict":
        return restrict(body);
      case "POST /people/erase":
        return erase(body);
      case "GET /export":
        return showExportPart(query);
      case "GET /countries":
        return store.countByCountry();
      case "GET /overview":
        return readOverview(readNumber(query, "days", 30, 366), { store, dataDir, databaseKind, now: clock.now() });
      case "GET /changes":
        return waitForChanges(query, signal);
      default:
        throw new NotFound("There is no such call.");
    }
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
    hook: (message.hook?.state ?? null) as MessageItem["hook"],
    refusals: refusalsOf(message),
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

function readFilter(query: URLSearchParams): TabFilter {
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
    ...(search.trim() !== "" && { search }),
    ...(country !== null && { country: country === NO_COUNTRY ? "" : country }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

function readTime(query: URLSearchParams, name: string): Date | null {
  const given = query.get(name);
  if (given === null) return null;
  const time = parseTime(given);
  if (time === null) throw new InvalidCall(`${name} is not a date; e.g. 2026-01-31.`);
  return time;
}

function readCursor(query: URLSearchParams): string | null {
  const cursor = query.get("cursor");
  if (cursor !== null && !CURSOR_PATTERN.test(cursor)) throw new InvalidCall("cursor is not from the page before.");
  return cursor;
}

function readNumber(query: URLSearchParams, name: string, unlessGiven: number, highest: number): number {
  const number = Number(query.get(name) ?? unlessGiven);
  if (Number.isInteger(number) && number >= 1 && number <= highest) return number;
  throw new InvalidCall(`${name} is not a whole number from 1 to ${highest}.`);
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
