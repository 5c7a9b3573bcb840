import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyTypeProvider } from "fastify";
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import type { ElectricityTable } from "../../contract/footprint.ts";
import {
  ACTION_REQUEST,
  type ActionAnswer,
  type ActionRequest,
  type ActionResult,
  CHANGES_QUERY,
  CHANGES_WAIT_MS,
  type ChangeNotice,
  type Channel,
  CORRECT_REQUEST,
  type CorrectRequest,
  ERASE_REQUEST,
  type EraseRequest,
  EXCERPT_LENGTH,
  EXPORT_QUERY,
  type ExportPart,
  type ExportQuery,
  LIST_QUERY,
  type ListQuery,
  MAX_PEOPLE,
  type MessageDetail,
  type MessageItem,
  type MessagePage,
  type MessagePlace,
  type MessageQuery,
  NO_COUNTRY,
  NOTE_REQUEST,
  OVERVIEW_QUERY,
  type Overview,
  PEOPLE_QUERY,
  PERSON_QUERY,
  type People,
  type Person,
  type PersonAnswer,
  PLACE_QUERY,
  type PlaceQuery,
  RESTRICT_REQUEST,
  type RestrictRequest,
} from "../../contract/inbox.ts";
import { actOn, type TargetResult } from "../operator/actions.ts";
import { EXPORT_TYPE, exportPart } from "../operator/export.ts";
import {
  parseTime,
  readHistory,
  readPage,
  readPlace,
  readSortedPage,
  type TabFilter,
  tabCounts,
} from "../operator/messages.ts";
import { changePerson, exportPerson, type PersonChange, parseCorrection, readPerson } from "../operator/person.ts";
import { dayOf, readOverview } from "../operator/statistics.ts";
import { refusalsOf } from "../store/rules.ts";
import type { Store, StoredMessage } from "../store/store.ts";
import type { Clock } from "../time.ts";

export interface ApiOptions {
  store: Store;
  /** Throws BuildMissing. */
  readElectricity(): ElectricityTable;
  dataDir: string;
  /** How an operator calls the program. */
  program: string;
  /** Those in use. */
  channels: readonly Channel[];
  /** Who writes the notes. */
  account: string | null;
  databaseKind: Overview["database"]["kind"];
  clock: Clock;
}

/** The call is understood, but cannot be done; the message is one sentence. */
export class InvalidCall extends Error {
  override readonly name = "InvalidCall";
}

/** There is nothing under this path. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

const DEFAULT_PAGE = 50;
const DEFAULT_DAYS = 30;
const CHANGES_INTERVAL_MS = 700;

/** The type of what a route takes is that of its schema. */
interface TypesFromSchemas extends FastifyTypeProvider {
  validator: this["schema"] extends JSONSchema ? FromSchema<this["schema"]> : unknown;
}

/** A route for each call of contract/inbox.ts. Whoever calls has been let in already. */
export function serveApi(app: FastifyInstance, options: ApiOptions): void {
  const { store, clock } = options;
  const readChanges = shared(CHANGES_INTERVAL_MS, clock, () => changesOf(store));
  const api = app.withTypeProvider<TypesFromSchemas>();
  api.get("/messages", { schema: { querystring: LIST_QUERY } }, ({ query }) => listMessages(query, options));
  api.get("/messages/:reference(^[\\w-]{1,20}$)", ({ params }) =>
    showMessage((params as { reference: string }).reference, options),
  );
  api.get("/messages/:reference(^[\\w-]{1,20}$)/place", { schema: { querystring: PLACE_QUERY } }, ({ params, query }) =>
    showPlace((params as { reference: string }).reference, query, store),
  );
  api.post("/messages/:reference(^[\\w-]{1,20}$)/notes", { schema: { body: NOTE_REQUEST } }, ({ params, body }) =>
    addNote((params as { reference: string }).reference, body.text, options),
  );
  api.post("/actions", { schema: { body: ACTION_REQUEST } }, ({ body }) => act(body, options));
  api.get("/people", { schema: { querystring: PERSON_QUERY } }, ({ query }) => showPerson(query.email, options));
  api.get("/people/search", { schema: { querystring: PEOPLE_QUERY } }, ({ query }) =>
    searchPeople(query.search, store),
  );
  api.get("/people/export", { schema: { querystring: PERSON_QUERY } }, ({ query }) =>
    showPersonExport(query.email, options),
  );
  api.post("/people/correct", { schema: { body: CORRECT_REQUEST } }, ({ body }) => correct(body, options));
  api.post("/people/restrict", { schema: { body: RESTRICT_REQUEST } }, ({ body }) => restrict(body, options));
  api.post("/people/erase", { schema: { body: ERASE_REQUEST } }, ({ body }) => erase(body, options));
  api.get("/export", { schema: { querystring: EXPORT_QUERY } }, ({ query }) => showExportPart(query, options));
  api.get("/countries", () => store.countByCountry());
  api.get("/overview", { schema: { querystring: OVERVIEW_QUERY } }, ({ query }) =>
    readOverview(query.days ?? DEFAULT_DAYS, options),
  );
  api.get("/changes", { schema: { querystring: CHANGES_QUERY } }, ({ query, signal }) =>
    waitForChanges(query.since, readChanges, signal),
  );
}

async function listMessages(query: ListQuery, { store }: ApiOptions): Promise<MessagePage> {
  const { cursor = null, limit = DEFAULT_PAGE, sort = "newest", offset = 0 } = query;
  const filter = filterOf(query);
  const { messages, ...page } =
    cursor === null
      ? await readSortedPage(filter, { sort, offset, limit }, store)
      : { ...(await readPage(filter, limit, cursor, store)), counts: null };
  const now = await store.time();
  return { items: messages.map((message) => toItem(message, now)), ...page };
}

async function showMessage(reference: string, { store }: ApiOptions): Promise<MessageDetail> {
  const message = await store.find(reference);
  if (!message) throw new NotFound("There is no such message; it may have been deleted.");
  const now = await store.time();
  if (message.state === "quarantined") await store.markSeen(message.reference, now);
  const history = (await readHistory(message, store)).map((event) => ({ ...event, at: event.at.toISOString() }));
  const { phone, message: text, footprint } = message;
  return { ...toItem(message, now), phone, message: text, footprint, history };
}

async function showPlace(reference: string, query: PlaceQuery, store: Store): Promise<MessagePlace> {
  const place = await readPlace(reference, filterOf(query), query.sort ?? "newest", store);
  if (!place) throw new NotFound("There is no such message; it may have been deleted.");
  return place;
}

async function addNote(reference: string, text: string, options: ApiOptions): Promise<MessageDetail> {
  const { store, account } = options;
  await store.addNote(reference, text.trim(), account, await store.time());
  return showMessage(reference, options);
}

async function searchPeople(search: string, store: Store): Promise<People> {
  const people = search.trim() === "" ? [] : await store.findPeople(search, MAX_PEOPLE);
  return people.map(({ lastAt, ...person }) => ({ ...person, lastAt: lastAt.toISOString() }));
}

async function act({ action, targets }: ActionRequest, options: ApiOptions): Promise<ActionAnswer> {
  const { results } = await actOn(action, targets, options);
  const now = await options.store.time();
  return { results: results.map((result) => toActionResult(result, now)) };
}

async function showPerson(email: string, { store }: ApiOptions): Promise<Person> {
  const now = await store.time();
  const { messages, version, restricted, hasFootprint } = await readPerson(email, store);
  return { email, version, restricted, hasFootprint, messages: messages.map((message) => toItem(message, now)) };
}

async function showPersonExport(email: string, { store, clock }: ApiOptions): Promise<ExportPart> {
  const now = clock.now();
  const file = { fileName: `privacy-export-${dayOf(now)}.json`, contentType: EXPORT_TYPE.json };
  return { ...(await exportPerson(email, store)), nextCursor: null, ...file };
}

async function correct(request: CorrectRequest, options: ApiOptions): Promise<PersonAnswer> {
  const { changes: given, removesFootprint = false } = request;
  const parsed = parseCorrection(given);
  if (!parsed.ok) return { outcome: "invalid", fields: parsed.fields };
  const { changes } = parsed;
  if (Object.keys(changes).length === 0 && !removesFootprint) {
    throw new InvalidCall("Send at least one field to correct.");
  }
  return change(request, { kind: "correct", changes, footprint: removesFootprint ? "none" : undefined }, options);
}

function restrict(request: RestrictRequest, options: ApiOptions): Promise<PersonAnswer> {
  return change(request, { kind: "restrict", isRestricted: request.isRestricted }, options);
}

async function erase(request: EraseRequest, options: ApiOptions): Promise<PersonAnswer> {
  const { email, confirmation } = request;
  if (confirmation.trim().toLowerCase() !== email.trim().toLowerCase()) {
    throw new InvalidCall("Type the address itself to confirm.");
  }
  return change(request, { kind: "erase" }, options);
}

async function change(
  { email, version }: { email: string; version: string },
  personChange: PersonChange,
  options: ApiOptions,
): Promise<PersonAnswer> {
  const result = await changePerson(email, personChange, options, version);
  if (result.outcome === "no-estimate") throw new InvalidCall("There is no estimate to remove.");
  return result;
}

async function showExportPart(query: ExportQuery, { store, clock }: ApiOptions): Promise<ExportPart> {
  const { format, cursor = null } = query;
  const part = await exportPart({ filter: filterOf(query), format }, cursor, store);
  return { ...part, fileName: `messages-${dayOf(clock.now())}.${format}`, contentType: EXPORT_TYPE[format] };
}

async function changesOf(store: Store): Promise<ChangeNotice> {
  const counts = tabCounts(await store.countStates({}));
  return { token: `${await store.changeToken()}.${Object.values(counts).join(".")}`, counts };
}

async function waitForChanges(
  since: string | undefined,
  readChanges: () => Promise<ChangeNotice>,
  signal: AbortSignal,
): Promise<ChangeNotice> {
  const startedAtMs = performance.now();
  for (;;) {
    const changes = await readChanges();
    const isOver = performance.now() - startedAtMs >= CHANGES_WAIT_MS - CHANGES_INTERVAL_MS;
    if (changes.token !== since || isOver || signal.aborted) return changes;
    await sleep(CHANGES_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function toItem(message: StoredMessage, now: Date): MessageItem {
  const { reference, version, state, name, email, country, isRestricted } = message;
  const { mail, hook } = message.deliveries;
  return {
    reference,
    version,
    state,
    name,
    email,
    country,
    // Never half of a character that takes two units.
    excerpt: message.message.slice(0, EXCERPT_LENGTH).replace(/[\uD800-\uDBFF]$/, ""),
    footprintKg: message.footprint?.totalKg ?? null,
    acceptedAt: message.acceptedAt.toISOString(),
    stateChangedAt: mail.changedAt.toISOString(),
    dueAt: isoOf(mail.dueAt),
    attempts: mail.attempts,
    lastError: mail.error,
    isRestricted,
    answeredAt: isoOf(message.answeredAt),
    keptUntil: isoOf(message.expiresAt),
    quarantineReason: message.quarantineReason,
    hook: hook?.state ?? null,
    refusals: refusalsOf(message, now),
  };
}

function toActionResult(result: TargetResult, now: Date): ActionResult {
  switch (result.outcome) {
    case "done":
      return { ...result, message: result.message && toItem(result.message, now) };
    case "gone":
      return result;
    default:
      return { ...result, message: toItem(result.message, now) };
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

function filterOf({ tab = "all", search = "", country, since, until }: MessageQuery): TabFilter {
  return {
    tab,
    ...(search.trim() !== "" && { search }),
    ...(country !== undefined && { country: country === NO_COUNTRY ? "" : country }),
    ...(since !== undefined && { since: timeOf("since", since) }),
    ...(until !== undefined && { until: timeOf("until", until) }),
  };
}

function timeOf(name: string, text: string): Date {
  const time = parseTime(text);
  if (time === null) throw new InvalidCall(`${name} is not a date; e.g. 2026-01-31.`);
  return time;
}

function isoOf(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
