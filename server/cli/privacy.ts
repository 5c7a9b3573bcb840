import type { ContactField } from "../../contract/contact-message.ts";
import { visible } from "../../contract/visible-text.ts";
import { messageJson, visibleJson } from "../export.ts";
import { changePerson, type PersonChange, parseCorrection } from "../operator.ts";
import {
  type Command,
  type CommandContext,
  CommandFailed,
  defineCommand,
  flag,
  isConfirmed,
  type Option,
  UsageError,
} from "./command.ts";
import { plural } from "./output.ts";

const exportAddress = defineCommand({
  name: "privacy export",
  summary: "print all messages from an e-mail address, as JSON",
  argument: "EMAIL",
  notes: "  Answers a request for access or data portability.",
  async run({ argument: email }, { openStore, out, now }) {
    const store = await openStore();
    const messages = (await store.list({ email })).map(messageJson);
    out(visibleJson({ email, exportedAt: now, messages }));
  },
});

const rectify = defineCommand({
  name: "privacy rectify",
  summary: "correct all messages from an e-mail address",
  argument: "EMAIL",
  options: {
    name: contactField("name", "NAME", "the correct name"),
    email: contactField("email", "NEW", "the correct e-mail address"),
    phone: contactField("phone", "PHONE", "the correct phone number"),
    country: contactField("country", "CODE", "the correct two-letter country code; --country= clears it"),
    message: contactField("message", "TEXT", "the correct text of the message"),
  },
  notes: `  Changes only the given fields, in every message from that address. E-mails that were already sent, or written
  to .eml files, are not changed.`,
  check({ options }) {
    if (Object.keys(options).length === 0) throw new UsageError("Give at least one option; e.g. --name 'Ada King'");
  },
  async run({ argument: email, options }, context) {
    const { messages } = await changeOrFail(email, { kind: "correct", changes: options }, context);
    context.out(`${plural(messages, "message")} corrected.\n`);
  },
});

const restrict = defineCommand({
  name: "privacy restrict",
  summary: "keep all messages from an e-mail address, but neither send nor delete them",
  argument: "EMAIL",
  options: { lift: flag("lift the restriction") },
  async run({ argument: email, options }, context) {
    const { messages } = await changeOrFail(email, { kind: "restrict", isRestricted: !options.lift }, context);
    context.out(`${plural(messages, "message")}${options.lift ? ": restriction lifted" : " restricted"}.\n`);
  },
});

const erase = defineCommand({
  name: "privacy erase",
  summary: "erase all messages from an e-mail address",
  argument: "EMAIL",
  options: { yes: flag("do not ask for confirmation") },
  notes: `  Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox. If
  several servers write .eml files, run it on each. It cannot remove backups, e-mails that were already sent, or a
  PostgreSQL server's own log and archives.`,
  async run({ argument: email, options }, context) {
    const { openStore, out } = context;
    const { length: count } = await (await openStore()).list({ email });
    const question = `Permanently erase ${plural(count, "message")} from ${visible(email)}?`;
    if (count > 0 && !(await isConfirmed(question, options.yes, context))) return out("Nothing was erased.\n");
    const { messages, files } = await changeOrFail(email, { kind: "erase" }, context);
    out(`${plural(messages, "message")} and ${plural(files, ".eml file")} erased.\n`);
  },
});

/** In the order of the help. */
export const privacyCommands: readonly Command[] = [exportAddress, rectify, restrict, erase];

/** A field of the contact form, which follows the form's own rules. */
function contactField(field: ContactField, placeholder: string, help: string): Option<string> {
  return {
    placeholder,
    help,
    parse(given) {
      const parsed = parseCorrection({ [field]: given });
      if (!parsed.ok) throw new UsageError(Object.values(parsed.fields).join(" "));
      return parsed.changes[field] ?? "";
    },
  };
}

async function changeOrFail(email: string, change: PersonChange, { openStore, readConfig, now }: CommandContext) {
  const parts = { store: await openStore(), dataDir: readConfig().dataDir, now };
  const result = await changePerson(email, change, parts);
  if (result.outcome !== "done") throw new CommandFailed(`There are no messages from ${visible(email)}`);
  return result;
}
