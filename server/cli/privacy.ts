import { type ContactField, type ContactMessage, parseContactMessage } from "../../contract/contact-message.ts";
import { removeEmls } from "../mail/eml-files.ts";
import { CommandFailed, defineCommand, UsageError } from "./command.ts";
import { messageJson } from "./message-json.ts";
import { countOf } from "./queue.ts";
import { visible, visibleJson } from "./visible-text.ts";

const ONE_ADDRESS = { least: 1, most: 1 } as const;

export const privacyExport = defineCommand({
  name: "privacy export",
  usage: "EMAIL",
  summary: "all that is held on an address, as JSON",
  details: "  Answers a request for access or portability.",
  operands: ONE_ADDRESS,
  options: {},
  read(_, [email = ""]) {
    return async ({ store, out, now }) => {
      const messages = (await store.list({ email })).map(messageJson);
      out(`${visibleJson({ email, exportedAt: now, messages })}\n`);
    };
  },
});

export const privacyRectify = defineCommand({
  name: "privacy rectify",
  usage: "EMAIL [--name NAME] [--email NEW] [--phone PHONE] [--country CODE] [--message TEXT]",
  summary: "correct what is held on an address",
  details: `  Changes only what is given, in every message from that address; --country= with nothing clears it.
  A mail that was sent, or written to an .eml file, keeps its words.`,
  operands: ONE_ADDRESS,
  options: {
    name: { type: "string" },
    email: { type: "string" },
    phone: { type: "string" },
    country: { type: "string" },
    message: { type: "string" },
  },
  read(values, [email = ""]) {
    const fields = Object.keys(values) as ContactField[];
    if (fields.length === 0) throw new UsageError("Say what to correct; e.g. --name 'Ada King'");
    // Each field keeps the form's rules by itself, whatever the others hold.
    const sample = { name: "A", email: "a@example.com", phone: "0", country: "", message: "A" };
    const parsed = parseContactMessage({ ...sample, ...values });
    if (!parsed.ok) {
      throw new UsageError(
        Object.entries(parsed.fields)
          .map(([field, problem]) => `--${field}: ${problem}`)
          .join("\n"),
      );
    }
    const changes: Partial<ContactMessage> = Object.fromEntries(fields.map((field) => [field, parsed.message[field]]));
    return async ({ store, out }) => {
      out(`${countOf(found(email, await store.rectify(email, changes)))} corrected.\n`);
    };
  },
});

export const privacyRestrict = defineCommand({
  name: "privacy restrict",
  usage: "EMAIL [--lift]",
  summary: "keep an address's messages, but neither mail nor purge them",
  details: "  --lift          use them again",
  operands: ONE_ADDRESS,
  options: { lift: { type: "boolean" } },
  read({ lift = false }, [email = ""]) {
    return async ({ store, out }) => {
      const count = found(email, await store.restrict(email, !lift));
      out(`${countOf(count)} ${lift ? "in use again" : "restricted"}.\n`);
    };
  },
});

export const privacyErase = defineCommand({
  name: "privacy erase",
  usage: "EMAIL [--yes]",
  summary: "erase all that is held on an address",
  details: `  --yes           do not ask first

  Removes the messages, every trace of them in the database's files, and their .eml files in DATA_DIR/outbox. With
  several servers that write .eml files, run it on each. Backups, the mails already sent and a PostgreSQL server's own
  log and archives are beyond its reach.`,
  operands: ONE_ADDRESS,
  options: { yes: { type: "boolean" } },
  read({ yes = false }, [email = ""]) {
    return async ({ store, dataDir, out, confirm }) => {
      const held = (await store.list({ email })).map((message) => message.reference);
      if (!yes && held.length > 0) {
        if (!confirm) throw new CommandFailed("Nobody is there to be asked; add --yes to erase without a question");
        if (!(await confirm(`Erase ${countOf(held.length)} from ${visible(email)} for good? [y/N] `))) {
          return out("Nothing was erased.\n");
        }
      }
      // Files first and again last: whatever is cut off here is finished by running it again, and a mail that was being
      // written meanwhile is found too.
      await removeEmls(dataDir, held);
      const erased = await store.erase(email);
      await removeEmls(dataDir, [...new Set([...held, ...erased])]);
      out(`${countOf(found(email, erased.length))} erased, .eml files included.\n`);
    };
  },
});

function found(email: string, count: number): number {
  if (count === 0) throw new CommandFailed(`Nothing is held on ${visible(email)}`);
  return count;
}
