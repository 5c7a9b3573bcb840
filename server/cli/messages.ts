import { resolve } from "node:path";
import { describeInputs, estimateNotes, type FootprintEstimate } from "../../contract/footprint.ts";
import { formatMass, formatTotal } from "../../contract/footprint-fields.ts";
import { type Action, MAX_NOTE_LENGTH } from "../../contract/inbox.ts";
import { CHANNEL_NAME, eventDetail, eventName } from "../../contract/message-history.ts";
import { plural } from "../../contract/plural.ts";
import { visible, visibleLines } from "../../contract/visible-text.ts";
import { channelsOf } from "../config.ts";
import { OperatorError } from "../log.ts";
import { actOn, actOnAll, retryQueued, stateOf } from "../operator/actions.ts";
import { cellText, exportMessages, type Fact, messageJson, messagesJson, visibleJson } from "../operator/export.ts";
import { readHistory } from "../operator/messages.ts";
import { countPeriod, readStatus } from "../operator/statistics.ts";
import { refusalOf } from "../store/rules.ts";
import {
  type MessageState,
  type Store,
  type StoredEvent,
  type StoredMessage,
  StoreUnavailable,
} from "../store/store.ts";
import {
  type Command,
  type CommandContext,
  defineCommand,
  flag,
  isConfirmed,
  oneOf,
  text,
  UsageError,
  when,
  wholeNumber,
} from "./command.ts";
import { ageOf, bars, cut, table, widthOf } from "./output.ts";

const STATES: readonly MessageState[] = ["queued", "delivered", "failed", "quarantined"];
const LIST_WIDTH = 120;
/** Of a text that is cut to fit into a column anyway. */
const LONGEST_EXCERPT = 400;

const FILTER = {
  state: oneOf("STATE", STATES, "only messages in this state: queued, delivered, failed or quarantined"),
  email: text("EMAIL", "only messages from this e-mail address"),
  since: when("only messages accepted since then"),
  unanswered: flag("only messages that are not marked as answered, without those in quarantine"),
  search: text("WORDS", "only messages with these words in their name, address, phone number, reference or text"),
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
    if (json) out(visibleJson(await messagesJson(messages, store)));
    else if (messages.length === 0) out("No messages.\n");
    else out(messageTable(messages, now));
  },
});

/** Attempts and errors are shown only where there are errors, the hook only where it is used. */
function messageTable(messages: readonly StoredMessage[], now: Date): string {
  const hasErrors = messages.some(({ deliveries }) => deliveries.mail.error !== null);
  const hasHook = messages.some(({ deliveries }) => deliveries.hook !== undefined);
  const fromWidth = hasErrors ? 30 : 40;
  const heading = ["STATE", ...(hasHook ? ["HOOK"] : []), "AGE", "REFERENCE", "FROM", "MESSAGE"];
  const rows = messages.map((message) => {
    const { mail, hook: post } = message.deliveries;
    const hook = hasHook ? [post?.state ?? ""] : [];
    const age = ageOf(message.acceptedAt, now);
    const row = [stateOf(message), ...hook, age, message.reference, sender(message, fromWidth)];
    const text = excerpt(message.message);
    return hasErrors ? [...row, cut(text, 18), String(mail.attempts), excerpt(mail.error ?? "")] : [...row, text];
  });
  // An error is never cut: its end is often what says why.
  return hasErrors ? table([[...heading, "TRIES", "LAST ERROR"], ...rows]) : table([heading, ...rows], LIST_WIDTH);
}

/** `name <address>`. A long name is cut first, so that it cannot hide the address. */
function sender({ name, email }: StoredMessage, width: number): string {
  const shownName = visible(name);
  const address = `<${cut(visible(email), width - 3 - Math.min(8, widthOf(shownName)))}>`;
  return `${cut(shownName, width - 1 - widthOf(address))} ${address}`;
}

/** The beginning, on one line. */
function excerpt(text: string): string {
  return visible(text.slice(0, LONGEST_EXCERPT).replaceAll(/\s+/g, " "));
}

const show = defineCommand({
  name: "show",
  summary: "show one message in full",
  argument: "REFERENCE",
  options: { json: flag("print it as JSON") },
  async run({ argument: reference, options }, { openStore, out }) {
    const store = await openStore();
    const message = await requireMessage(store, reference);
    if (options.json) return out(visibleJson((await messagesJson([message], store))[0]));
    const { message: text, footprint, notes: _, ...facts } = messageJson(message);
    const lines = Object.entries(facts).map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}`);
    const estimate = footprint ? `${estimateText(footprint)}\n` : "";
    const history = (await readHistory(message, store)).map(historyLine);
    out(`${lines.join("\n")}\n\n${estimate}${visibleLines(text)}\n\nHistory:\n${history.join("\n")}\n`);
  },
});

function historyLine({ at, kind, channel, detail, author }: StoredEvent): string {
  const reason = detail === null ? "" : `: ${visible(eventDetail(kind, detail))}`;
  const name = eventName(kind, channel);
  return `  ${at.toISOString()}  ${author === null ? name : `${name} by ${visible(author)}`}${reason}`;
}

function estimateText(footprint: FootprintEstimate): string {
  const rows = describeInputs(footprint).map(({ label, value, kg }) => [`  ${label}`, value, formatMass(kg)]);
  const notes = estimateNotes(footprint).map((note) => `  ${note}\n`);
  return `Footprint estimate: ${formatTotal(footprint.totalKg)}\n${table(rows)}${notes.join("")}`;
}

/** A check of a command that is for one message, or for all that one of its options names. */
function onlyOne(problem: string): (input: { argument: string; options: object }) => void {
  return ({ argument, options }) => {
    if ([argument, ...Object.values(options)].filter(Boolean).length !== 1) throw new UsageError(problem);
  };
}

const retry = defineCommand({
  name: "retry",
  summary: "send a failed or queued message again, now; also its post to HOOK_URL and its acknowledgement",
  argument: "[REFERENCE]",
  options: {
    failed: flag("retry all failed messages, instead of the one named"),
    queued: flag("make all queued messages that wait for a later attempt due within a minute"),
  },
  check: onlyOne("Give one REFERENCE, or --failed for all failed messages, or --queued for all that wait"),
  async run(input, context) {
    if (!input.options.queued) return act("retry", "queued again", input, context);
    const { openStore, out } = context;
    out(`${plural(await retryQueued({ store: await openStore() }), "message")} due within a minute.\n`);
  },
});

const release = defineCommand({
  name: "release",
  summary: "send messages that are in quarantine",
  argument: "[REFERENCE]",
  options: {
    all: flag("release all messages in quarantine"),
    since: when("release all messages accepted since then"),
  },
  check: onlyOne("Give one REFERENCE, or --since WHEN, or --all for all messages in quarantine"),
  run: (input, context) => act("release", "released", input, context),
});

const resend = defineCommand({
  name: "resend",
  summary: "send delivered messages once more, e.g. after a wrong MAIL_TO or a lost mailbox",
  argument: "[REFERENCE]",
  options: { since: when("resend all delivered messages accepted since then") },
  notes: `  The e-mail has the same Message-ID as the first time: a mailbox that still has the first one may not show it twice.
  To send a failed message, use "retry"; to send one in quarantine, use "release".`,
  check: onlyOne("Give one REFERENCE, or --since WHEN"),
  run: (input, context) => act("resend", "queued again", input, context),
});

const deleteMessage = defineCommand({
  name: "delete",
  summary: "delete one message, e.g. spam",
  argument: "REFERENCE",
  options: { yes: flag("do not ask for confirmation") },
  notes: `  Also removes its .eml file in DATA_DIR/outbox. When a person asks for erasure, use "privacy erase": it removes all
  messages from an address, and every trace of them in the database's files.`,
  async run({ argument: reference, options }, context) {
    const { openStore, out } = context;
    const message = await requireMessage(await openStore(), reference);
    const refusal = refusalOf("delete", message, context.now);
    if (refusal !== null) throw refused(refusal, message, context);
    const question = `Permanently delete ${message.reference} (${message.state}) from ${sender(message, LIST_WIDTH)}?`;
    if (!(await isConfirmed(question, options.yes, context))) return out("Nothing was deleted.\n");
    const files = await actOnOne("delete", reference, context);
    out(`1 message and ${plural(files, ".eml file")} deleted.\n`);
    out(`If a person asked for this, also run: ${context.program} privacy erase EMAIL\n`);
  },
});

const answered = defineCommand({
  name: "answered",
  summary: "mark a message as answered",
  argument: "REFERENCE",
  options: { undo: flag("remove the mark") },
  run: (input, context) =>
    input.options.undo
      ? act("unanswer", "marked as unanswered", input, context)
      : act("answer", "marked as answered", input, context),
});

const note = defineCommand({
  name: "note",
  summary: "write a note on a message, for whoever reads it next",
  argument: "REFERENCE TEXT",
  options: { name: text("NAME", "sign it with this name (default: the name of your account)") },
  notes: `  Notes are in the message's history and in exports, also in those that a person may ask for, and are erased with it.`,
  check({ more: [content = ""] }) {
    if (content.trim() === "")
      throw new UsageError('Give the text of the note in quotes; e.g. "Called back, wants an offer"');
    if (content.length > MAX_NOTE_LENGTH) throw new UsageError(`A note has at most ${MAX_NOTE_LENGTH} characters`);
  },
  async run({ argument: reference, more: [content = ""], options: { name } }, { openStore, out, account }) {
    const store = await openStore();
    const isAdded = await store.addNote(reference, content.trim(), name ?? account, await store.time());
    if (!isAdded) throw noMessage(reference);
    out("1 note added.\n");
  },
});

const exportAll = defineCommand({
  name: "export",
  summary: "print all messages for a spreadsheet or a program",
  notes: `  CSV is UTF-8 and has an apostrophe before whatever a spreadsheet could take for a formula. For the exact text, use
  --json.`,
  options: { csv: flag("as CSV, safe to open in a spreadsheet (default)"), json: flag("as JSON"), ...FILTER },
  check({ options }) {
    if (options.csv && options.json) throw new UsageError("Choose one of --csv and --json");
  },
  async run({ options: { csv: _, json, ...filter } }, { openStore, out, isTerminal }) {
    const format = json ? "json" : "csv";
    // A file gets the text as it is; a terminal must not be controlled by it.
    const show = isTerminal ? visible : undefined;
    for await (const text of exportMessages({ filter, format, show }, await openStore())) await out(text);
  },
});

const stats = defineCommand({
  name: "stats",
  summary: "count waiting, failed and quarantined messages, and all messages per day and country",
  options: {
    days: wholeNumber("count the messages of the last N days (default 30)", 3660),
    json: flag("print the counts per day and country, as JSON"),
  },
  async run({ options: { days = 30, json } }, { openStore, readConfig, out, program }) {
    const store = await openStore();
    const { counts, total, perDay, perCountry } = await countPeriod(days, await store.time(), store);
    if (json) return out(visibleJson(counts));
    const config = readConfig();
    const status = await readStatus({ store, dataDir: config.dataDir, program, channels: channelsOf(config) });
    const { now, website, waiting, failed, quarantined, lastBackupAt, troubles } = status;
    const oldest = waiting.oldestAt ? ` (oldest: ${ageOf(waiting.oldestAt, now)})` : "";
    const unseen = quarantined.unseen > 0 ? ` (${quarantined.unseen} not opened yet)` : "";
    out(`${websiteLine(website, now)}\n`);
    out(`Waiting to be delivered: ${waiting.count}${oldest}. Failed: ${failed.count}.\n`);
    out(`In quarantine: ${quarantined.count}${unseen}.\n`);
    for (const channel of ["acknowledgement", "hook"] as const) {
      const { delivered, skipped, failed, queued } = await store.countChannel(channel);
      if (delivered + skipped + failed + queued === 0) continue;
      out(`${CHANNEL_NAME[channel]}: ${delivered} sent, ${queued} waiting, ${failed} failed, ${skipped} skipped.\n`);
    }
    if (lastBackupAt) out(`Last backup: ${lastBackupAt.toISOString()} (${ageOf(lastBackupAt, now)} ago).\n`);
    out(troubles.length === 0 ? "Nothing is wrong.\n" : "\nNeeds somebody:\n");
    for (const { what, remedy } of troubles) out(`- ${visible(`${what}. ${remedy}`)}.\n`);
    out("\n");
    if (total === 0) return out(`No messages in the last ${plural(days, "day")}.\n`);
    out(`Messages per day (UTC), ${total} in total\n${bars(perDay.map(({ day, count }) => [day, count]))}\n`);
    const countries = perCountry.map(({ country, count }) => [visible(country) || "not given", count] as const);
    out(`Messages per country\n${bars(countries)}`);
  },
});

/** The site's server leaves a sign of life in the database once a minute. */
function websiteLine({ isRunning, lastSeenAt }: Awaited<ReturnType<Store["website"]>>, now: Date): string {
  if (isRunning) return "Website: running.";
  return lastSeenAt === null
    ? "Website: not running."
    : `Website: not running since ${lastSeenAt.toISOString()} (${ageOf(lastSeenAt, now)} ago).`;
}

const backup = defineCommand({
  name: "backup",
  summary: "copy all messages to a file, while the server runs",
  argument: "FILE",
  notes: `  FILE must not exist yet. It becomes a SQLite database, also when the messages are in PostgreSQL. To look into it
  or to restore it, name it messages.db and set DATA_DIR to its folder, without DATABASE_URL. It contains personal
  data: protect it as you protect the database itself.`,
  async run({ argument: file }, { openStore, out }) {
    const store = await openStore();
    await store.backup(resolve(file), await store.time()).catch((error: unknown) => {
      if (error instanceof StoreUnavailable || !(error instanceof Error)) throw error;
      const exists = "code" in error && error.code === "EEXIST";
      const reason = exists ? "already exists; choose another name" : `cannot be written: ${error.message}`;
      throw new OperatorError(`${visible(file)} ${reason}`);
    });
    out(`All messages copied to ${visible(file)}.\n`);
  },
});

/** In the order of the help. */
export const messageCommands: readonly Command[] = [
  list,
  show,
  answered,
  note,
  retry,
  release,
  resend,
  deleteMessage,
  exportAll,
  stats,
  backup,
];

async function requireMessage(store: Store, reference: string): Promise<StoredMessage> {
  const message = await store.find(reference);
  if (!message) throw noMessage(reference);
  return message;
}

function noMessage(reference: string): OperatorError {
  return new OperatorError(`There is no message ${visible(reference)}; "list" shows all messages`);
}

/** Does it to the one message, or without a reference to all, or to all since then, and prints their number. */
async function act(
  action: Exclude<Action, "delete">,
  done: string,
  { argument: reference, options }: { argument: string; options: { since?: Date; [other: string]: unknown } },
  context: CommandContext,
): Promise<void> {
  const { openStore, out } = context;
  if (reference !== "") await actOnOne(action, reference, context);
  const since = options.since ?? new Date(0);
  const count = reference === "" ? await actOnAll(action, since, { store: await openStore() }) : 1;
  out(`${plural(count, "message")} ${done}.\n`);
}

/** Does it to one message, or fails with the reason why that is not possible. Returns how many files went with it. */
async function actOnOne(action: Action, reference: string, context: CommandContext): Promise<number> {
  const { openStore, readConfig } = context;
  const desk = { store: await openStore(), dataDir: readConfig().dataDir };
  const { results, files } = await actOn(action, [{ reference }], desk);
  const [result] = results;
  if (result?.outcome === "gone") throw noMessage(reference);
  if (result?.outcome === "refused") throw refused(result.reason, result.message, context);
  return files;
}

function refused(reason: string, { isRestricted }: StoredMessage, { program }: CommandContext): OperatorError {
  // EMAIL, not the address itself: a command that is copied into a shell must not contain what a visitor wrote.
  const hint = `; to end that: ${program} privacy restrict EMAIL --lift`;
  return new OperatorError(reason + (isRestricted ? hint : ""));
}

/** `acceptedAt` as `Accepted at`. */
function labelOf(name: string): string {
  const label = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, "");
  return label.charAt(0).toUpperCase() + label.slice(1);
}

function shown(value: Fact): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return visible(cellText(value)) || "-";
}
