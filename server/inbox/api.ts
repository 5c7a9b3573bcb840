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
  type Changes,
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
import type { Retention } from "../config.ts";
import { actOn, refusalsOf, type TargetResult } from "../operator/actions.ts";
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
import { keptUntil } from "../store/retention.ts";
import type { Store, StoredMessage } from "../store/store.ts";
import type { Clock } from "../time.ts";

export interface ApiParts {
  store: Store;
  /** Throws BuildMissing. */
  readElectricity(): ElectricityTable;
  dataDir: string;
  retention: Retention;
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
export function serveApi(app: FastifyInstance, parts: ApiParts): void {
  const { store, clock } = parts;
  const readChanges = shared(CHANGES_INTERVAL_MS, clock, () => changesOf(store));
  const api = app.withTypeProvider<TypesFromSchemas>();
  api.get("/messages", { schema: { querystring: LIST_QUERY } }, ({ query }) => listMessages(query, parts));
  api.get("/messages/:reference(^[\\w-]{1,20}$)", ({ params }) =>
    showMessage((params as { reference: string }).reference, parts),
  );
  api.get("/messages/:reference(^[\\w-]{1,20}$)/place", { schema: { querystring: PLACE_QUERY } }, ({ params, query }) =>
    showPlace((params as { reference: string }).reference, query, store),
  );
  api.post("/messages/:reference(^[\\w-]{1,20}$)/notes", { schema: { body: NOTE_REQUEST } }, ({ params, body }) =>
    addNote((params as { reference: string }).reference, body.text, parts),
  );
  api.post("/actions", { schema: { body: ACTION_REQUEST } }, ({ body }) => act(body, parts));
  api.get("/people", { schema: { querystring: PERSON_QUERY } }, ({ query }) => showPerson(query.email, parts));
  api.get("/people/search", { schema: { querystring: PEOPLE_QUERY } }, ({ query }) =>
    searchPeople(query.search, store),
  );
  api.get("/people/export", { schema: { querystring: PERSON_QUERY } }, ({ query }) =>
    showPersonExport(query.email, parts),
  );
  api.post("/people/correct", { schema: { body: CORRECT_REQUEST } }, ({ body }) => correct(body, parts));
  api.post("/people/restrict", { schema: { body: RESTRICT_REQUEST } }, ({ body }) => restrict(body, parts));
  api.post("/people/erase", { schema: { body: ERASE_REQUEST } }, ({ body }) => erase(body, parts));
  api.get("/export", { schema: { querystring: EXPORT_QUERY } }, ({ query }) => showExportPart(query, parts));
  api.get("/countries", () => store.countByCountry());
  api.get("/overview", { schema: { querystring: OVERVIEW_QUERY } }, ({ query }) =>
    readOverview(query.days ?? DEFAULT_DAYS, { ...parts, now: clock.now() }),
  );
  api.get("/changes", { schema: { querystring: CHANGES_QUERY } }, ({ query, signal }) =>
    waitForChanges(query.since, readChanges, signal),
  );
}

async function listMessages(query: ListQuery, { store, retention }: ApiParts): Promise<MessagePage> {
  const { cursor = null, limit = DEFAULT_PAGE, sort = "newest", offset = 0 } = query;
  const filter = filterOf(query);
  const { messages, ...page } =
    cursor === null
      ? await readSortedPage(filter, { sort, offset, limit }, store)
      : { ...(await readPage(filter, limit, cursor, store)), counts: null };
  return { items: messages.map((message) => toItem(message, retention)), ...page };
}

async function showMessage(reference: string, { store, clock, retention }: ApiParts): Promise<MessageDetail> {
  const message = await store.find(reference);
  if (!message) throw new NotFound("There is no such message; it may have been deleted.");
  if (message.state === "quarantined") await store.markSeen(message.reference, clock.now());
  const history = (await readHistory(message, store)).map((event) => ({ ...event, at: event.at.toISOString() }));
  const { phone, message: text, footprint } = message;
  return { ...toItem(message, retention), phone, message: text, footprint, history };
}

async function showPlace(reference: string, query: PlaceQuery, store: Store): Promise<MessagePlace> {
  const place = await readPlace(reference, filterOf(query), query.sort ?? "newest", store);
  if (!place) throw new NotFound("There is no such message; it may have been deleted.");
  return place;
}

async function addNote(reference: string, text: string, parts: ApiParts): Promise<MessageDetail> {
  await parts.store.addNote(reference, text.trim(), parts.account, parts.clock.now());
  return showMessage(reference, parts);
}

async function searchPeople(search: string, store: Store): Promise<People> {
  const people = search.trim() === "" ? [] : await store.findPeople(search, MAX_PEOPLE);
  return people.map(({ lastAt, ...person }) => ({ ...person, lastAt: lastAt.toISOString() }));
}

async function act({ action, targets }: ActionRequest, parts: ApiParts): Promise<ActionAnswer> {
  const { results } = await actOn(action, targets, { ...parts, now: parts.clock.now() });
  return { results: results.map((result) => toActionResult(result, parts.retention)) };
}

async function showPerson(email: string, { store, retention }: ApiParts): Promise<Person> {
  const { messages, version, restricted, hasFootprint } = await readPerson(email, store);
  return { email, version, restricted, hasFootprint, messages: messages.map((message) => toItem(message, retention)) };
}

async function showPersonExport(email: string, { store, clock }: ApiParts): Promise<ExportPart> {
  const now = clock.now();
  const file = { fileName: `privacy-export-${dayOf(now)}.json`, contentType: EXPORT_TYPE.json };
  return { ...(await exportPerson(email, store, now)), nextCursor: null, ...file };
}

async function correct(request: CorrectRequest, parts: ApiParts): Promise<PersonAnswer> {
  const { changes: given, removesFootprint = false } = request;
  const parsed = parseCorrection(given);
  if (!parsed.ok) return { outcome: "invalid", fields: parsed.fields };
  const { changes } = parsed;
  if (Object.keys(changes).length === 0 && !removesFootprint) {
    throw new InvalidCall("Send at least one field to correct.");
  }
  return change(request, { kind: "correct", changes, footprint: removesFootprint ? "none" : undefined }, parts);
}

function restrict(request: RestrictRequest, parts: ApiParts): Promise<PersonAnswer> {
  return change(request, { kind: "restrict", isRestricted: request.isRestricted }, parts);
}

async function erase(request: EraseRequest, parts: ApiParts): Promise<PersonAnswer> {
  const { email, confirmation } = request;
  if (confirmation.trim().toLowerCase() !== email.trim().toLowerCase()) {
    throw new InvalidCall("Type the address itself to confirm.");
  }
  return change(request, { kind: "erase" }, parts);
}

async function change(
  { email, version }: { email: string; version: string },
  personChange: PersonChange,
  parts: ApiParts,
): Promise<PersonAnswer> {
  const result = await changePerson(email, personChange, { ...parts, now: parts.clock.now() }, version);
  if (result.outcome === "no-estimate") throw new InvalidCall("There is no estimate to remove.");
  return result;
}

async function showExportPart(query: ExportQuery, { store, clock }: ApiParts): Promise<ExportPart> {
  const { format, cursor = null } = query;
  const part = await exportPart({ filter: filterOf(query), format }, cursor, store);
  return { ...part, fileName: `messages-${dayOf(clock.now())}.${format}`, contentType: EXPORT_TYPE[format] };
}

async function changesOf(store: Store): Promise<Changes> {
  const counts = tabCounts(await store.countStates({}));
  return { token: `${await store.changeToken()}.${Object.values(counts).join(".")}`, counts };
}

async function waitForChanges(
  since: string | undefined,
  readChanges: () => Promise<Changes>,
  signal: AbortSignal,
): Promise<Changes> {
  const startedAtMs = performance.now();
  for (;;) {
    const changes = await readChanges();
    const isOver = performance.now() - startedAtMs >= CHANGES_WAIT_MS - CHANGES_INTERVAL_MS;
    if (changes.token !== since || isOver || signal.aborted) return changes;
    await sleep(CHANGES_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function toItem(message: StoredMessage, retention: Retention): MessageItem {
  const { reference, version, state, name, email, country, attempts, lastError, isRestricted } = message;
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
    stateChangedAt: message.stateChangedAt.toISOString(),
    dueAt: isoOf(message.dueAt),
    attempts,
    lastError,
    isRestricted,
    answeredAt: isoOf(message.answeredAt),
    keptUntil: isoOf(keptUntil(message, retention)),
    quarantineReason: message.quarantineReason,
    hook: (message.hook?.state ?? null) as MessageItem["hook"],
    refusals: refusalsOf(message),
  };
}

function toActionResult(result: TargetResult, retention: Retention): ActionResult {
  switch (result.outcome) {
    case "done":
      return { ...result, message: result.message && toItem(result.message, retention) };
    case "gone":
      return result;
    default:
      return { ...result, message: toItem(result.message, retention) };
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
