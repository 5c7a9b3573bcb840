import { HIDDEN_CHARACTER } from "../../contract/visible-text.ts";
import type { MessageFilter, Store } from "../store/store.ts";
import { eachPage, type MessageJson, messagesJson } from "./messages.ts";

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
  "reply",
  "repliedAt",
  "replies",
  "taught",
] as const;

function rowOf({ footprint, notes = [], replies = [], ...facts }: MessageJson): string[] {
  const lines = (entries: typeof notes) =>
    entries.map(({ at, author, text }) => `${at.toISOString()} ${author ?? "-"}: ${text}`).join("\n");
  const cells: Readonly<Record<(typeof COLUMNS)[number], Fact>> = {
    ...facts,
    footprintKg: footprint?.totalKg ?? null,
    footprintInputs: Object.entries(footprint?.inputs ?? {})
      .map(([field, value]) => `${field}=${value}`)
      .join(" "),
    footprintFactors: footprint?.factorSet ?? null,
    notes: lines(notes),
    replies: lines(replies),
  };
  return COLUMNS.map((column) => cellText(cells[column]));
}

export function cellText(value: Fact): string {
  return value instanceof Date ? value.toISOString() : String(value ?? "");
}

/** Few enough to fit into a small heap however long they are, many enough that the file is written quickly. */
const MESSAGES_PER_PART = 250;

export type ExportFormat = "csv" | "json";

interface ExportOptions {
  filter: MessageFilter;
  format: ExportFormat;
  /** For a terminal: every cell of a CSV file goes through it, and there is no byte order mark. */
  show?: ((cell: string) => string) | undefined;
}

/** The file, part by part. It holds each message that was there at the beginning once, whatever arrives meanwhile. */
export async function* exportMessages(
  { filter, format, show }: ExportOptions,
  store: Pick<Store, "list" | "notes">,
): AsyncGenerator<string> {
  if (format === "csv") yield (show ? "" : BYTE_ORDER_MARK) + toCsv([COLUMNS]);
  let before = "[";
  for await (const page of eachPage(filter, MESSAGES_PER_PART, store)) {
    const messages = await messagesJson(page, store);
    if (format === "csv") yield toCsv(messages.map((message) => rowOf(message).map(show ?? String)));
    // As `visibleJson` writes all messages in one array.
    else yield before + visibleJson(messages).slice("[".length, -"\n]\n".length);
    before = ",";
  }
  if (format === "json") yield before === "[" ? "[]\n" : "\n]\n";
}

export const EXPORT_TYPE: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
};

/** JSON of the value, safe to show, with a line end. */
export function visibleJson(value: unknown): string {
  const escapeUnits = (hidden: string) =>
    hidden.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
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
