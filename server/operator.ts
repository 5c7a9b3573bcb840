import { createHash } from "node:crypto";
import { type ContactMessage, type FieldErrors, parseContactMessage } from "../contract/contact-message.ts";
import {
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
  parseFootprint,
} from "../contract/footprint.ts";
import type { FootprintField } from "../contract/footprint-fields.ts";
import type { Action } from "../contract/inbox.ts";
import { BuildMissing } from "./http/site-files.ts";
import { errorName } from "./log.ts";
import { removeStrayEmls } from "./mail/eml.ts";
import { normaliseReference } from "./store/reference.ts";
import type { Store, StoredMessage } from "./store/store.ts";

/** What an operator does to messages, by the command line and by the inbox alike. */
export interface OperatorParts {
  store: Store;
  /** Where .eml files are. */
  dataDir: string;
  now: Date;
}

/** With a version, nothing is done to a message that has another by now. */
export interface Target {
  reference: string;
  version?: string;
}

/** `changed` and `refused` leave the message as it is. */
export type TargetResult =
  | { reference: string; outcome: "done"; message: StoredMessage | null }
  | { reference: string; outcome: "changed"; message: StoredMessage }
  | { reference: string; outcome: "gone" }
  | { reference: string; outcome: "refused"; message: StoredMessage; reason: string };

/** The messages are gone, but .eml files of them are left; asking again removes these. */
export class FilesLeft extends Error {
  override readonly name = "FilesLeft";
}

/** A correction needs a new footprint estimate, which cannot be computed; nothing was changed. */
export class EstimateFailed extends Error {
  override readonly name = "EstimateFailed";
}

/** Does it to each of the messages that it fits. The results are in the order of the targets. */
export async function actOn(
  action: Action,
  targets: readonly Target[],
  parts: OperatorParts,
): Promise<{ results: TargetResult[]; files: number }> {
  const { store, now } = parts;
  const references = targets.map(({ reference }) => reference);
  const versions = targets.flatMap(({ version }) => version ?? []);
  const selection = { references, versions: versions.length > 0 ? versions : undefined };
  const done = new Set(await store.act(action, selection, now));
  const files = action === "delete" && done.size > 0 ? await removeFiles(parts) : 0;
  const messages = new Map((await store.list({ references })).map((message) => [message.reference, message]));
  const results = targets.map(({ reference: given, version }): TargetResult => {
    const reference = normaliseReference(given);
    const message = messages.get(reference);
    if (done.has(reference)) return { reference, outcome: "done", message: message ?? null };
    if (!message) return { reference, outcome: "gone" };
    if (version !== undefined && version !== message.version) return { reference, outcome: "changed", message };
    return { reference, outcome: "refused", message, reason: refusal(action, message) };
  });
  return { results, files };
}

const RULES: Readonly<Record<Action, string>> = {
  retry: "only failed and queued messages can be retried",
  resend: "only delivered messages can be resent",
  release: "only quarantined messages can be released",
  delete: "restricted messages cannot be deleted",
  answer: "it is marked as answered already",
  unanswer: "it is not marked as answered",
};

/** Why an action does not fit a message, as a sentence without its full stop. */
export function refusal(action: Action, message: StoredMessage): string {
  const hint = message.isRestricted ? ". Its sender asked that it be kept but not used" : "";
  return `${message.reference} is ${stateOf(message)}; ${RULES[action]}${hint}`;
}

export function stateOf({ state, isRestricted }: StoredMessage): string {
  return isRestricted ? `${state}, restricted` : state;
}

/** All messages from an address, and a version of them all together. */
export interface PersonRecord {
  messages: StoredMessage[];
  version: string;
}

export async function readPerson(email: string, store: Store): Promise<PersonRecord> {
  const messages = await store.list({ email });
  const versions = messages.map(({ version }) => version).sort();
  return { messages, version: createHash("sha256").update(versions.join("\n")).digest("base64url") };
}

/** `no-estimate`: an estimate was to be corrected, and no message has one; nothing was changed. */
export type PersonResult =
  | { outcome: "done"; messages: number; files: number }
  | { outcome: "changed" | "gone" }
  | { outcome: "no-estimate" };

/** What is to become of an estimate: removed, or computed again with these inputs in place of its own. */
export type FootprintCorrection = "none" | Readonly<Partial<Record<FootprintField, string>>>;

/** What a person may ask for: a correction, the messages kept but not used, or erased. */
export type PersonChange =
  | { kind: "correct"; changes: Partial<ContactMessage>; footprint?: FootprintCorrection | undefined }
  | { kind: "restrict"; isRestricted: boolean }
  | { kind: "erase" };

export interface PersonParts extends OperatorParts {
  /** Throws BuildMissing. Only called when an estimate has to be computed. */
  readElectricity(): ElectricityTable;
}

const MAX_TRIES = 5;

/** With a version, changes nothing when the person's messages have another by now. */
export async function changePerson(
  email: string,
  change: PersonChange,
  parts: PersonParts,
  version?: string,
): Promise<PersonResult> {
  if (change.kind === "correct") return correctPerson(email, change, parts, version);
  const { store, now } = parts;
  const person = await readPerson(email, store);
  if (version !== undefined && version !== person.version) return { outcome: "changed" };
  const versions = version === undefined ? undefined : person.messages.map((message) => message.version);
  if (change.kind === "erase") {
    const { length: messages } = await store.erase(email, versions);
    if (messages === 0 && person.messages.length > 0) return { outcome: "changed" };
    // Whatever the store says: another server may have erased the messages, and this one still has its files of them.
    const files = await removeFiles(parts);
    return messages + files > 0 ? { outcome: "done", messages, files } : { outcome: "gone" };
  }
  if (person.messages.length === 0) return { outcome: "gone" };
  const messages = await store.restrict(email, change.isRestricted, now, versions);
  return messages > 0 ? { outcome: "done", messages, files: 0 } : { outcome: "changed" };
}

async function correctPerson(
  email: string,
  change: PersonChange & { kind: "correct" },
  { store, now, readElectricity }: PersonParts,
  version: string | undefined,
): Promise<PersonResult> {
  for (let tryNumber = 1; tryNumber <= MAX_TRIES; tryNumber += 1) {
    const person = await readPerson(email, store);
    if (version !== undefined && version !== person.version) return { outcome: "changed" };
    if (person.messages.length === 0) return { outcome: "gone" };
    if (change.footprint !== undefined && person.messages.every(({ footprint }) => footprint === null)) {
      return { outcome: "no-estimate" };
    }
    const footprints = correctedFootprints(person.messages, change, readElectricity);
    // Estimates are computed from what was read, so they are stored only while that is still true.
    const isGuarded = version !== undefined || footprints !== null;
    const versions = isGuarded ? person.messages.map((message) => message.version) : undefined;
    const messages = await store.rectify(email, change.changes, now, versions, footprints);
    if (messages > 0) return { outcome: "done", messages, files: 0 };
    if (version !== undefined) break;
  }
  return { outcome: "changed" };
}

/** The estimates of all the messages after the correction; `null` when it changes none. */
function correctedFootprints(
  messages: readonly StoredMessage[],
  { changes, footprint: correction }: PersonChange & { kind: "correct" },
  readElectricity: () => ElectricityTable,
): Map<string, FootprintEstimate | null> | null {
  const isAffected = ({ footprint, country }: StoredMessage) =>
    footprint !== null && (correction !== undefined || (changes.country !== undefined && changes.country !== country));
  if (!messages.some(isAffected)) return null;
  const electricity = correction === "none" ? null : electricityOrFail(readElectricity);
  return new Map(
    messages.map((message) => {
      const { reference, footprint, country } = message;
      if (!isAffected(message) || footprint === null) return [reference, footprint];
      if (electricity === null) return [reference, null];
      const parsed = parseFootprint({
        footprint: { ...footprint.inputs, ...(correction === "none" ? {} : correction) },
      });
      if (!parsed.ok) throw new EstimateFailed(`${reference}: ${Object.values(parsed.fields).join(" ")}`);
      const { inputs } = parsed;
      return [reference, inputs && estimateFootprint(inputs, changes.country ?? country, electricity)];
    }),
  );
}

function electricityOrFail(readElectricity: () => ElectricityTable): ElectricityTable {
  try {
    return readElectricity();
  } catch (error) {
    if (!(error instanceof BuildMissing)) throw error;
    throw new EstimateFailed(`The footprint estimate cannot be computed again. ${error.message}`, { cause: error });
  }
}

/** Checks corrected fields by the contact form's own rules. */
export function parseCorrection(
  given: Readonly<Record<string, unknown>>,
): { ok: true; changes: Partial<ContactMessage> } | { ok: false; fields: FieldErrors } {
  // The fields that are not given need values that are valid.
  const sample: ContactMessage = { name: "A", email: "a@example.com", phone: "0", country: "", message: "A" };
  const parsed = parseContactMessage({ ...sample, ...given });
  if (!parsed.ok) return parsed;
  const changes = Object.entries(parsed.message).filter(([field]) => Object.hasOwn(given, field));
  return { ok: true, changes: Object.fromEntries(changes) };
}

async function removeFiles({ dataDir, store }: OperatorParts): Promise<number> {
  try {
    return await removeStrayEmls(dataDir, store);
  } catch (error) {
    throw new FilesLeft(
      `The messages are deleted, but some of their .eml files in DATA_DIR/outbox are left (${errorName(error)}); ` +
        "the site's server removes them within an hour",
      { cause: error },
    );
  }
}
