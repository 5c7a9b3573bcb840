import type { ContactField } from "../../contract/contact-message.ts";
import { isFootprintField, parseFootprint } from "../../contract/footprint.ts";
import {
  AMOUNTS,
  CAR_UNITS,
  CHOICES,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintField,
} from "../../contract/footprint-fields.ts";
import { plural } from "../../contract/plural.ts";
import { visible } from "../../contract/visible-text.ts";
import {
  changePerson,
  exportPerson,
  type FootprintCorrection,
  type PersonChange,
  parseCorrection,
} from "../operator/person.ts";
import {
  type Command,
  type CommandContext,
  CommandFailed,
  defineCommand,
  flag,
  isConfirmed,
  type Option,
  oneOf,
  UsageError,
} from "./command.ts";

const exportAddress = defineCommand({
  name: "privacy export",
  summary: "print all messages from an e-mail address, as JSON",
  argument: "EMAIL",
  notes: "  Answers a request for access or data portability.",
  async run({ argument: email }, { openStore, out, now }) {
    out((await exportPerson(email, await openStore(), now)).text);
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
    footprint: oneOf("none", ["none"], "remove the footprint estimate"),
    ...footprintFields(),
  },
  notes: `  Changes only the given fields, in every message from that address. A footprint estimate is computed again when the
  country or one of its inputs changes, with today's factors; an empty input, as in --footprint.carKm=, is removed.
  E-mails that were already sent, or written to .eml files, are not changed.`,
  check({ options }) {
    if (Object.keys(options).length === 0) throw new UsageError("Give at least one option; e.g. --name 'Ada King'");
    if (options.footprint && Object.keys(options).some((name) => name.startsWith(FIELD_PREFIX))) {
      throw new UsageError("Give either --footprint none or new inputs of the estimate");
    }
  },
  async run({ argument: email, options: { footprint: none, ...options } }, context) {
    const inputs = inputsOf(options);
    const footprint: FootprintCorrection | undefined = none ?? (Object.keys(inputs).length > 0 ? inputs : undefined);
    const changes = Object.fromEntries(Object.entries(options).filter(([name]) => !name.startsWith(FIELD_PREFIX)));
    const { messages } = await changeOrFail(email, { kind: "correct", changes, footprint }, context);
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
  notes: `  Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox; other
  servers remove theirs within an hour. It cannot remove backups, e-mails that were already sent, what was posted to
  HOOK_URL, or a PostgreSQL server's own log and archives.`,
  async run({ argument: email, options }, context) {
    const { openStore, out } = context;
    const found = await (await openStore()).list({ email });
    const { length: count } = found;
    const question = `Permanently erase ${plural(count, "message")} from ${visible(email)}?`;
    if (count > 0 && !(await isConfirmed(question, options.yes, context))) return out("Nothing was erased.\n");
    const { messages, files } = await changeOrFail(email, { kind: "erase" }, context);
    out(`${plural(messages, "message")} and ${plural(files, ".eml file")} erased.\n`);
    const posted = found.flatMap(({ hook, reference }) => (hook?.state === "sent" ? reference : []));
    if (posted.length > 0) {
      out(`The receiver of HOOK_URL has a copy, which has to be erased there: ${posted.join(", ")}\n`);
    }
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

/** An option for each input of an estimate, which follows the estimate's own rules. */
function footprintFields(): Readonly<Record<string, Option<string>>> {
  const amounts = Object.entries(AMOUNTS).map(([field, { label, unit }]) => [field, "N", `${label}, ${unit} a year`]);
  const distances = Object.entries(DISTANCES).map(([field, { label }]) => [field, "KM", label]);
  const choices = Object.entries(CHOICES).map(([field, { label, options }]) => [
    field,
    "NAME",
    `${label}: ${options.join(", ")}`,
  ]);
  const unit = ["carUnit", "UNIT", `Unit of the car's distance: ${CAR_UNITS.join(", ")}`];
  const options = [...amounts, unit, ...distances, ...choices].map(([field = "", placeholder = "", help = ""]) => {
    const option: Option<string> = {
      placeholder,
      help,
      parse(given) {
        const parsed = parseFootprint({ footprint: { [field]: given } });
        if (!parsed.ok) throw new UsageError(Object.values(parsed.fields).join(" "));
        return given;
      },
    };
    return [`${FIELD_PREFIX}${field}`, option] as const;
  });
  return Object.fromEntries(options);
}

/** The inputs of an estimate among the options. */
function inputsOf(options: Readonly<Record<string, string>>): Partial<Record<FootprintField, string>> {
  const inputs: Partial<Record<FootprintField, string>> = {};
  for (const [name, value] of Object.entries(options)) {
    const field = name.slice(FIELD_PREFIX.length);
    if (name.startsWith(FIELD_PREFIX) && isFootprintField(field)) inputs[field] = value;
  }
  return inputs;
}

async function changeOrFail(email: string, change: PersonChange, context: CommandContext) {
  const { openStore, readConfig, readElectricity, now } = context;
  const parts = { store: await openStore(), dataDir: readConfig().dataDir, readElectricity, now };
  const result = await changePerson(email, change, parts);
  if (result.outcome === "done") return result;
  if (result.outcome === "no-estimate") {
    throw new CommandFailed(`No message from ${visible(email)} has a footprint estimate; nothing was changed`);
  }
  if (result.outcome === "changed") {
    throw new CommandFailed("The messages changed meanwhile, and nothing was corrected; run it again");
  }
  throw new CommandFailed(`There are no messages from ${visible(email)}`);
}
