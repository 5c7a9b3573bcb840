import { resolve } from "node:path";
import {
  type MessageCount,
  type MessageState,
  type Store,
  type StoredMessage,
  StoreUnavailable,
} from "../store/store.ts";
import {
  type Command,
  CommandFailed,
  defineCommand,
  flag,
  oneOf,
  text,
  UsageError,
  when,
  wholeNumber,
} from "./command.ts";
import { ageOf, bars, cut, plural, table, toCsv, visible, visibleJson, visibleLines } from "./output.ts";

const STATES: readonly MessageState[] = ["queued", "delivered", "failed", "quarantined"];
const FROM_WIDTH = 36;
const ERROR_WIDTH = 50;
const DAY_MS = 86_400_000;

const FILTER = {
  state: oneOf("STATE", STATES, "only messages in this state: queued, delivered, failed or quarantined"),
  email: text("EMAIL", "only messages from this e-mail address"),
  since: when("only messages accepted since then"),
};

const list = defineCommand({
  name: "list",
  summary: "list messages, newest first",
  options: {
    ...FILTER,
    limit: wholeNumber("show at most N messages (default 50)"),
    json: flag("print all fields, as JSON"),
  },
  async run({ options: { limit = 50, json, ...filter } }, { openStore, now, out }) {
    const store = await openStore();
    const messages = await store.list({ ...filter, limit });
    if (json) out(visibleJson(messages.map(messageJson)));
    else if (messages.length === 0) out("No messages.\n");
    else out(table([["STATE", "AGE", "REFERENCE", "FROM", "TRIES", "LAST ERROR"], ...messages.map(toRow)]));

    function toRow(message: StoredMessage): string[] {
      return [
        message.isRestricted ? `${message.state}, restricted` : message.state,
        ageOf(message.acceptedAt, now),
        message.reference,
        cut(visible(message.email), FROM_WIDTH),
        String(message.attempts),
        cut(visible(message.lastError ?? ""), ERROR_WIDTH),
      ];
    }
  },
});

const show = defineCommand({
  name: "show",
  summary: "show one message in full",
  argument: "REFERENCE",
  options: { json: flag("print it as JSON") },
  async run({ argument: reference, options }, { openStore, out }) {
    const { message: words, ...facts } = messageJson(await requireMessage(await openStore(), reference));
    if (options.json) return out(visibleJson({ ...facts, message: words }));
    const lines = Object.entries(facts).map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}`);
    out(`${lines.join("\n")}\n\n${visibleLines(words)}\n`);
  },
});

const retry = defineCommand({
  name: "retry",
  summary: "send a failed or queued message again, now",
  argument: "[REFERENCE]",
  options: { failed: flag("retry all failed messages, instead of the one named") },
  check({ argument: reference, options }) {
    if ((reference === "") === !options.failed) {
      throw new UsageError("Give one REFERENCE, or --failed for all failed messages");
    }
  },
  async run({ argument: reference }, { openStore, now, out }) {
    const store = await openStore();
    const count = await store.retry(reference === "" ? "failed" : { reference }, now);
    if (reference !== "" && count === 0) {
      const message = await requireMessage(store, reference);
      throw new CommandFailed(
        `${message.reference} is ${message.state}; only failed and queued messages can be retried`,
      );
    }
    out(`${plural(count, "message")} queued again.\n`);
  },
});

const release = defineCommand({
  name: "release",
  summary: "send a message that is in quarantine",
  argument: "REFERENCE",
  async run({ argument: reference }, { openStore, now, out }) {
    const store = await openStore();
    if ((await store.release({ reference }, now)) === 0) {
      const message = await requireMessage(store, reference);
      throw new CommandFailed(`${message.reference} is ${message.state}; only quarantined messages can be released`);
    }
    out(`${plural(1, "message")} released.\n`);
  },
});

const exportMessages = defineCommand({
  name: "export",
  summary: "print all messages for a spreadsheet or a program",
  options: { csv: flag("as CSV, safe to open in a spreadsheet (default)"), json: flag("as JSON"), ...FILTER },
  check({ options }) {
    if (options.csv && options.json) throw new UsageError("Choose one of --csv and --json");
  },
  async run({ options: { csv: _, json, ...filter } }, { openStore, out, isTerminal }) {
    const store = await openStore();
    const messages = (await store.list(filter)).map(messageJson);
    if (json) return out(visibleJson(messages));
    // A file gets the text as it is; a terminal must not be controlled by it.
    const printed = (cell: string) => (isTerminal ? visible(cell) : cell);
    const rows = messages.map((message) => CSV_COLUMNS.map((column) => printed(cellText(message[column]))));
    out(toCsv([CSV_COLUMNS, ...rows]));
  },
});

const stats = defineCommand({
  name: "stats",
  summary: "count waiting and failed messages, and all messages per day and country",
  options: {
    days: wholeNumber("count the messages of the last N days (default 30)", 3660),
    json: flag("print the counts per day and country, as JSON"),
  },
  async run({ options: { days = 30, json } }, { openStore, now, out }) {
    const store = await openStore();
    const today = Math.floor(now.getTime() / DAY_MS);
    const firstDay = today - days + 1;
    const counts = await store.countByDayAndCountry(new Date(firstDay * DAY_MS));
    if (json) return out(visibleJson(counts));
    const { queued, oldestQueuedAt, failed } = await store.queueDepth();
    const oldest = oldestQueuedAt ? ` (oldest: ${ageOf(oldestQueuedAt, now)})` : "";
    out(`Waiting to be delivered: ${queued}${oldest}. Failed: ${failed}.\n\n`);
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    if (total === 0) return out(`No messages in the last ${plural(days, "day")}.\n`);
    const perDay = sumBy(counts, ({ day }) => day);
    const dayNames = Array.from({ length: days }, (_, index) => dateOf(firstDay + index));
    const perCountry = [...sumBy(counts, ({ country }) => visible(country) || "not given")];
    out(`Messages per day (UTC), ${total} in total\n${bars(dayNames.map((day) => [day, perDay.get(day) ?? 0]))}\n`);
    out(`Messages per country\n${bars(perCountry.sort(([, a], [, b]) => b - a))}`);
  },
});

const backup = defineCommand({
  name: "backup",
  summary: "copy all messages to a file, while the server runs",
  argument: "FILE",
  notes: `  FILE must not exist yet. It becomes a SQLite database, also when the messages are in PostgreSQL. To look into it
  or to restore it, name it messages.db and set DATA_DIR to its folder, without DATABASE_URL. It contains personal
  data: protect it as you protect the database itself.`,
  async run({ argument: file }, { openStore, out }) {
    const store = await openStore();
    await store.backup(resolve(file)).catch((error: unknown) => {
      if (error instanceof StoreUnavailable || !(error instanceof Error)) throw error;
      const exists = "code" in error && error.code === "EEXIST";
      const reason = exists ? "already exists; choose another name" : `cannot be written: ${error.message}`;
      throw new CommandFailed(`${visible(file)} ${reason}`);
    });
    out(`All messages copied to ${visible(file)}.\n`);
  },
});

/** In the order of the help. */
export const messageCommands: readonly Command[] = [list, show, retry, release, exportMessages, stats, backup];

/** Everything stored about a message, under the names the contact form uses. */
export function messageJson(message: StoredMessage) {
  return {
    reference: message.reference,
    state: message.state,
    isRestricted: message.isRestricted,
    acceptedAt: message.acceptedAt,
    stateChangedAt: message.stateChangedAt,
    dueAt: message.dueAt,
    attempts: message.attempts,
    lastError: message.lastError,
    name: message.name,
    email: message.email,
    phone: message.phone,
    country: message.country,
    message: message.message,
  };
}

type MessageJson = ReturnType<typeof messageJson>;

const CSV_COLUMNS: readonly (keyof MessageJson)[] = [
  ...(["reference", "state", "isRestricted", "acceptedAt", "stateChangedAt", "dueAt"] as const),
  ...(["attempts", "lastError", "name", "email", "phone", "country", "message"] as const),
];

function cellText(value: MessageJson[keyof MessageJson]): string {
  if (value === null) return "";
  return value instanceof Date ? value.toISOString() : String(value);
}

async function requireMessage(store: Store, reference: string): Promise<StoredMessage> {
  const message = await store.find(reference);
  if (!message) throw new CommandFailed(`There is no message ${visible(reference)}; "list" shows all messages`);
  return message;
}

/** `acceptedAt` as `Accepted at`. */
function labelOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function shown(value: MessageJson[keyof MessageJson]): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return visible(cellText(value)) || "-";
}

/** The date of a day that is counted from 1970. */
function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function sumBy(counts: readonly MessageCount[], keyOf: (count: MessageCount) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const count of counts) sums.set(keyOf(count), (sums.get(keyOf(count)) ?? 0) + count.count);
  return sums;
}
