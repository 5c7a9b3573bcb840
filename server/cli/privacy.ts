import type { ContactField } from "../../contract/contact-message.ts";
import { parseFootprint } from "../../contract/footprint.ts";
import { AMOUNTS, CAR_UNITS, CHOICES, DISTANCES, FIELD_PREFIX } from "../../contract/footprint-fields.ts";
import { plural } from "../../contract/plural.ts";
import { visible } from "../../contract/visible-text.ts";
import { OperatorError } from "../log.ts";
import {
  changePerson,
  exportPerson,
  type FootprintCorrection,
  type PersonChange,
  parseCorrection,
  readPerson,
} from "../operator/person.ts";
import {
  type Command,
  type CommandContext,
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
  async run({ argument: email }, { openStore, out }) {
    out((await exportPerson(email, await openStore())).text);
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
    const { inputs, contact = [] } = Object.groupBy(Object.entries(options), ([name]) =>
      name.startsWith(FIELD_PREFIX) ? "inputs" : "contact",
    );
    const corrected = inputs?.map(([name, value]) => [name.slice(FIELD_PREFIX.length), value]);
    const footprint: FootprintCorrection | undefined = none ?? (corrected && Object.fromEntries(corrected));
    const changes = Object.fromEntries(contact);
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
  notes: `  Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox. It
  cannot remove backups, e-mails that were already sent, what was posted to HOOK_URL, or a PostgreSQL server's own log and
  archives.`,
  async run({ argument: email, options }, context) {
    const { openStore, out } = context;
    const { messages: found, posted } = await readPerson(email, await openStore());
    const question = `Permanently erase ${plural(found.length, "message")} from ${visible(email)}?`;
    if (found.length > 0 && !(await isConfirmed(question, options.yes, context))) return out("Nothing was erased.\n");
    const { messages, files } = await changeOrFail(email, { kind: "erase" }, context);
    out(`${plural(messages, "message")} and ${plural(files, ".eml file")} erased.\n`);
    if (posted.length > 0) {
      out(`The receiver of HOOK_URL has a copy, which has to be erased there: ${posted.join(", ")}\n`);
    }
  },
});

/** In the order of the help. */
export const privacyCommands: readonly Command[] = [exportAddress, rectify, restrict, erase];

/** A field of the contact form, which follows the form's own rules. */
function contactField(field: ContactField, placeholder: string, help: string): Option<string> {
  return checkedOption(placeholder, help, (given) => {
    const parsed = parseCorrection({ [field]: given });
    return parsed.ok ? { ok: true, value: parsed.changes[field] ?? "" } : parsed;
  });
}

/** An option for each input of an estimate, which follows the estimate's own rules. */
function footprintFields(): Readonly<Record<string, Option<string>>> {
  const option = (field: string, placeholder: string, help: string) => [
    `${FIELD_PREFIX}${field}`,
    checkedOption(placeholder, help, (value) => ({ value, ...parseFootprint({ footprint: { [field]: value } }) })),
  ];
  return Object.fromEntries([
    ...Object.entries(AMOUNTS).map(([field, { label, unit }]) => option(field, "N", `${label}, ${unit} a year`)),
    option("carUnit", "UNIT", `Unit of the car's distance: ${CAR_UNITS.join(", ")}`),
    ...Object.entries(DISTANCES).map(([field, { label }]) => option(field, "KM", label)),
    ...Object.entries(CHOICES).map(([field, { label, options }]) =>
      option(field, "NAME", `${label}: ${options.join(", ")}`),
    ),
  ]);
}

function checkedOption(
  placeholder: string,
  help: string,
  check: (given: string) => { ok: true; value: string } | { ok: false; fields: object },
): Option<string> {
  return {
    placeholder,
    help,
    parse(given) {
      const checked = check(given);
      if (!checked.ok) throw new UsageError(Object.values(checked.fields).join(" "));
      return checked.value;
    },
  };
}

async function changeOrFail(email: string, change: PersonChange, context: CommandContext) {
  const { openStore, readConfig, readElectricity } = context;
  const desk = { store: await openStore(), dataDir: readConfig().dataDir, readElectricity };
  const result = await changePerson(email, change, desk);
  if (result.outcome === "done") return result;
  if (result.outcome === "no-estimate") {
    throw new OperatorError(`No message from ${visible(email)} has a footprint estimate; nothing was changed`);
  }
  if (result.outcome === "changed") {
    throw new OperatorError("The messages changed meanwhile, and nothing was corrected; run it again");
  }
  throw new OperatorError(`There are no messages from ${visible(email)}`);
}
