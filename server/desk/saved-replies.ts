import type { MailTexts } from "../../contract/build-manifest.ts";
import { fillFacts, unknownFacts } from "../../contract/facts.ts";
import { formatTotal } from "../../contract/footprint/fields.ts";
import type { StoredMessage } from "../store/store.ts";

/** The texts that operators insert into replies, as the build has checked them, and the facts of the settings. */
export interface SavedReplies {
  replies: MailTexts["replies"];
  facts: Readonly<Record<string, string>>;
}

/** The saved replies for a message, without those that need something that it does not have. */
export function fillReplies({ replies, facts }: SavedReplies, message: StoredMessage): MailTexts["replies"] {
  const { name, reference, footprint } = message;
  const values = { ...facts, name, reference, ...(footprint && { total: formatTotal(footprint.totalKg) }) };
  const isComplete = (text: string) => unknownFacts(text, Object.keys(values)).length === 0;
  return replies
    .filter(({ text }) => isComplete(text))
    .map((reply) => ({ name: reply.name, text: fillFacts(reply.text, values) }));
}
