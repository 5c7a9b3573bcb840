import { HIDDEN_CHARACTER } from "../contract/text.ts";
import type { MessageFilter, Messages } from "../server/store/messages.ts";
import { eachPage, type MessageJson, messagesJson } from "./message-view.ts";

export type Fact = string | number | boolean | Date | null;

/** Add new ones at the end, so that programs that use column numbers still work. */
const COLUMNS = [
  "reference",
  "state",
  "isRestricted",
  "acceptedAt",
  "name",
  "email",
  "phone",
  "country",
  "message",
  "footprintKg",
  "quarantineReason",
  "lastError",
  "answeredAt",
  "expiresAt",
  "replies",
  "notes",
] as const;

function rowOf({ footprint, notes = [], replies = [], ...facts }: MessageJson): string[] {
  const lines = (entries: typeof notes) =>
    entries.map(({ at, author, text }) => `${at.toISOString()} ${author ?? "-"}: ${text}`).join("\n");
  const cells: Record<(typeof COLUMNS)[number], Fact> = {
    ...facts,
    footprintKg: footprint?.totalKg ?? null,
    notes: lines(notes),
    replies: lines(replies),
  };
  return COLUMNS.map((column) => cellText(cells[column]));
}

export function cellText(value: Fact): string {
  return value instanceof Date ? value.toISOString() : String(value ?? "");
}

/** Few enough for a small heap even if all messages are long. */
const MESSAGES_PER_PART = 250;

interface ExportOptions {
  filter: MessageFilter;
  format: "csv" | "json";
  /** For a terminal: applied to every cell of a CSV file, which then has no byte order mark. */
  show?: ((cell: string) => string) | undefined;
}

export async function* exportMessages(
  { filter, format, show }: ExportOptions,
  messages: Pick<Messages, "list" | "notes">,
): AsyncGenerator<string> {
  if (format === "csv") yield (show ? "" : BYTE_ORDER_MARK) + toCsv([COLUMNS]);
  let before = "[";
  for await (const page of eachPage(filter, MESSAGES_PER_PART, messages)) {
    const shown = await messagesJson(page, messages);
    if (format === "csv") yield toCsv(shown.map((message) => rowOf(message).map(show ?? String)));
    // Equals what `visibleJson` would write for all messages in one array.
    else yield before + visibleJson(shown).slice("[".length, -"\n]\n".length);
    before = ",";
  }
  if (format === "json") yield before === "[" ? "[]\n" : "\n]\n";
}

/** The value as JSON with a final line end, safe to print on a terminal. */
export function visibleJson(value: unknown): string {
  const escapeUnits = (hidden: string) =>
    hidden.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  // The only hidden characters that JSON.stringify itself writes are its line ends.
  const lines = JSON.stringify(value, null, 2).split("\n");
  return `${lines.map((line) => line.replaceAll(HIDDEN_CHARACTER, escapeUnits)).join("\n")}\n`;
}

/** Many spreadsheets read a file as UTF-8 only if it starts with this. */
const BYTE_ORDER_MARK = "\uFEFF";

/** RFC 4180, with an apostrophe before everything that a spreadsheet could run as a formula. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

/**
 * OWASP's advice on CSV injection: before a cell that starts with a tab, a line end or one of `=+-@` (also in full-width
 * and small forms), even after characters that spreadsheets skip. Some spreadsheets separate cells at `;`. There, a quote
 * in the middle of a row is plain text, so each `;`, tab and line end within our quotes starts a cell too.
 */
const FORMULA =
  /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=(?:(?![\t\r\n])[\s\p{Cc}\p{Cf}"])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B])/gu;

function toCell(text: string): string {
  const inert = text.replaceAll(FORMULA, "'");
  return /[",;\t\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
