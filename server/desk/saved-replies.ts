import type { MailTexts } from "../../contract/build-manifest.ts";
import { fillFacts, unknownFacts } from "../../contract/facts.ts";
import { formatTotal } from "../../contract/footprint/fields.ts";
import type { StoredMessage } from "../store/store.ts";

/** What the build has for replies: the texts that operators insert, the facts in these, and the line below each reply. */
export interface ReplyTexts {
  replies: MailTexts["replies"];
  facts: Readonly<Record<string, string>>;
  signature: string | null;
}

/** The saved replies for a message. The build knows all their facts, but not whether a message has an estimate. */
export function fillReplies({ replies, facts }: ReplyTexts, { name, reference, footprint }: StoredMessage) {
  const values = { ...facts, name, reference, ...(footprint && { total: formatTotal(footprint.totalKg) }) };
  return replies.map((reply) => ({
    name: reply.name,
    needsEstimate: unknownFacts(reply.text, Object.keys(values)).length > 0,
    text: fillFacts(reply.text, values),
  }));
}
