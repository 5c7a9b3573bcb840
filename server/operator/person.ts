import { createHash } from "node:crypto";
import { type ContactMessage, FIELD_NAMES, type FieldErrors, parseFields } from "../../contract/contact-message.ts";
import {
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
import type { FootprintErrors, FootprintField } from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import { BuildMissing } from "../manifest.ts";
import { OperatorError } from "../operator-error.ts";
import type { Store } from "../store/open-store.ts";
import type { StoredMessage } from "../store/store.ts";
import { noteErasure } from "./erasures.ts";
import { visibleJson } from "./export.ts";
import { messagesJson, removeFiles } from "./messages.ts";

/**
 * All messages from an address, with one version for all of them, and the references of messages that the hook's
 * receiver has.
 */
export async function readPerson(email: string, store: Store) {
  const messages = await store.messages.list({ email });
  const versions = messages.map(({ version }) => version).sort();
  const count = messages.filter(({ isRestricted }) => isRestricted).length;
  return {
    email,
    messages,
    version: createHash("sha256").update(versions.join("\n")).digest("base64url"),
    posted: messages.flatMap(({ deliveries: { hook }, reference }) => (hook?.state === "delivered" ? reference : [])),
    restricted: count === 0 ? ("none" as const) : count === messages.length ? ("all" as const) : ("some" as const),
    hasFootprint: messages.some(({ footprint }) => footprint !== null),
  };
}

export async function exportPerson(email: string, store: Store): Promise<string> {
  const messages = await messagesJson(await store.messages.list({ email }), store.messages);
  return visibleJson({ email, exportedAt: await store.status.time(), messages });
}

/** If a version is given and the person's messages have another version, nothing is changed. */
interface PersonTarget {
  email: string;
  version?: string | undefined;
}

async function findPerson({ email, version }: PersonTarget, store: Store) {
  const person = await readPerson(email, store);
  const isOther = version !== undefined && version !== person.version;
  const problem = person.messages.length === 0 ? ("gone" as const) : isOther ? ("changed" as const) : null;
  const versions = person.messages.map((message) => message.version);
  return { problem, messages: person.messages, versions, seen: version === undefined ? undefined : versions };
}

const resultOf = (messages: number, files = 0) =>
  messages > 0 ? { outcome: "done" as const, messages, files } : { outcome: "changed" as const };

/** Restricts the messages, so that they are kept but not used; or lifts the restriction. */
export async function restrictPerson(target: PersonTarget, isRestricted: boolean, { store }: { store: Store }) {
  const { problem, seen } = await findPerson(target, store);
  if (problem) return { outcome: problem };
  return resultOf(await store.people.restrict(target.email, isRestricted, await store.status.time(), seen));
}

export async function erasePerson(target: PersonTarget, { store, dataDir }: { store: Store; dataDir: string }) {
  const { problem, seen } = await findPerson(target, store);
  // A repeated request finishes an interrupted erasure, whose messages are already gone.
  const isFinished = await store.people.finishErasure();
  if (problem === "gone" && isFinished) return { outcome: "done" as const, messages: 0, files: 0 };
  if (problem) return { outcome: problem };
  // Runs before the erasure, so that a backup that is restored later never restores these messages.
  await noteErasure(dataDir, { hash: await store.people.hashAddress(target.email), at: await store.status.time() });
  const references = await store.people.erase(target.email, seen);
  // Removes the files before `finishErasure`: if that fails, it can be repeated without the references.
  const files = await removeFiles(dataDir, references);
  await store.people.finishErasure();
  return resultOf(references.length, files);
}

interface Correction {
  changes: Partial<ContactMessage>;
  /** Removes the estimates, or computes them again with these inputs instead of their own. */
  footprint?: "none" | Readonly<Partial<Record<FootprintField, string>>> | undefined;
}

const MAX_TRIES = 5;

/**
 * `no-estimate`: a corrected estimate was given, but no message has one. Rejects if an estimate cannot be computed
 * again.
 */
export async function correctPerson(
  target: PersonTarget,
  { changes, footprint }: Correction,
  { store, readElectricity }: { store: Store; readElectricity(): ElectricityTable },
) {
  const parsed = parseCorrection(changes, footprint);
  if (!parsed.ok) return { outcome: "invalid" as const, fields: parsed.fields };
  for (let tryNumber = 1; tryNumber <= MAX_TRIES; tryNumber += 1) {
    const { problem, messages, versions, seen } = await findPerson(target, store);
    if (problem) return { outcome: problem };
    if (footprint && messages.every((message) => message.footprint === null)) {
      return { outcome: "no-estimate" as const };
    }
    const correction = { changes: parsed.changes, footprint };
    const footprints = correctedFootprints(messages, correction, readElectricity);
    // Estimates are computed from the messages read, so they are stored only if these have not changed since.
    const guard = footprints === null ? seen : versions;
    const count = await store.people.rectify(
      target.email,
      parsed.changes,
      await store.status.time(),
      guard,
      footprints,
    );
    if (count > 0) return resultOf(count);
  }
  return { outcome: "changed" as const };
}

/** The estimates of all messages after the correction; `null` if it changes none. */
function correctedFootprints(
  messages: readonly StoredMessage[],
  { changes, footprint: correction }: Correction,
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
      // The unit belongs to the number: a corrected distance is in km unless its unit is given too.
      const unit = corrected.carKm === undefined ? {} : { carUnit: "km" };
      const parsed = parseFootprint({ footprint: { ...footprint.inputs, ...unit, ...corrected } });
      if (!parsed.ok) throw new OperatorError({ problem: `${reference}: ${Object.values(parsed.fields).join(" ")}` });
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
    const problem = "The footprint estimate cannot be computed again";
    throw new OperatorError([{ problem }, ...error.advice], { cause: error });
  }
}

/** Checks corrected fields and estimate inputs by the rules of the contact form. */
function parseCorrection(
  given: Correction["changes"],
  footprint: Correction["footprint"] = "none",
): { ok: true; changes: Partial<ContactMessage> } | { ok: false; fields: FieldErrors & FootprintErrors } {
  const corrected = FIELD_NAMES.filter((field) => Object.hasOwn(given, field));
  const parsed = parseFields(given, corrected);
  const inputs = parseFootprint({ footprint: footprint === "none" ? null : footprint });
  if (!parsed.ok || !inputs.ok)
    return { ok: false, fields: { ...(!parsed.ok && parsed.fields), ...(!inputs.ok && inputs.fields) } };
  return { ok: true, changes: parsed.values };
}
