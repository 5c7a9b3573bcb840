import { createHash } from "node:crypto";
import { type ContactMessage, FIELD_NAMES, parseFields } from "../../contract/contact-message.ts";
import type { Store } from "../store/open-store.ts";
import { visibleJson } from "./export.ts";
import { messagesJson, removeFiles } from "./messages.ts";

/**
 * All messages from an address, with one version for all of them. */
export async function readPerson(email: string, store: Store) {
  const messages = await store.messages.list({ email });
  const versions = messages.map(({ version }) => version).sort();
  const count = messages.filter(({ isRestricted }) => isRestricted).length;
  return {
    email,
    messages,
    version: createHash("sha256").update(versions.join("\n")).digest("base64url"),
    restricted: count === 0 ? ("none" as const) : count === messages.length ? ("all" as const) : ("some" as const),
    hasFootprint: messages.some(({ footprint }) => footprint !== null),
  };
}

/** Includes drafts of replies, which other exports leave out. */
export async function exportPerson(email: string, store: Store): Promise<string> {
  const messages = await messagesJson(await store.messages.list({ email }), store.messages);
  const drafts = await store.messages.listDrafts(messages.map(({ reference }) => reference));
  const withDrafts = messages.map((message) => {
    const theirs = drafts.filter(({ reference }) => reference === message.reference);
    return theirs.length === 0 ? message : { ...message, drafts: theirs.map(({ reference: _, ...draft }) => draft) };
  });
  return visibleJson({ email, exportedAt: new Date(), messages: withDrafts });
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
  const seen = version === undefined ? undefined : person.messages.map((message) => message.version);
  return { problem, messages: person.messages, seen };
}

const resultOf = (messages: number, references: readonly string[] = []) =>
  messages > 0 ? { outcome: "done" as const, messages, references } : { outcome: "changed" as const };

/** Restricts the messages, so that they are kept but not used; or lifts the restriction. */
export async function restrictPerson(target: PersonTarget, isRestricted: boolean, { store }: { store: Store }) {
  const { problem, seen } = await findPerson(target, store);
  if (problem) return { outcome: problem };
  return resultOf(await store.people.restrict(target.email, isRestricted, new Date(), seen));
}

/** Also records the erasure if there are no messages: a backup may have some. */
export async function erasePerson(target: PersonTarget, { store, dataDir }: { store: Store; dataDir: string }) {
  const { problem, seen } = await findPerson(target, store);
  if (problem === "changed") return { outcome: problem };
  const references = await store.people.erase(target.email, seen);
  if (references === null) return { outcome: "changed" as const };
  // Removes the files before `finishErasure`: if that fails, it can be repeated without the references.
  const files = await removeFiles(dataDir, references);
  // Also finishes an earlier erasure that was interrupted.
  await store.people.finishErasure();
  return { outcome: "done" as const, messages: references.length, files, references };
}

interface Correction {
  changes: Partial<ContactMessage>;
  /** Estimates are removed, never computed again. */
  removesFootprint: boolean;
}

/** `no-estimate`: an estimate should be removed, but no message has one. */
export async function correctPerson(target: PersonTarget, correction: Correction, { store }: { store: Store }) {
  const { changes, removesFootprint } = correction;
  const given = FIELD_NAMES.filter((field) => Object.hasOwn(changes, field));
  const parsed = parseFields(changes, given);
  if (!parsed.ok) return { outcome: "invalid" as const, fields: parsed.fields };
  const { problem, messages, seen } = await findPerson(target, store);
  if (problem) return { outcome: problem };
  if (removesFootprint && messages.every(({ footprint }) => footprint === null)) {
    return { outcome: "no-estimate" as const };
  }
  const now = new Date();
  const count = await store.people.rectify(target.email, parsed.values, now, seen, removesFootprint);
  return resultOf(
    count,
    messages.map(({ reference }) => reference),
  );
}
