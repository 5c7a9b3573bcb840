import { statSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { inboxDir } from "../../contract/build-manifest.ts";
import type { Advice } from "../../contract/commands.ts";
import { CONTACT_FIELDS, type ContactField, FIELD_NAMES } from "../../contract/contact-message.ts";
import { parseDurationMs } from "../../contract/duration.ts";
import { asSentence, plural, visible, visibleLines } from "../../contract/text.ts";
import type { Config } from "../../server/config.ts";
import { OperatorError } from "../../server/errors.ts";
import { DIST_DIR } from "../../server/manifest.ts";
import { deleteOldBackups, nightlyName } from "../../server/store/backup-folder.ts";
import { type Action, rulesOf } from "../../server/store/model.ts";
import type { openArchive } from "../../server/store/store.ts";
import type { Desk } from "../desk.ts";
import { exportMessages } from "../export-messages.ts";
import { messagesJson, viewerOf } from "../message-view.ts";
import { type createCaller, FILTER } from "../operations.ts";
import { exportPerson } from "../person.ts";
import { ACTION_WORDS, PAUSED_RETRY } from "../words.ts";
import { detailText, formatWait, messageTable, senderOf, stateOf, statsText, withDrafts } from "./texts.ts";

// run-command.ts makes the command line from the table in this file.

/** Where a command runs: in the process of desk/command.ts, or in a test. */
export interface Shell {
  env: Readonly<Record<string, string | undefined>>;
  account?: string | undefined;
  /** Writes text unchanged: escape visitors' text first. Wait for it after a large output. */
  out(text: string): void | Promise<void>;
  err(text: string): void;
  isTerminal: boolean;
  ask: ((question: string) => Promise<string>) | null;
  readInput(): Promise<string>;
  untilStopped(): Promise<void>;
}

export interface Context extends Omit<Shell, "env"> {
  program: string;
  /** Throws a ConfigError. */
  readConfig(): Config;
  openDesk(options?: { name?: string | undefined }): Promise<Desk>;
  /** Opens a database that may be empty or of an earlier version, to restore a backup, and closes it after the command. */
  openArchive(): ReturnType<typeof openArchive>;
  call(options?: { name?: string | undefined }): Promise<ReturnType<typeof createCaller>>;
}

export class UsageError extends Error {}

/** `<REFERENCE>` of a command's usage is `reference`, `<REFERENCE...>` is `references`. */
interface Arguments {
  reference: string;
  references: string[];
  file: string;
  email: string;
}

interface Options
  extends Partial<Record<ContactField | "state" | "search" | "file" | "subject" | "footprint", string>> {
  json?: true;
  yes?: true;
  unanswered?: true;
  drafts?: true;
  all?: true;
  again?: true;
  to?: string;
  failed?: true;
  queued?: true;
  csv?: true;
  replace?: true;
  lift?: true;
  since?: Date;
  keep?: number;
  port?: number;
}

interface Output {
  json: unknown;
  text: string;
  /** Printed after that, one line each; the command fails. */
  problems?: readonly Advice[];
  isFailed?: boolean;
}

type Option = readonly [flags: string, help: string, parse?: (text: string) => unknown];

export interface CommandRow {
  usage: string;
  help: string;
  options?: readonly Option[];
  notes?: string;
  /** Without `--json`: `run` itself prints. */
  isPlain?: true;
  /** Asked before `run`, unless `--yes` is given; `null` if nothing would be lost. */
  question?(context: Context, args: Arguments, options: Options): Promise<string | null>;
  run(context: Context, args: Arguments, options: Options): Promise<Output | undefined>;
}

const LISTED = 50;

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

function parseAge(text: string): number {
  const ageMs = parseDurationMs(text);
  if (ageMs === undefined) throw new InvalidArgumentError("It is not an age; e.g. 13d.");
  return ageMs;
}

const NAME_OPTION = ["--name <NAME>", "sign notes and replies with this name (default: your account name)"] as const;
const FILTER_OPTIONS = [
  [
    "--state <STATE>",
    "only messages in this state: waiting or failed (also by a reply, an acknowledgement or HOOK_URL), delivered or quarantined",
  ],
  ["--email <EMAIL>", "only messages from this email address"],
  ["--since <WHEN>", `only messages accepted since then: ${WHEN}`, parseWhen],
  ["--unanswered", "only messages that are not marked as answered and not in quarantine"],
  ["--drafts", "only messages with a draft of a reply or note"],
  ["--search <WORDS>", "only messages with all of these words in the message, its notes or its replies"],
] as const;

function filterOf({ unanswered, drafts: hasDraft, state, email, since, search }: Options) {
  return FILTER.parse({ state, email, since, search, hasDraft, tab: unanswered ? "unanswered" : "all" });
}

/** Of a restore into a database that was never used. */
const NO_ERASURES =
  "No later erasures are known here: messages of people who were erased after the backup come back with it.";

export const COMMANDS: readonly CommandRow[] = [
  {
    usage: "list",
    help: "list messages, newest first",
    options: [...FILTER_OPTIONS, ["--all", `list all messages, not only the newest ${LISTED}`]],
    async run({ openDesk }, _args, options) {
      const { store, account } = await openDesk();
      const filter = filterOf(options);
      const messages = await store.messages.list(options.all ? filter : { ...filter, limit: LISTED });
      const total = (await store.messages.countTabs(filter))[filter.tab];
      const rest = messages.length < total ? `${messages.length} of ${total}; --all shows the rest.\n` : "";
      const views = messages.map(await viewerOf(messages, store));
      const text = messages.length === 0 ? "No messages.\n" : messageTable(views, new Date(), account) + rest;
      return { json: await messagesJson(messages, store.messages), text };
    },
  },
  {
    usage: "show <REFERENCE>",
    help: "show one message in full",
    async run({ call, openDesk }, { reference }) {
      const detail = await (await call()).message({ reference });
      const [json] = await messagesJson([detail], (await openDesk()).store.messages);
      return { json, text: detailText(detail) };
    },
  },
  {
    usage: "answered <REFERENCE...>",
    help: "mark messages as answered",
    run: (context, { references }) => act(context, "answer", references),
  },
  {
    usage: "reply <REFERENCE>",
    help: "reply to a message by email, with the message quoted below the text",
    options: [
      ["--file <FILE>", "the text of the reply (default: standard input)"],
      ["--subject <TEXT>", "its subject (default: that of the last answer, or Re: Your message)"],
      ["--to <EMAIL>", "another address that answered in this thread (default: the form's address, always)"],
      ["--again", "send the last reply again, which has failed or may have been sent; asks first"],
      NAME_OPTION,
    ],
    notes: "The website sends it. The message is answered once the reply is delivered.",
    async question({ call }, { reference }, { again, name }) {
      const calls = await call({ name });
      // If there is none, the reply itself says so.
      const detail = await calls.message({ reference }).catch(() => null);
      if (detail === null) return null;
      const { history, deliveries, colleagues } = detail;
      const last = history.findLast(({ kind }) => kind === "replied");
      const written = last?.detail;
      if (!again) {
        const who = colleagues.reply?.author ? ` by ${visible(colleagues.reply.author)}` : "";
        return last && deliveries.reply?.state !== "queued"
          ? `${reference} was answered${who} at ${last.at.toISOString()}. Send another reply?`
          : null;
      }
      if (deliveries.reply?.state !== "failed" || !written) return null;
      return `${visibleLines(written)}\n\n${asSentence(deliveries.reply.error ?? "")} Send this reply again?`;
    },
    async run({ call, err, ask, readInput }, { reference }, { file, subject, to, again, name }) {
      const calls = await call({ name });
      if (again) {
        if (file !== undefined || subject !== undefined || to !== undefined)
          throw new UsageError("--again sends the reply as it is stored");
        const { wait } = await calls.sendAgain({ reference });
        return {
          json: { replies: 1 },
          text: `1 reply queued again. ${wait ? formatWait(wait, new Date()) : "Sent."}\n`,
        };
      }
      if (file === undefined && ask) err("Type the reply, and end it with Ctrl-D:\n");
      const text = file === undefined ? await readInput() : await readFile(file, "utf8").catch(unreadable(file));
      const { wait = null } = await calls.reply({ reference, subject, to, text });
      return { json: { replies: 1 }, text: `1 reply stored. ${wait ? formatWait(wait, new Date()) : "Sent."}\n` };
    },
  },
  {
    usage: "retry [REFERENCE...]",
    help: "send failed or queued messages now, with their posts to HOOK_URL, acknowledgements and replies",
    options: [
      ["--failed", "retry all failed messages"],
      ["--queued", "retry all queued messages"],
    ],
    async run(context, { references }, { failed, queued }) {
      requireOne("--failed for all failed messages, or --queued for all queued messages", references, failed, queued);
      if (references.length > 0) {
        const output = await act(context, "retry", references);
        return { ...output, text: output.text && output.text + (await pausesText(context)) };
      }
      const messages = await (await context.call()).actOnAll({ action: "retry", state: failed ? "failed" : "waiting" });
      const pauses = messages > 0 ? await pausesText(context) : "";
      return { json: { messages }, text: `${plural(messages, "message")} queued again.\n${pauses}` };
    },
  },
  {
    usage: "release [REFERENCE...]",
    help: "send messages that are in quarantine",
    options: [
      ["--all", "release all messages in quarantine"],
      ["--since <WHEN>", `release all messages accepted since then: ${WHEN}`, parseWhen],
    ],
    async run(context, { references }, { all, since }) {
      requireOne("--since WHEN, or --all for all messages in quarantine", references, all, since);
      if (references.length > 0) return act(context, "release", references);
      const messages = await (await context.call()).actOnAll({ action: "release", state: "quarantined", since });
      return { json: { messages }, text: `${plural(messages, "message")} released.\n` };
    },
  },
  {
    usage: "spam <REFERENCE...>",
    help: "mark messages as spam: they go into quarantine, and the spam filter learns from them",
    notes: `To undo this, use "release": it delivers the messages, and the filter learns that they are good.`,
    run: (context, { references }) => act(context, "spam", references),
  },
  {
    usage: "delete <REFERENCE...>",
    help: "delete messages, e.g. spam",
    notes: `Also removes their .eml files in DATA_DIR/outbox. When a person asks for erasure, use "privacy erase": it removes all
messages from an address, and every trace of them in the database's files.`,
    async question({ openDesk }, { references }) {
      const { store } = await openDesk();
      const found = await store.messages.list({ references });
      const views = found.map(await viewerOf(found, store));
      const names = views.map((view) => `${view.reference} (${stateOf(view)}) from ${senderOf(view)}`);
      return views.length > 0 ? withDrafts(`Permanently delete ${names.join(", ")}?`, views) : null;
    },
    async run(context, { references }) {
      const output = await act(context, "delete", references);
      const advice = `If a person asked for this, also run: ${context.program} privacy erase EMAIL\n`;
      return { ...output, text: output.text && output.text + advice };
    },
  },
  {
    usage: "export",
    help: "print all messages for a spreadsheet or a program",
    options: [["--csv", "as CSV, safe to open in a spreadsheet (default)"], ["--json", "as JSON"], ...FILTER_OPTIONS],
    notes: `CSV is UTF-8, with an apostrophe before text that a spreadsheet could run as a formula. For the exact text, use --json.`,
    isPlain: true,
    async run({ openDesk, out, isTerminal }, _args, options) {
      if (options.csv && options.json) throw new UsageError("Choose one of --csv and --json");
      const filter = filterOf(options);
      const format = options.json ? "json" : "csv";
      // A file contains the text unchanged; on a terminal, control characters must not take effect.
      const show = isTerminal ? visible : undefined;
      const { messages } = (await openDesk()).store;
      for await (const text of exportMessages({ filter, format, show }, messages)) await out(text);
    },
  },
  {
    usage: "stats",
    help: "show what is wrong, and how many messages there are",
    async run({ call }) {
      const status = await (await call()).status();
      return { json: status, text: statsText(status) };
    },
  },
  {
    usage: "backup <FILE>",
    help: "copy all messages to a new file; the server may keep running",
    options: [["--keep <AGE>", "then delete older backups in the folder FILE, but never the newest three", parseAge]],
    notes: `FILE becomes a SQLite database, even if the messages are in PostgreSQL; "restore" reads it. In a folder, its name is
the time. It contains personal data: protect it as you protect the database itself.`,
    async run({ openDesk }, { file: path }, { keep }) {
      const now = new Date();
      const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
      if (keep !== undefined && !isFolder) throw new UsageError("With --keep, FILE is a folder that exists.");
      const file = isFolder ? join(path, nightlyName(now)) : path;
      await (await openDesk()).store.archive.backup(resolve(file)).catch(unwritable(file));
      if (keep !== undefined) await deleteOldBackups(path, keep, now);
      return { json: { file }, text: `All messages copied to ${visible(file)}.\n` };
    },
  },
  {
    usage: "restore <FILE>",
    help: "restore a backup to the database in the settings; stop the server first",
    options: [["--replace", "first remove all messages that are in the database"]],
    notes: `FILE is a backup, or the messages.db of another folder. It is read completely or not at all. Messages of people whom
"privacy erase" removed are left out if the backup or the database in the settings knows of it. With DATABASE_URL set,
this also moves messages from SQLite to PostgreSQL.`,
    async question(context, { file }, { replace }) {
      const { all, isUnknown } = await findReplaced(context, file);
      if (isUnknown) return `${NO_ERASURES} Restore ${visible(file)}?`;
      const removed = `Permanently remove ${plural(all, "message")}`;
      return replace && all > 0 ? `${removed} and restore those in ${visible(file)} instead?` : null;
    },
    async run(context, { file }, { replace = false }) {
      const { isUnknown, archive } = await findReplaced(context, file);
      const isMove = archive.isMove(resolve(file));
      const result = await archive.restore(resolve(file), replace);
      const { messages, waiting, erased, restrictions, replies } = result;
      const newer = [
        isUnknown && NO_ERASURES,
        erased > 0 && `Left out, because erased after the backup: ${plural(erased, "message")}.`,
        replies.length > 0 &&
          `${plural(replies.length, "reply")} ${replies.length === 1 ? "waits" : "wait"} for your Send again, because the visitor may have got it after the backup: ${replies.join(", ")}.`,
        isMove &&
          `It was no backup, so nothing in it is older than an erasure. ${visible(file)} is now messages.moved.db: delete it once the website runs.`,
        restrictions > 0 && `Kept, because newer than the backup: ${plural(restrictions, "restriction")}.`,
      ].filter(Boolean);
      const text = [`${plural(messages, "message")} restored, ${waiting} of them to be sent.`, ...newer].join(" ");
      return { json: result, text: `${text}\n` };
    },
  },
  {
    usage: "privacy export <EMAIL>",
    help: "print all messages from an email address, as JSON",
    notes: "Answers a request for access or data portability.",
    isPlain: true,
    async run({ openDesk, out }, { email }) {
      await out(await exportPerson(email, (await openDesk()).store));
      return undefined;
    },
  },
  {
    usage: "privacy rectify <EMAIL>",
    help: "correct all messages from an email address",
    options: [
      ...FIELD_NAMES.map((field): Option => {
        const { input: kind, noun, isRequired } = CONTACT_FIELDS[field];
        const clearing = isRequired ? "" : `; --${field}= removes it`;
        return [`--${field} <${kind === "country" ? "CODE" : "TEXT"}>`, `the correct ${noun}${clearing}`];
      }),
      ["--footprint <none>", "remove the footprint estimate"],
    ],
    notes: `Changes only the given fields, in every message from that address. A footprint estimate can be removed; it is never
computed again, even if the country changes. Emails that were already sent, or written to .eml files, are not changed.`,
    async run({ call }, { email }, { json: _, footprint, ...changes }) {
      const result = await (await call()).correct({ email, changes, footprint: footprint as "none" });
      if (result.outcome === "invalid") {
        const lines = Object.entries(result.fields).map(([field, problem]) => `--${field}: ${problem}`);
        throw new UsageError(lines.join("\n"));
      }
      const { messages, references } = result;
      const text = `${plural(messages, "message")} corrected.\n${toTell(references)}`;
      return { json: { messages, references }, text };
    },
  },
  {
    usage: "privacy restrict <EMAIL>",
    help: "keep all messages from an email address, but neither send nor delete them",
    options: [["--lift", "lift the restriction"]],
    async run({ call }, { email }, { lift }) {
      const { messages } = await (await call()).restrict({ email, isRestricted: !lift });
      const text = `${plural(messages, "message")}${lift ? ": restriction lifted" : " restricted"}.\n`;
      return { json: { messages }, text };
    },
  },
  {
    usage: "privacy erase <EMAIL>",
    help: "erase all messages from an email address",
    notes: `Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox. Records the
erasure in the database, so that a restored backup does not bring the messages back. It cannot remove backups,
emails that were already sent, what was posted to HOOK_URL, or a PostgreSQL server's own log and archives: it prints
the references for whoever was told of them.`,
    async question({ call }, { email }) {
      const { messages } = await (await call()).person({ email });
      if (messages.length === 0) return null;
      return withDrafts(`Permanently erase ${plural(messages.length, "message")} from ${visible(email)}?`, messages);
    },
    async run({ call }, { email }) {
      const result = await (await call()).erase({ email });
      const { messages, files, references } = result;
      const noted = "The erasure is recorded, so that no restored backup brings messages back.";
      const text =
        messages > 0
          ? `${plural(messages, "message")} and ${plural(files, ".eml file")} erased.\n${toTell(references)}`
          : `There are no messages from ${visible(email)}. What it wrote in other conversations is erased. ${noted}\n`;
      const left = result.leftFiles.map((file) => `${visible(file)} may hold this person too: delete it.\n`);
      return { json: result, text: text + left.join("") };
    },
  },
  {
    usage: "inbox",
    help: "open the messages in a browser, on this machine only",
    options: [["--port <N>", "use this port (default: any free one)", Number], NAME_OPTION],
    notes: `Prints an address that gives access until the command ends: treat it like a password. Press Ctrl-C to
stop the inbox. To use it from another machine, forward the port with ssh: see docs/desk.md.`,
    isPlain: true,
    async run({ out, err, ask, account, openDesk, untilStopped }, _args, { port = 0, name }) {
      if (!(Number.isInteger(port) && port >= 0 && port < 65_536))
        throw new UsageError("--port is not a whole number up to 65535");
      // Several people may use the account root, and colleagues must see who replies.
      const asked =
        name === undefined && account === "root" && ask ? await ask("Your name, for notes and replies: ") : "";
      // Handles Ctrl-C before the address is printed, because the operator may press it immediately.
      const stopped = untilStopped();
      // Loaded on demand, because no other command needs a web server.
      const { startInbox } = await import("../browser/serve.ts");
      const running = await startInbox({
        desk: await openDesk({ name: name ?? (asked.trim() || undefined) }),
        filesDir: inboxDir(DIST_DIR),
        port,
        onDefect: (error) => err(`${inspect(error)}\n`),
      });
      try {
        out(`Inbox: ${running.url}\n`);
        await stopped;
      } finally {
        await running.close();
      }
      return undefined;
    },
  },
  {
    usage: "preflight",
    help: "check everything that can be checked before launch",
    notes: `Checks the settings, the build, the disk, the database, the mail server, the sender's DNS records and the public site.
Posts a signed ping to HOOK_URL and a test alert to ALERT_URL, if they are set; with IMAP_URL,
sends one test mail to MAIL_TO and looks for it in the mailbox. Sends no other email and changes nothing.
Exits with 1 if a check fails; warnings do not count.`,
    async run({ readConfig, program }) {
      // Loaded on demand, because no other command needs the mail and page code.
      const { report, runChecks } = await import("../preflight.ts");
      const findings = await runChecks(readConfig, program);
      return { json: findings, text: report(findings), isFailed: findings.some(({ state }) => state === "fail") };
    },
  },
];

function requireOne(choices: string, references: readonly string[], ...options: unknown[]): void {
  const given = [references.length > 0, ...options].filter(Boolean).length;
  if (given !== 1) throw new UsageError(`Give REFERENCE..., or ${choices}`);
}

async function act({ call }: Context, action: Action, references: readonly string[]): Promise<Output> {
  const targets = references.map((reference) => ({ reference }));
  const { results, files } = await (await call()).act({ action, targets });
  const problems = results.flatMap((result, index): Advice[] => {
    if (result.outcome === "done") return [];
    if (result.outcome === "gone")
      return [{ problem: `There is no message ${references[index]}`, remedy: '"list" shows the references' }];
    if (result.outcome === "changed") return [{ problem: `${result.reference} has changed` }];
    if (action === "retry" && result.canSendAgain)
      return [{ problem: result.reason, remedy: "to do that", command: `messages reply ${result.reference} --again` }];
    if (!result.isRestricted) return [{ problem: result.reason }];
    // EMAIL instead of the address: a command that is copied into a shell must not contain a visitor's text.
    const command = "messages privacy restrict EMAIL --lift";
    return [{ problem: result.reason, remedy: "to end that", command }];
  });
  const count = results.length - problems.length;
  const json = { results: results.map(({ reference, outcome }) => ({ reference, outcome })), files };
  const removed = action === "delete" ? ` and ${plural(files, ".eml file")}` : "";
  return {
    json,
    text: count > 0 ? `${plural(count, "message")}${removed} ${ACTION_WORDS[action].done}.\n` : "",
    problems,
  };
}

/** A retry makes one attempt during a pause. */
async function pausesText({ openDesk }: Context): Promise<string> {
  const { pauses } = await (await openDesk()).store.status.website();
  const lines = pauses.map(
    ({ channel, reason }) => `${rulesOf(channel).name} is paused: ${asSentence(reason)} ${PAUSED_RETRY}`,
  );
  return lines.map((line) => `${visible(line)}\n`).join("");
}

/** What a restore would replace. `isUnknown`: no erasures are known here. */
async function findReplaced({ openArchive }: Context, file: string) {
  // Precedes the creation of a database.
  await access(file).catch(unreadable(file));
  const archive = await openArchive();
  const { messages: all, erasures } = (await archive.countAll()) ?? { messages: 0, erasures: 0 };
  return { archive, all, isUnknown: !archive.isMove(resolve(file)) && all + erasures === 0 };
}

function unreadable(file: string): (error: NodeJS.ErrnoException) => never {
  return ({ code }) => {
    throw new OperatorError({ problem: `${file} cannot be read (${code})` });
  };
}

function unwritable(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === undefined) throw error;
    const problem =
      error.code === "EEXIST" ? "already exists; choose another name" : `cannot be written: ${error.message}`;
    throw new OperatorError({ problem: `${file} ${problem}` });
  };
}

function toTell(references: readonly string[]): string {
  return `Tell whoever has copies, such as the receiver of HOOK_URL: ${references.join(", ")}\n`;
}
