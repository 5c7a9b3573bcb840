import { formatDuration } from "../../contract/duration.ts";
import type { MessageState, StoredMessage } from "../store/store.ts";
import { defineCommand, UsageError } from "./command.ts";
import { messageJson } from "./message-json.ts";
import { parseMoment } from "./moment.ts";
import { cut, table } from "./table.ts";
import { visible, visibleJson } from "./visible-text.ts";

const STATES: readonly MessageState[] = ["queued", "delivered", "failed", "quarantined"];
const FROM_WIDTH = 36;
const ERROR_WIDTH = 50;

/** Shared by `list` and `export`. */
export const FILTER_OPTIONS = {
  state: { type: "string" },
  email: { type: "string" },
  since: { type: "string" },
} as const;

export const FILTER_DETAILS = `  --state STATE   only queued, delivered, failed or quarantined ones
  --email EMAIL   only those from this address
  --since WHEN    only those accepted since a day (2025-01-31) or for so long (7d, 12h)`;

export function readFilter(values: { state?: string; email?: string; since?: string }) {
  const state = STATES.find((known) => known === values.state);
  if (values.state !== undefined && !state) {
    throw new UsageError(`"${values.state}" is not a state; it is one of ${STATES.join(", ")}`);
  }
  const { since, email } = values;
  if (since !== undefined) parseMoment(since, new Date(0));
  return (now: Date) => ({
    ...(state && { state }),
    ...(email !== undefined && { email }),
    ...(since !== undefined && { since: parseMoment(since, now) }),
  });
}

export const list = defineCommand({
  name: "list",
  usage: "[--state STATE] [--email EMAIL] [--since WHEN] [--limit N] [--json]",
  summary: "messages, newest first",
  details: `${FILTER_DETAILS}
  --limit N       at most so many (50)
  --json          everything about each, as JSON`,
  operands: { least: 0, most: 0 },
  options: { ...FILTER_OPTIONS, limit: { type: "string" }, json: { type: "boolean" } },
  read(values) {
    const filter = readFilter(values);
    const limit = Number(values.limit ?? "50");
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit takes a number; e.g. --limit 200");
    return async ({ store, now, out }) => {
      const messages = await store.list({ ...filter(now), limit });
      if (values.json) out(`${visibleJson(messages.map(messageJson))}\n`);
      else if (messages.length === 0) out("No messages.\n");
      else out(table([["STATE", "AGE", "REFERENCE", "FROM", "TRIES", "LAST ERROR"], ...messages.map(toRow(now))]));
    };
  },
});

function toRow(now: Date) {
  return (message: StoredMessage): string[] => [
    message.isRestricted ? `${message.state}, restricted` : message.state,
    formatDuration(now.getTime() - message.acceptedAt.getTime()),
    message.reference,
    cut(visible(message.email), FROM_WIDTH),
    String(message.attempts),
    cut(visible(message.lastError ?? ""), ERROR_WIDTH),
  ];
}
