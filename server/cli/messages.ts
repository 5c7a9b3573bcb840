import { access, readFile } from "node:fs/promises";
import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import type { Advice } from "../../contract/commands.ts";
import { parseDurationMs } from "../../contract/duration.ts";
import type { FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { formatMass, formatTotal } from "../../contract/footprint/fields.ts";
import { describeInputs, estimateNotes } from "../../contract/footprint/words.ts";
import { SEARCHED_COLUMNS } from "../../contract/operator-limits.ts";
import { plural } from "../../contract/plural.ts";
import { capitalised, visible, visibleLines } from "../../contract/visible-text.ts";
import { readSite } from "../manifest.ts";
import { readOldErasures } from "../operator/erasures.ts";
import { cellText, exportMessages, type Fact } from "../operator/export.ts";
import { messageJson, messagesJson, type readDetail } from "../operator/messages.ts";
import { rescue } from "../operator/rescue.ts";
import { FILTER } from "../operator/router.ts";
import type { readOverview } from "../operator/statistics.ts";
import { OperatorError } from "../operator-error.ts";
import { type Action, CHANNELS, rulesOf, type StoredMessage, stateOf } from "../store/store.ts";
import { addCommand, type Context, isConfirmed, JSON_OPTION, NAME_OPTION, YES_OPTION } from "./context.ts";
import { ageOf, bars, cut, table, widthOf } from "./output.ts";

type SpamFilterFacts = Awaited<ReturnType<typeof readOverview>>["spamFilter"];

const LIST_WIDTH = 120;

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
  ["--search <WORDS>", `only messages with these words in one of these: ${SEARCHED_COLUMNS.join(", ")}`],
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

  const limit = ["--limit <N>", "show at most N messages, up to 500 (default 50)", Number] as const;
  add("list", "list messages, newest first", [...FILTER_OPTIONS, limit, JSON_OPTION]).action(
    async ({ limit, ...options }: Options & { limit?: number }) => {
      const { messages } = await (await call()).list({ ...filterOf(options), limit });
      const { store } = await openDesk();
      const text = messages.length === 0 ? "No messages.\n" : messageTable(messages, await store.status.time());
      return print(options, await messagesJson(messages, store.messages), text);
    },
  );

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
    "note <REFERENCE> <TEXT>",
    "write a note on a message",
    [NAME_OPTION, JSON_OPTION],
    "Notes appear in the message's history and in exports, including a copy that the sender asks for. They are erased with the message.",
  ).action(async (reference: string, text: string, { name, ...options }: Options & { name?: string }) => {
    await (await call({ name })).note({ reference, text });
    return print(options, { notes: 1 }, "1 note added.\n");
  });

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
      if (file === undefined && context.confirm) err("Type the reply, and end it with Ctrl-D:\n");
      const text =
        file === undefined ? await context.readInput() : await readFile(file, "utf8").catch(unreadable(file));
      await calls.reply({ reference, subject, text });
      return print(options, { replies: 1 }, "1 reply queued.\n");
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
    (action: "retry" | "release" | "resend", done: string, choices: string) =>
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
    "resend [REFERENCE...]",
    "send delivered messages once more, e.g. after a wrong MAIL_TO or a lost mailbox",
    [since("resend all delivered"), JSON_OPTION],
    `The email has the same Message-ID as the first one: a mailbox that still has the first email may not show the second one.
To send a failed message, use "retry"; to send one in quarantine, use "release".`,
  ).action(actOnSome("resend", "queued again", "--since WHEN"));

  add(
    "spam <REFERENCE...>",
    "mark messages as spam: they go into quarantine, and the spam filter learns from them",
    [JSON_OPTION],
    `To undo this, use "release": it delivers the messages, and the filter learns that they are good.`,
  ).action((references: string[], options: Options) => act("spam", references, "marked as spam", options));

  add(
    "spam-filter",
    "show how many messages the spam filter has learned from, and how many it quarantined this month",
    [["--forget", "remove everything that the filter has learned"], YES_OPTION, JSON_OPTION],
    `It learns when you mark, release, answer or reply to messages. With SPAM_FILTER=off it quarantines nothing.`,
  ).action(async (options: Options & { forget?: true }) => {
    const calls = await call();
    const question = "Permanently remove everything that the spam filter has learned?";
    if (options.forget && !(await isConfirmed(question, options.yes, context))) return out("Nothing was removed.\n");
    if (options.forget) await calls.forgetSpam();
    const result = { isOn: context.readConfig().spamFilter, ...(await calls.spamFilter()) };
    return print(options, result, `${result.isOn ? "" : "Off (SPAM_FILTER=off). "}${spamFilterText(result)}\n`);
  });

  add(
    "delete <REFERENCE...>",
    "delete messages, e.g. spam",
    [YES_OPTION, JSON_OPTION],
    `Also removes their .eml files in DATA_DIR/outbox. When a person asks for erasure, use "privacy erase": it removes all
messages from an address, and every trace of them in the database's files.`,
  ).action(async (references: string[], options: Options) => {
    const found = await (await openDesk()).store.messages.list({ references });
    const names = found.map((message) => `${message.reference} (${message.state}) from ${sender(message, LIST_WIDTH)}`);
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

  add("stats", "show problems, waiting, failed and quarantined messages, and counts per day and country", [
    ["--days <N>", "count the messages of the last N days (default 30)", Number],
    JSON_OPTION,
  ]).action(async ({ days, ...options }: Options & { days?: number }) => {
    const overview = await (await call()).overview({ days });
    return print(options, overview, statsText(overview));
  });

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
    "rescue <FILE>",
    "copy the readable messages of a damaged SQLite database to a new file",
    [JSON_OPTION],
    `Reads messages.db in DATA_DIR one message at a time, and names what it leaves out. "restore" reads FILE.`,
  ).action(async (file: string, options: Options) => {
    const { messages, unreadable } = await rescue(context.readConfig(), file);
    const lost = unreadable.length === 0 ? "" : `Left out, because not readable: ${unreadable.join(", ")}.\n`;
    const text = `${plural(messages, "message")} copied to ${visible(file)}.\n${lost}`;
    return print(options, { file, messages, unreadable }, text);
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
    const calls = await call({ isNew: true });
    const { store, dataDir } = await openDesk();
    const { messages: all, erasures } = (await store.archive.countAll()) ?? { messages: 0, erasures: 0 };
    const isUnknown = all + erasures === 0 && (await readOldErasures(dataDir)).length === 0;
    const question = isUnknown
      ? `${NO_ERASURES} Restore ${visible(file)}?`
      : `Permanently remove ${plural(all, "message")} and restore those in ${visible(file)} instead?`;
    const isAsked = isUnknown || (replace && all > 0);
    if (isAsked && !(await isConfirmed(question, options.yes, context))) return out("Nothing was restored.\n");
    const result = await calls.restore({ file, replace });
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

/** Shows attempts and errors only if there are errors, and a channel's column only if the channel was used. */
function messageTable(messages: readonly StoredMessage[], now: Date): string {
  const hasErrors = messages.some((message) => errorsOf(message) !== "");
  const columns = CHANNELS.filter(
    (channel) => rulesOf(channel).listColumn && messages.some(({ deliveries }) => deliveries[channel]),
  );
  const channelNames = columns.map((channel) => rulesOf(channel).listColumn ?? "");
  const fromWidth = hasErrors ? 30 : 40;
  const heading = ["STATE", ...channelNames, "AGE", "REFERENCE", "FROM", "MESSAGE"];
  const rows = messages.map((message) => {
    const { deliveries } = message;
    const states = columns.map((channel) => deliveries[channel]?.state ?? "");
    const age = ageOf(message.acceptedAt, now);
    const row = [stateOf(message), ...states, age, message.reference, sender(message, fromWidth)];
    const text = oneLine(message.message);
    const tries = String(deliveries.mail.attempts);
    return hasErrors ? [...row, cut(text, 18), tries, oneLine(errorsOf(message))] : [...row, text];
  });
  // Errors are never cut, because the reason is often at the end.
  return hasErrors ? table([[...heading, "TRIES", "LAST ERROR"], ...rows]) : table([heading, ...rows], LIST_WIDTH);
}

/** Why deliveries wait or failed, with the channel unless it is the mail. */
function errorsOf({ deliveries }: StoredMessage): string {
  const errors = CHANNELS.flatMap((channel) => {
    const { state = "skipped", error = null } = deliveries[channel] ?? {};
    if (error === null || state === "skipped") return [];
    return channel === "mail" ? error : `${rulesOf(channel).name}: ${error}`;
  });
  return errors.join("; ");
}

/** `name <address>`. A long name is cut first, so that it cannot hide the address. */
function sender({ name, email }: StoredMessage, width: number): string {
  const shownName = visible(name);
  const address = `<${cut(visible(email), width - 3 - Math.min(8, widthOf(shownName)))}>`;
  return `${cut(shownName, width - 1 - widthOf(address))} ${address}`;
}

function oneLine(text: string): string {
  return visible(text.replaceAll(/\s+/g, " "));
}

function detailText(detail: Awaited<ReturnType<typeof readDetail>>): string {
  const { message: text, footprint, notes: _, replies: __, ...facts } = messageJson(detail);
  const lines = Object.entries(facts).map(([name, value]) => `${`${labelOf(name)}:`.padEnd(18)} ${shown(value)}\n`);
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
  const notes = estimateNotes(footprint, readSite()?.pricePerTonne ?? null).map((note) => `  ${note}\n`);
  return `Footprint estimate: ${formatTotal(footprint.totalKg)}\n${table(rows)}${notes.join("")}`;
}

/** `acceptedAt` as `Accepted at`. */
function labelOf(name: string): string {
  return capitalised(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^is /, ""));
}

function shown(value: Fact): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return visible(cellText(value)) || "-";
}

function spamFilterText({ taught, needed, isDeciding, held, released }: SpamFilterFacts): string {
  const lessons = `Learned from ${taught.spam} spam and ${taught.good} good messages.`;
  if (!isDeciding) return `${lessons} It quarantines nothing before it has learned from ${needed} of each.`;
  return `${lessons} This month it quarantined ${plural(held, "message")}; released: ${released}.`;
}

function statsText(overview: Awaited<ReturnType<typeof readOverview>>): string {
  const { now, days, website, counts, waitingSince, unseen, spamFilter, deliveries, lastBackupAt, troubles } = overview;
  const ago = (at: Date) => `${at.toISOString()} (${ageOf(at, now)} ago)`;
  const { isRunning, lastSeenAt, pauses } = website;
  const lines = [
    `Website: ${isRunning ? "running" : `not running${lastSeenAt ? ` since ${ago(lastSeenAt)}` : ""}`}.`,
    ...pauses.map(({ channel, since, reason }) => `${rulesOf(channel).name}: paused since ${ago(since)}: ${reason}.`),
    `Waiting to be delivered: ${counts.waiting}${waitingSince ? ` (oldest: ${ageOf(waitingSince, now)})` : ""}. Failed: ${counts.failed}.`,
    `In quarantine: ${counts.quarantined}${unseen > 0 ? ` (${unseen} not opened yet)` : ""}.`,
    ...(spamFilter.taught.spam > 0 ? [`Spam filter: ${spamFilterText(spamFilter)}`] : []),
    ...deliveries.flatMap(({ channel, delivered, queued, failed, skipped }) =>
      channel === "mail" || delivered + queued + failed + skipped === 0
        ? []
        : `${rulesOf(channel).name}: ${delivered} sent, ${queued} waiting, ${failed} failed, ${skipped} skipped.`,
    ),
    ...(lastBackupAt ? [`Last backup: ${ago(lastBackupAt)}.`] : []),
    ...(troubles.length === 0 ? ["Nothing is wrong."] : ["", "Needs attention:"]),
    ...troubles.map(({ what, remedy }) => `- ${what}. ${remedy}.`),
  ];
  const status = lines.map((line) => `${visible(line)}\n`).join("");
  const { total, perDay, perCountry } = overview;
  if (total === 0) return `${status}\nNo messages in the last ${plural(days, "day")}.\n`;
  const countries = perCountry.map(({ country, count }) => [visible(country) || "not given", count] as const);
  const perDayBars = bars(perDay.map(({ day, count }) => [day, count]));
  return `${status}\nMessages per day (UTC), ${total} in total\n${perDayBars}\nMessages per country\n${bars(countries)}`;
}
