import type { Command } from "commander";
import type { Advice } from "../../../contract/commands.ts";
import { CONTACT_FIELDS, type ContactMessage, FIELD_NAMES } from "../../../contract/contact-message.ts";
import { plural, visible } from "../../../contract/text.ts";
import { OperatorError } from "../../operator-error.ts";
import { exportPerson } from "../person.ts";
import { addCommand, type Context, isConfirmed, JSON_OPTION, YES_OPTION } from "./context.ts";

type Options = Partial<Record<"json" | "yes" | "lift", true>>;

/** The router checks the texts. */
type Corrections = Partial<ContactMessage> & { footprint?: "none"; json?: true };

export function addPrivacyCommands(root: Command, context: Context): void {
  const { out, call, print, openDesk } = context;
  const privacy = root
    .command("privacy")
    .description("handle privacy requests: copy, correction, restriction, erasure")
    .addHelpText("afterAll", "\nWith - as EMAIL, the address is read from standard input, so that no shell keeps it.")
    .hook("preAction", async (_privacy, command) => {
      if (command.args[0] !== "-") return;
      const { ask, readInput } = context;
      command.processedArgs[0] = (await (ask ? ask("Email address: ") : readInput())).trim();
    });
  const add = addCommand.bind(null, privacy);

  add(
    "export <EMAIL>",
    "print all messages from an email address, as JSON",
    [],
    "Answers a request for access or data portability.",
  ).action(async (email: string) => out(await exportPerson(email, (await openDesk()).store)));

  add(
    "rectify <EMAIL>",
    "correct all messages from an email address",
    [
      ...FIELD_NAMES.map((field) => {
        const { input: kind, noun, isRequired } = CONTACT_FIELDS[field];
        const value = kind === "country" ? "CODE" : "TEXT";
        const clearing = isRequired ? "" : `; --${field}= removes it`;
        return [`--${field} <${value}>`, `the correct ${noun}${clearing}`] as const;
      }),
      ["--footprint <none>", "remove the footprint estimate"],
      JSON_OPTION,
    ],
    `Changes only the given fields, in every message from that address. A footprint estimate can be removed; it is never
computed again, even if the country changes. Emails that were already sent, or written to .eml files, are not changed.`,
  ).action(async (email: string, { json, ...options }: Corrections, command: Command) => {
    const { footprint, ...changes } = options;
    const result = await (await call()).correct({ email, changes, footprint });
    if (result.outcome === "invalid") {
      const lines = Object.entries(result.fields).map(([field, problem]) => `--${field}: ${problem}`);
      command.error(lines.join("\n"));
    }
    const { messages, references } = requireDone(email, result);
    const text = `${plural(messages, "message")} corrected.\n${toTell(references)}`;
    return print({ json }, { messages, references }, text);
  });

  add("restrict <EMAIL>", "keep all messages from an email address, but neither send nor delete them", [
    ["--lift", "lift the restriction"],
    JSON_OPTION,
  ]).action(async (email: string, options: Options) => {
    const result = await (await call()).restrict({ email, isRestricted: !options.lift });
    const { messages } = requireDone(email, result);
    const text = `${plural(messages, "message")}${options.lift ? ": restriction lifted" : " restricted"}.\n`;
    return print(options, { messages }, text);
  });

  add(
    "erase <EMAIL>",
    "erase all messages from an email address",
    [YES_OPTION, JSON_OPTION],
    `Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox. Records the
erasure in the database, so that a restored backup does not bring the messages back. It cannot remove backups,
emails that were already sent, what was posted to HOOK_URL, or a PostgreSQL server's own log and archives: it prints
the references for whoever was told of them.`,
  ).action(async (email: string, options: Options) => {
    const calls = await call();
    const { messages: found } = await calls.person({ email });
    const question = `Permanently erase ${plural(found.length, "message")} from ${visible(email)}?`;
    if (found.length > 0 && !(await isConfirmed(question, options.yes, context))) return out("Nothing was erased.\n");
    const { messages, files, references } = requireDone(email, await calls.erase({ email }));
    const noted = "The erasure is recorded, so that no restored backup brings messages back.";
    const text =
      messages > 0
        ? `${plural(messages, "message")} and ${plural(files, ".eml file")} erased.\n${toTell(references)}`
        : `There are no messages from ${visible(email)}. ${noted}\n`;
    return print(options, { messages, files, references }, text);
  });
}

function toTell(references: readonly string[]): string {
  return `Tell whoever has copies, such as the receiver of HOOK_URL: ${references.join(", ")}\n`;
}

interface Result {
  outcome: string;
  messages?: number;
  files?: number;
  references?: readonly string[];
}

function requireDone(email: string, { outcome, messages = 0, files = 0, references = [] }: Result) {
  if (outcome === "done") return { messages, files, references };
  const problems: Readonly<Record<string, Advice>> = {
    gone: { problem: `There are no messages from ${email}` },
    changed: { problem: "The messages changed in the meantime, and nothing was done", remedy: "run the command again" },
    "no-estimate": { problem: `No message from ${email} has a footprint estimate; nothing was changed` },
  };
  throw new OperatorError(problems[outcome] ?? { problem: outcome });
}
