import { type ContactMessage, FIELD_NAMES, parseFields } from "../contract/contact-message.ts";
import { OperatorError } from "../server/errors.ts";
import type { Store } from "../server/store/store.ts";
import { visibleJson } from "./export-messages.ts";
import { messagesJson, removeFiles } from "./message-view.ts";

// What operators do for the person behind an address. They reject with an OperatorError if there are no messages.

export async function readPerson(email: string, store: Store) {
  const messages = await store.messages.list({ email });
  const count = messages.filter(({ isRestricted }) => isRestricted).length;
  return {
    email,
    messages,
    restricted: count === 0 ? ("none" as const) : count === messages.length ? ("all" as const) : ("some" as const),
    hasFootprint: messages.some(({ footprint }) => footprint !== null),
  };
}

/** Includes drafts of replies, which other exports leave out. */
export async function exportPerson(email: string, store: Store): Promise<string> {
  const messages = await messagesJson(await store.messages.list({ email }), store.messages);
  const withDrafts: unknown[] = [];
  // One after the other: PostgreSQL has few connections for a command.
  for (const message of messages) {
    const { own, others } = await store.replies.readDrafts(message.reference);
    const drafts = own ? [own, ...others] : others;
    withDrafts.push(drafts.length === 0 ? message : { ...message, drafts });
  }
  const mails = await store.people.mailsFrom(email);
  const elsewhere = mails.length > 0 && { mailsToOtherMessages: mails };
  return visibleJson({ email, exportedAt: new Date(), messages: withDrafts, ...elsewhere });
}

function noMessages(email: string): OperatorError {
  return new OperatorError({ problem: `There are no messages from ${email}` });
}

export async function restrictPerson(email: string, isRestricted: boolean, { store }: { store: Store }) {
  const messages = await store.people.restrict(email, isRestricted, await store.status.time());
  if (messages === 0) throw noMessages(email);
  return { messages };
}

export async function erasePerson(email: string, { store, dataDir }: { store: Store; dataDir: string }) {
  const references = await store.people.erase(email);
  // Removes the files before `finishErasure`: if that fails, it can be repeated without the references.
  const files = await removeFiles(dataDir, references);
  await store.people.finishErasure();
  return { messages: references.length, files, references };
}

interface Correction {
  changes: Partial<ContactMessage>;
  /** Estimates are removed, never computed again. */
  removesFootprint: boolean;
}

export async function correctPerson(email: string, correction: Correction, { store }: { store: Store }) {
  const { changes, removesFootprint } = correction;
  const given = FIELD_NAMES.filter((field) => Object.hasOwn(changes, field));
  const parsed = parseFields(changes, given);
  if (!parsed.ok) return { outcome: "invalid" as const, fields: parsed.fields };
  const { messages, hasFootprint } = await readPerson(email, store);
  if (messages.length === 0) throw noMessages(email);
  if (removesFootprint && !hasFootprint) {
    throw new OperatorError({ problem: `No message from ${email} has a footprint estimate; nothing was changed` });
  }
  const now = await store.status.time();
  const count = await store.people.rectify(email, parsed.message, now, removesFootprint);
  return { outcome: "done" as const, messages: count, references: messages.map(({ reference }) => reference) };
}
