import type { ExportFormat } from "../../contract/inbox.ts";
import { HIDDEN_CHARACTER } from "../../contract/visible-text.ts";
import type { Delivery, Note, Store, StoredMessage } from "../store/store.ts";
import { readPage, type TabFilter } from "./messages.ts";

/** Everything stored about a message, under the names the contact form uses. */
export function messageJson(message: StoredMessage, notes: readonly Note[] = []) {
  const { mail, acknowledgement, hook } = message.deliveries;
  return {
    reference: message.reference,
    state: message.state,
    isRestricted: message.isRestricted,
    acceptedAt: message.acceptedAt,
    stateChangedAt: mail.changedAt,
    dueAt: mail.dueAt,
    attempts: mail.attempts,
    lastError: mail.error,
    expiresAt: message.expiresAt,
    answeredAt: message.answeredAt,
    quarantineReason: message.quarantineReason,
    acknowledgement: describeDelivery(acknowledgement),
    acknowledgedAt: deliveredAt(acknowledgement),
    hook: describeDelivery(hook),
    hookSentAt: deliveredAt(hook),
    name: message.name,
    email: message.email,
    phone: message.phone,
    country: message.country,
    message: message.message,
    ...(message.footprint && { footprint: message.footprint }),
    ...(notes.length > 0 && { notes }),
  };
}

/** Of several messages, with their notes. */
export async function messagesJson(
  messages: readonly StoredMessage[],
  store: Pick<Store, "notes">,
): Promise<MessageJson[]> {
  const notes = await store.notes(messages.map(({ reference }) => reference));
  return messages.map((message) => messageJson(message, notes.get(message.reference)));
}

/** The state and, after a colon, why it is so, such as `skipped: address-limit`. */
function describeDelivery(delivery: Delivery | undefined): string | null {
  if (delivery === undefined) return null;
  const { state, error } = delivery;
  return error === null ? state : `${state}: ${error}`;
}

function deliveredAt(delivery: Delivery | undefined): Date | null {
  return delivery?.state === "delivered" ? delivery.changedAt : null;
}

export type MessageJson = ReturnType<typeof messageJson>;

/** What a cell shows. */
export type Fact = string | number | boolean | Date | null;

/** Of a CSV file. New ones come last, so that programs that count columns go on working. */
const COLUMNS = [
  "reference",
  "state",
  "isRestricted",
  "acceptedAt",
  "stateChangedAt",
  "dueAt",
  "attempts",
  "lastError",
  "answeredAt",
  "quarantineReason",
  "name",
  "email",
  "phone",
  "country",
  "message",
  "footprintKg",
  "footprintInputs",
  "footprintFactors",
  "acknowledgement",
  "acknowledgedAt",
  "hook",
  "hookSentAt",
  "notes",
  "expiresAt",
] as const;

function rowOf({ footprint, notes = [], ...facts }: MessageJson): string[] {
  const cells: Readonly<Record<(typeof COLUMNS)[number], Fact>> = {
    ...facts,
    footprintKg: footprint?.totalKg ?? null,
    footprintInputs: Object.entries(footprint?.inputs ?? {})
      .map(([field, value]) => `${field}=${value}`)
      .join(" "),
    footprintFactors: footprint?.factorSet ?? null,
    notes: notes.map(({ at, author, text }) => `${at.toISOString()} ${author ?? "-"}: ${text}`).join("\n"),
  };
  return COLUMNS.map((column) => cellText(cells[column]));
}

export function cellText(value: Fact): string {
  return value instanceof Date ? value.toISOString() : String(value ?? "");
}

/** Few enough to fit into a small heap however long they are, many enough that the file is written quickly. */
const MESSAGES_PER_PART = 250;

interface ExportOptions {
  filter: TabFilter;
  format: ExportFormat;
  /** For a terminal: every cell of a CSV file goes through it, and there is no byte order mark. */
  show?: ((cell: string) => string) | undefined;
}

/** The file, part by part. It holds each message that was there at the beginning once, whatever arrives meanwhile. */
export async function* exportMessages(
  options: ExportOptions,
  store: Pick<Store, "list" | "notes">,
): AsyncGenerator<string> {
  let cursor: string | null = null;
  do {
    const { text, nextCursor } = await exportPart(options, cursor, store);
    yield text;
    cursor = nextCursor;
  } while (cursor !== null);
}

/** One part of the file; the first one without a cursor. */
export async function exportPart(
  { filter, format, show }: ExportOptions,
  cursor: string | null,
  store: Pick<Store, "list" | "notes">,
): Promise<{ text: string; count: number; nextCursor: string | null }> {
  const { messages, nextCursor } = await readPage(filter, MESSAGES_PER_PART, cursor, store);
  const position = { isFirst: cursor === null, isLast: nextCursor === null };
  const json = await messagesJson(messages, store);
  const text = format === "csv" ? csvPart(json, position, show) : jsonPart(json, position);
  return { text, count: messages.length, nextCursor };
}

interface Position {
  isFirst: boolean;
  isLast: boolean;
}

function csvPart(messages: readonly MessageJson[], { isFirst }: Position, show?: ExportOptions["show"]): string {
  const rows = messages.map((json) => rowOf(json).map(show ?? String));
  return (isFirst && !show ? BYTE_ORDER_MARK : "") + toCsv(isFirst ? [COLUMNS, ...rows] : rows);
}

/** All parts together are what `visibleJson` makes of all messages. */
function jsonPart(messages: readonly MessageJson[], { isFirst, isLast }: Position): string {
  const items = visibleJson(messages)
    .replace(/^\[\n?/, "")
    .replace(/\n?\]\n$/, "");
  if (items === "") return (isFirst ? "[" : "") + (isLast ? (isFirst ? "]\n" : "\n]\n") : "");
  return (isFirst ? "[\n" : ",\n") + items + (isLast ? "\n]\n" : "");
}

export const EXPORT_TYPE: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
};

/** JSON of the value, safe to show, with a line end. */
export function visibleJson(value: unknown): string {
  const escapeUnits = (hidden: string) =>
    [...Array(hidden.length).keys()]
      .map((index) => `\\u${hidden.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join("");
  // The only hidden characters that JSON.stringify itself writes are its line ends.
  const lines = JSON.stringify(value, null, 2).split("\n");
  return `${lines.map((line) => line.replaceAll(HIDDEN_CHARACTER, escapeUnits)).join("\n")}\n`;
}

/** Without it at the start of a file, many spreadsheets do not read the file as UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * RFC 4180: CRLF between rows, quotes where they are needed. Opening the file in a spreadsheet runs nothing that a
 * visitor wrote: whatever could be taken for a formula gets an apostrophe before it.
 */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

/**
 * The places before what a spreadsheet may take for a formula, by OWASP's advice on CSV injection: before a cell that
 * starts with a tab, a line end or one of `=+-@`, their full-width and small forms included, also after characters that
 * spreadsheets skip. Where spreadsheets separate cells at `;`, a quote in the middle of a row is plain text, and each
 * `;`, tab and line end within our quotes starts a cell.
 */
const FORMULA =
  /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=(?:(?![\t\r\n])[\s\p{Cc}\p{Cf}"])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B])/gu;

function toCell(text: string): string {
  const inert = text.replaceAll(FORMULA, "'");
  return /[",;\t\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
