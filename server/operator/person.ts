import { createHash } from "node:crypto";
import { type ContactMessage, type FieldErrors, parseContactMessage } from "../../contract/contact-message.ts";
import {
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
  parseFootprint,
} from "../../contract/footprint.ts";
import type { FootprintErrors, FootprintField } from "../../contract/footprint-fields.ts";
import { OperatorError } from "../log.ts";
import { BuildMissing } from "../manifest.ts";
import type { Store, StoredMessage } from "../store/store.ts";
import { noteErasure } from "./erasures.ts";
import { visibleJson } from "./export.ts";
import { messagesJson, removeFiles } from "./messages.ts";

/** All messages from an address, a version of them all together, and the references that the hook's receiver has. */
export async function readPerson(email: string, store: Store) {
  const messages = await store.list({ email });
  const versions = messages.map(({ version }) => version).sort();
  const count = messages.filter(({ isRestricted }) => isRestricted).length;
  const restricted = count === 0 ? "none" : count === messages.length ? "all" : "some";
  return {
    email,
    messages,
    version: createHash("sha256").update(versions.join("\n")).digest("base64url"),
    posted: messages.flatMap(({ deliveries: { hook }, reference }) => (hook?.state === "delivered" ? reference : [])),
    restricted: restricted as "none" | "some" | "all",
    hasFootprint: messages.some(({ footprint }) => footprint !== null),
  };
}

/** All that is stored about a person, to be handed to them. */
export async function exportPerson(email: string, store: Store): Promise<{ text: string; count: number }> {
  const messages = await store.list({ email });
  const json = await messagesJson(messages, store);
  return { text: visibleJson({ email, exportedAt: await store.time(), messages: json }), count: messages.length };
}

/** `no-estimate`: an estimate was to be corrected, and no message has one; nothing was changed. */
type PersonResult =
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

interface PersonDesk {
  store: Store;
  /** Where .eml files are. */
  dataDir: string;
  /** Throws BuildMissing. Only called when an estimate has to be computed. */
  readElectricity(): ElectricityTable;
}

const MAX_TRIES = 5;

/**
 * With a version, changes nothing when the person's messages have another by now. Rejects with OperatorError when an
 * estimate cannot be computed again; then nothing was changed.
 */
export async function changePerson(
  email: string,
  change: PersonChange,
  desk: PersonDesk,
  version?: string,
): Promise<PersonResult> {
  if (change.kind === "correct") return correctPerson(email, change, desk, version);
  const { store, dataDir } = desk;
  const now = await store.time();
  const person = await readPerson(email, store);
  if (version !== undefined && version !== person.version) return { outcome: "changed" };
  const versions = version === undefined ? undefined : person.messages.map((message) => message.version);
  // Asking again finishes an erasure that was interrupted, whose messages are gone already.
  const isFinished = change.kind === "erase" && (await store.finishErasure());
  if (person.messages.length === 0)
    return isFinished ? { outcome: "done", messages: 0, files: 0 } : { outcome: "gone" };
  if (change.kind === "restrict") {
    const messages = await store.restrict(email, change.isRestricted, now, versions);
    return messages > 0 ? { outcome: "done", messages, files: 0 } : { outcome: "changed" };
  }
  // First: a backup that is restored after it must not bring them back.
  await noteErasure(dataDir, { hash: await store.hashAddress(email), at: now });
  const references = await store.erase(email, versions);
  if (references.length === 0) return { outcome: "changed" };
  // The files first: what fails after them can be repeated without their names.
  const files = await removeFiles(dataDir, references);
  await store.finishErasure();
  return { outcome: "done", messages: references.length, files };
}

async function correctPerson(
  email: string,
  change: PersonChange & { kind: "correct" },
  { store, readElectricity }: PersonDesk,
  version: string | undefined,
): Promise<PersonResult> {
  const now = await store.time();
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
      const corrected = correction === "none" ? {} : (correction ?? {});
      // The unit belongs to the number: a corrected distance is in km unless it comes with another.
      const unit = corrected.carKm === undefined ? {} : { carUnit: "km" };
      const parsed = parseFootprint({ footprint: { ...footprint.inputs, ...unit, ...corrected } });
      if (!parsed.ok) throw new OperatorError(`${reference}: ${Object.values(parsed.fields).join(" ")}`);
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
    throw new OperatorError(`The footprint estimate cannot be computed again. ${error.message}`, { cause: error });
  }
}

/** Checks corrected fields, and inputs of an estimate, by the contact form's own rules. */
export function parseCorrection(
  given: Readonly<Record<string, unknown>>,
  footprint: FootprintCorrection = "none",
): { ok: true; changes: Partial<ContactMessage> } | { ok: false; fields: FieldErrors & FootprintErrors } {
  // The fields that are not given need values that are valid.
  const sample: ContactMessage = { name: "A", email: "a@example.com", phone: "0", country: "", message: "A" };
  const parsed = parseContactMessage({ ...sample, ...given });
  const inputs = parseFootprint({ footprint: footprint === "none" ? null : footprint });
  if (!parsed.ok || !inputs.ok)
    return { ok: false, fields: { ...(!parsed.ok && parsed.fields), ...(!inputs.ok && inputs.fields) } };
  const changes = Object.entries(parsed.message).filter(([field]) => Object.hasOwn(given, field));
  return { ok: true, changes: Object.fromEntries(changes) };
}
