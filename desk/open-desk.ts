import type { MailTexts } from "../contract/build-manifest.ts";
import { remedyText } from "../contract/commands.ts";
import type { AnswerTime } from "../contract/duration.ts";
import { fillFacts, unknownFacts } from "../contract/facts.ts";
import { formatTotal } from "../contract/footprint/fields.ts";
import { capitalised } from "../contract/text.ts";
import { TABS } from "../server/store/messages.ts";
import { type Channel, rulesOf, type StoredMessage } from "../server/store/model.ts";
import type { Store } from "../server/store/store.ts";
import { createWatch } from "../server/watch/troubles.ts";

export interface Desk {
  store: Store;
  dataDir: string;
  leftFiles(): readonly string[];
  program: string;
  channels: readonly Channel[];
  /** The operator, as the store knows them. */
  account: string | null;
  answerWithin?: AnswerTime | null | undefined;
  backupsKept?: string | undefined;
  /** Where senders' answers to replies go; `null` for the contact email of the site. */
  mailTo: string | null;
  /** Of an inbox: rejects if its database was moved, replaced or restored since it was opened. */
  requireSameDatabase?: (() => Promise<void>) | undefined;
  /** Read again for each message, because a build may have changed them. */
  replyTexts(): ReplyTexts;
}

interface ReplyTexts {
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

export async function readStatus(desk: Desk) {
  const { store } = desk;
  const { facts, error, troubles } = await createWatch({
    ...desk,
    openedStore: async () => desk.store,
    askedBy: "operator",
  }).find();
  if (facts === null) throw error;
  const sent: { channel: Channel; name: string; delivered: number }[] = [];
  // One after the other: if the database fails, nobody would hear of the others, and the process would end.
  for (const channel of desk.channels) {
    const { delivered } = await store.queue.countChannel(channel);
    sent.push({ channel, name: rulesOf(channel).name, delivered });
  }
  return {
    now: facts.now,
    account: desk.account,
    website: facts.website,
    lastBackupAt: facts.lastBackupAt,
    troubles: troubles.map(({ problem: what, remedy, command, ...trouble }) => ({
      ...trouble,
      what,
      /** For the page, which links to a tab where the terminal names a command. */
      lead: capitalised(remedy ?? ""),
      tab:
        TABS.find((tab) => [`messages list --state ${tab}`, `messages list --${tab}`].includes(command ?? "")) ?? null,
      remedy: capitalised(remedyText({ remedy, command }, desk.program)),
    })),
    counts: await store.messages.countTabs({}),
    notOpened: facts.unseen.count,
    sent,
  };
}
