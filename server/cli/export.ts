import { defineCommand, UsageError } from "./command.ts";
import { toCsv } from "./csv.ts";
import { FILTER_DETAILS, FILTER_OPTIONS, readFilter } from "./list.ts";
import { messageJson } from "./message-json.ts";
import { visible, visibleJson } from "./visible-text.ts";

export const exportMessages = defineCommand({
  name: "export",
  usage: "[--csv | --json] [--state STATE] [--email EMAIL] [--since WHEN]",
  summary: "all messages, for a spreadsheet or a program",
  details: `  --csv           comma-separated, safe to open in a spreadsheet (the default)
  --json          JSON
${FILTER_DETAILS}`,
  operands: { least: 0, most: 0 },
  options: { ...FILTER_OPTIONS, csv: { type: "boolean" }, json: { type: "boolean" } },
  read(values) {
    if (values.csv && values.json) throw new UsageError("Choose one of --csv and --json");
    const filter = readFilter(values);
    return async ({ store, now, out, isTerminal }) => {
      const messages = (await store.list(filter(now))).map(messageJson);
      if (values.json) return out(`${visibleJson(messages)}\n`);
      // A file gets the words as they are; a terminal must not be steered by them.
      const shown = (text: string) => (isTerminal ? visible(text) : text);
      const rows = messages.map((message) => COLUMNS.map((column) => shown(toText(message[column]))));
      out(toCsv([COLUMNS, ...rows]));
    };
  },
});

const COLUMNS: readonly (keyof ReturnType<typeof messageJson>)[] = [
  ...([
    "reference",
    "state",
    "isRestricted",
    "acceptedAt",
    "stateChangedAt",
    "dueAt",
    "attempts",
    "lastError",
  ] as const),
  ...(["name", "email", "phone", "country", "message"] as const),
];

function toText(value: string | number | boolean | Date | null): string {
  if (value === null) return "";
  return value instanceof Date ? value.toISOString() : String(value);
}
