import { access, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import type { Advice } from "../../../contract/commands.ts";
import { parseDurationMs } from "../../../contract/duration.ts";
import type { FootprintEstimate } from "../../../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../../../contract/footprint/fields.ts";
import { describeInputs } from "../../../contract/footprint/words.ts";
import { describeWait } from "../../../contract/operator-limits.ts";
import { asSentence, capitalised, plural, visible, visibleLines } from "../../../contract/text.ts";
import { OperatorError } from "../../operator-error.ts";
import { type Action, type StoredMessage, stateOf } from "../../store/store.ts";
import { readOldErasures } from "../erasures.ts";
import { cellText, exportMessages, type Fact } from "../export.ts";
import { messageJson, messagesJson, type readDetail, viewerOf } from "../messages.ts";
import { FILTER } from "../operations.ts";
import type { readStatus } from "../status.ts";
import { addCommand, type Context, isConfirmed, JSON_OPTION, NAME_OPTION, YES_OPTION } from "./context.ts";
import { ageOf, cut, table } from "./output.ts";

/** The number of messages that `list` shows without --all. */
const LISTED = 50;

type Status = Awaited<ReturnType<typeof readStatus>>;

/** The options of all commands; absent if not given. */
interface Options {
  json?: true;
  yes?: true;
  state?: StoredMessage["state"];
  email?: string;
  since?: Date;
  search?: string;
  unanswered?: true;
}

/** Of a restore into a database that was never used. */
const NO_ERASURES =
  "No later erasures are known here: messages of people who were erased after the backup come back with it.";

const WHEN = "a date (2025-01-31), a time or an age (7d, 12h)";

const [SECONDS, MINUTES] = [{ offset: true }, { offset: true, precision: -1 }];
const TIME = z.union([z.iso.date(), z.iso.datetime(SECONDS), z.iso.datetime(MINUTES)]);

/** A date means midnight UTC. */
export function parseWhen(text: string): Date {
  const ageMs = parseDurationMs(text);
  if (ageMs !== undefined) return new Date(Date.now() - ageMs);
  if (TIME.safeParse(text).success) return new Date(text);
  throw new InvalidArgumentError("It is neither a date nor an age; e.g. 2025-01-31 or 7d.");
}

const FILTER_OPTIONS = [
  [
    "--state <STATE>",
    "only messages in this state: queued or failed (also by a reply, an acknowledgement or HOOK_URL), delivered or quarantined",
  ],
  ["--email <EMAIL>", "only messages from this email address"],
  ["--since <WHEN>", `only messages accepted since then: ${WHEN}`, parseWhen],
  ["--unanswered", "only messages that are not marked as answered and not in quarantine"],
  ["--search <WORDS>", "only messages with all of these words in the message, its notes or its replies"],
] as const;

function filterOf({ unanswered, state, email, since, search }: Options) {
  return { state, email, since, search, tab: unanswered ? ("unanswered" as const) : ("all" as const) };
}

export function addMessageCommands(root: Command, context: Context): void {
  addReadingCommands(root, context);
  addAnsweringCommands(root, context);
  addSendingCommands(root, context);
  addCopyingCommands(root, context);
}

/** Commands that show messages. */
function addReadingCommands(root: Command, context: Context): void {
  const { openDesk, call, print } = context;
  const add = addCommand.bind(null, root);

  add("list", "list messages, newest first", [
    ...FILTER_OPTIONS,
    ["--all", `list all messages, not only the newest ${LISTED}`],
    JSON_OPTION,
  ]).action(async ({ all, ...options }: Options & { all?: true }) => {
    const { store } = await openDesk();
    const filter = FILTER.parse(filterOf(options));
    const messages = await store.messages.list(all ? filter : { ...filter, limit: LISTED });
    const total = (await store.messages.countTabs(filter))[filter.tab];
    const rest = messages.length < total ? `${messages.length} of ${total}; --all shows the rest.\n` : "";
    const text =
      messages.length === 0
        ? "No messages.\n"
        : messageTable(messages.map(await viewerOf(messages, store)), await store.status.time()) + rest;
    return print(options, await messagesJson(messages, store.messages), text);
  });

  add("show <REFERENCE>", "show one message in full", [JSON_OPTION]).action(
    async (reference: string, options: Options) => {
      const detail = await (await call()).message({ reference });
      const [json = {}] = await messagesJson([detail], (await openDesk()).store.messages);
      return print(options, json, detailText(detail));
    },
  );
}

/** Commands for people who answer messages. */
function addAnsweringCommands(root: Command, context: Context): void {
  const { err, call, print } = context;
  const add = addCommand.bind(null, root);
  const act = actWith(context);

  const undo = ["--undo", "remove the mark"] as const;
  add("answered <REFERENCE...>", "mark messages as answered", [undo, JSON_OPTION]).action(
    (references: string[], options: Options & { undo?: true }) =>
      options.undo
        ? act("unanswer", references, "marked as unanswered", options)
        : act("answer", references, "marked as answered", options),
  );

  add(
    "reply <REFERENCE>",
    "reply to a message by email, with the message quoted below the text",
    [
      ["--file <FILE>", "the text of the reply (default: standard input)"],
      ["--subject <TEXT>", "its subject (default: Re: Your message, with the reference)"],
      NAME_OPTION,
      JSON_OPTION,
    ],
    "The server sends it, and marks the message as answered once the reply is delivered.",
  ).action(
    async (
      reference: string,
      { file, subject, name, ...options }: Options & Partial<Record<"file" | "subject" | "name", string>>,
    ) => {
      const calls = await call({ name });
      if (file === undefined && context.ask) err("Type the reply, and end it with Ctrl-D:\n");
      const text =
        file === undefined ? await context.readInput() : await readFile(file, "utf8").catch(unreadable(file));
      const { wait = null } = await calls.reply({ reference, subject, text });
      const when = wait ? describeWait(wait, (at) => at.toISOString()) : "Sent";
      return print(options, { replies: 1 }, `1 reply stored. ${asSentence(when)}\n`);
    },
  );
}

/** Commands that decide whether messages are sent and kept. */
function addSendingCommands(root: Command, context: Context): void {
  const { out, program, openDesk, call, print } = context;
  const add = addCommand.bind(null, root);
  const act = actWith(context);

  /** Acts on the given messages, or on all messages that an option selects. */
  const actOnSome =
    (action: "retry" | "release", done: string, choices: string) =>
    async (references: string[], { json, ...choice }: Options, command: Command) => {
      const given = [references.length > 0, ...Object.values(choice)].filter(Boolean).length;
      if (given !== 1) command.error(`Give REFERENCE..., or ${choices}`);
      if (references.length > 0) return act(action, references, done, { json });
      const isQueued = "queued" in choice;
      const calls = await call();
      const messages = isQueued ? await calls.retryQueued() : await calls.actOnAll({ action, since: choice.since });
      const text = `${plural(messages, "message")} ${isQueued ? "due within a minute" : done}.\n`;
      return print({ json }, { messages }, text);
    };

  const since = (verb: string) =>
    ["--since <WHEN>", `${verb} messages accepted since then: ${WHEN}`, parseWhen] as const;
  add(
    "retry [REFERENCE...]",
    "send failed or queued messages now, with their posts to HOOK_URL, acknowledgements and replies",
    [["--failed", "retry all failed messages"], ["--queued", "retry all queued messages within a minute"], JSON_OPTION],
  ).action(actOnSome("retry", "queued again", "--failed for all failed messages, or --queued for all queued messages"));

  add("release [REFERENCE...]", "send messages that are in quarantine", [
    ["--all", "release all messages in quarantine"],
    since("release all"),
    JSON_OPTION,
  ]).action(actOnSome("release", "released", "--since WHEN, or --all for all messages in quarantine"));

  add(
    "spam <REFERENCE...>",
    "mark messages as spam: they go into quarantine, and the spam filter learns from them",
    [JSON_OPTION],
    `To undo this, use "release": it delivers the messages, and the filter learns that they are good.`,
  ).action((references: string[], options: Options) => act("spam", references, "marked as spam", options));

  add(
    "delete <REFERENCE...>",
    "delete messages, e.g. spam",
    [YES_OPTION, JSON_OPTION],
    `Also removes their .eml files in DATA_DIR/outbox. When a person asks for erasure, use "privacy erase": it removes all
messages from an address, and every trace of them in the database's files.`,
  ).action(async (references: string[], options: Options) => {
    const found = await (await openDesk()).store.messages.list({ references });
    const names = found.map((message) => `${message.reference} (${message.state}) from ${senderOf(message)}`);
    const question = `Permanently delete ${names.join(", ")}?`;
    if (found.length > 0 && !(await isConfirmed(question, options.yes, context))) return out("Nothing was deleted.\n");
    await act("delete", references, "deleted", options);
    if (!options.json) return out(`If a person asked for this, also run: ${program} privacy erase EMAIL\n`);
  });
}

/** Commands about all messages: exports, figures and backups. */
function addCopyingCommands(root: Command, context: Context): void {
  const { out, openDesk, call, print } = context;
  const add = addCommand.bind(null, root);

  add(
    "export",
    "print all messages for a spreadsheet or a program",
    [["--csv", "as CSV, safe to open in a spreadsheet (default)"], ["--json", "as JSON"], ...FILTER_OPTIONS],
    `CSV is UTF-8, with an apostrophe before text that a spreadsheet could run as a formula. For the exact text, use --json.`,
  ).action(async (options: Options & { csv?: true }, command: Command) => {
    if (options.csv && options.json) command.error("Choose one of --csv and --json");
    const filter = FILTER.parse(filterOf(options));
    const format = options.json ? "json" : "csv";
    // A file contains the text unchanged; on a terminal, control characters must not take effect.
    const show = context.isTerminal ? visible : undefined;
    for await (const text of exportMessages({ filter, format, show }, (await openDesk()).store.messages))
      await out(text);
  });

  add("stats", "show what is wrong, and how many messages there are", [JSON_OPTION]).action(
    async (options: Options) => {
      const status = await (await call()).status();
      return print(options, status, statsText(status));
    },
  );

  add(
    "backup <FILE>",
    "copy all messages to a new file; the server may keep running",
    [JSON_OPTION],
    `FILE becomes a SQLite database, even if the messages are in PostgreSQL; "restore" reads it. It contains personal
data: protect it as you protect the database itself.`,
  ).action(async (file: string, options: Options) => {
    await (await call()).backup({ file });
    return print(options, { file }, `All messages copied to ${visible(file)}.\n`);
  });

  add(
    "restore <FILE>",
    "restore a backup to the database in the settings; stop the server first",
    [["--replace", "first remove all messages that are in the database"], YES_OPTION, JSON_OPTION],
    `FILE is a backup, or the messages.db of another folder. It is read completely or not at all. Messages of people whom
"privacy erase" removed are left out if the backup or the database in the settings knows of it. With DATABASE_URL set,
this also moves messages from SQLite to PostgreSQL.`,
  ).action(async (file: string, { replace = false, ...options }: Options & { replace?: boolean }) => {
    // Checks this before a database is created.
    await access(file).catch(unreadable(file));
    const archive = await context.openArchive();
    const { messages: all, erasures } = (await archive.countAll()) ?? { messages: 0, erasures: 0 };
    const listed = await readOldErasures(context.readConfig().dataDir);
    const isUnknown = all + erasures + listed.length === 0;
    const question = isUnknown
      ? `${NO_ERASURES} Restore ${visible(file)}?`
      : `Permanently remove ${plural(all, "message")} and restore those in ${visible(file)} instead?`;
    const isAsked = isUnknown || (replace && all > 0);
    if (isAsked && !(await isConfirmed(question, options.yes, context))) return out("Nothing was restored.\n");
    const result = await archive.restore(resolve(file), replace, listed);
    const { messages, waiting, erased, restrictions, corrections } = result;
    const newer = [
      isUnknown && NO_ERASURES,
      erased > 0 && `Left out, because erased after the backup: ${plural(erased, "message")}.`,
      restrictions > 0 && `Kept, because newer than the backup: ${plural(restrictions, "restriction")}.`,
      corrections > 0 && `Lost, because newer than the backup: ${plural(corrections, "correction")}; repeat them.`,
    ].filter(Boolean);
    const text = [`${plural(messages, "message")} restored, ${waiting} of them to be sent.`, ...newer].join(" ");
    return print(options, result, `${text}\n`);
  });
}

/**
 * Applies the action, and prints the number of changed messages. Throws an error with one line for each other
 * message.
 */
function actWith({ call, print }: Context) {
  return async (
    action: Action,
    references: readonly string[],
    done: string,
    options: { json?: true | undefined },
  ): Promise<void> => {
    const targets = references.map((reference) => ({ reference }));
    const { results, files } = await (await call()).act({ action, targets });
    const problems = results.flatMap((result, index): Advice[] => {
      if (result.outcome === "done") return [];
      if (result.outcome === "gone") {
        return [{ problem: `There is no message ${references[index]}`, remedy: '"list" shows the references' }];
      }
      if (result.outcome === "changed") return [{ problem: `${result.reference} has changed` }];
      if (!result.isRestricted) return [{ problem: result.reason }];
      // EMAIL instead of the address: a command that is copied into a shell must not contain a visitor's text.
      const command = "messages privacy restrict EMAIL --lift";
      return [{ problem: result.reason, remedy: "to end that", command }];
    });
    const count = results.length - problems.length;
    const shown = results.map(({ reference, outcome }) => ({ reference, outcome }));
    const removed = action === "delete" ? ` and ${plural(files, ".eml file")}` : "";
    const text = count > 0 ? `${plural(count, "message")}${removed} ${done}.\n` : "";
    await print(options, { results: shown, files }, text);
    if (problems.length > 0) throw new OperatorError(problems);
  };
}

function unreadable(file: string): (error: NodeJS.ErrnoException) => never {
  return ({ code }) => {
    throw new OperatorError({ problem: `${file} cannot be read (${code})` });
  };
}

function messageTable(messages: readonly ReturnType<Awaited<ReturnType<typeof viewerOf>>>[], now: Date): string {
  const rows = messages.map((message) => {
    const state = [stateOf(message), ...message.deliveryMarks.map(({ text }) => text.toLowerCase())].join(", ");
    const text = cut(visible(message.message.replaceAll(/\s+/g, " ")), 40);
    return [state, ageOf(message.acceptedAt, now), message.reference, senderOf(message), text];
  });
  return table([["STATE", "AGE", "REFERENCE", "FROM", "MESSAGE"], ...rows]);
}

/** `name <address>`, each cut, so that a long name cannot hide the address. */
function senderOf({ name, email }: StoredMessage): string {
  return `${cut(visible(name), 20)} <${cut(visible(email), 40)}>`;
}

function detailText(detail: Awaited<ReturnType<typeof readDetail>>): string {
  const { message: text, footprint, notes: _, replies: __, ...facts } = messageJson(detail);
  const given = Object.entries(facts).filter(([, value]) => value !== null && value !== "" && value !== false);
  const lines = given.map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}\n`);
  const history = detail.history.map(({ at, name, detail }) => {
    const reason = detail === null ? "" : `: ${visibleLines(detail).replaceAll("\n", "\n    ")}`;
    return `  ${at.toISOString()}  ${name}${reason}\n`;
  });
  const estimate = footprint ? `${estimateText(footprint)}\n` : "";
  const signs = detail.spamSigns.map((sign) => `  ${visible(sign)}\n`).join("");
  const spam = signs && `Looks like spam. The strongest signs:\n${signs}\n`;
  return `${lines.join("")}\n${spam}${estimate}${visibleLines(text)}\n\nHistory:\n${history.join("")}`;
}

function estimateText(footprint: FootprintEstimate): string {
  const rows = describeInputs(footprint).map(({ label, value, kg }) => [`  ${label}`, value, formatMass(kg)]);
  return `Footprint estimate: ${formatTotal(footprint.totalKg)}\n${table(rows)}`;
}

/** `acceptedAt` as `Accepted at`. */
function labelOf(name: string): string {
  return capitalised(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, ""));
}

function shown(value: Fact): string {
  return value === true ? "yes" : visible(cellText(value));
}

function statsText({ now, website, lastBackupAt, troubles, counts, notOpened, sent }: Status): string {
  const ago = (at: Date) => `${at.toISOString()} (${ageOf(at, now)} ago)`;
  const { isRunning, lastSeenAt } = website;
  const rows = [
    ...Object.entries(counts).map(([tab, count]) => [capitalised(tab), String(count)]),
    ["Quarantined, not opened", String(notOpened)],
    ...sent.map(({ name, delivered }) => [`${name}: delivered`, String(delivered)]),
  ];
  const lines = [
    `Website: ${isRunning ? "running" : `not running${lastSeenAt ? ` since ${ago(lastSeenAt)}` : ""}`}.`,
    `Last backup: ${lastBackupAt ? ago(lastBackupAt) : "none"}.`,
    troubles.length === 0 ? "Nothing is wrong." : "Needs attention:",
    ...troubles.map(({ what, remedy }) => `- ${what}. ${remedy}.`),
    "",
  ];
  return lines.map((line) => `${visible(line)}\n`).join("") + table(rows);
}
