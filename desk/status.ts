import { remedyText } from "../contract/commands.ts";
import { capitalised } from "../contract/text.ts";
import { TABS } from "../server/store/messages.ts";
import { type Channel, rulesOf } from "../server/store/model.ts";
import { createWatch } from "../server/watch/troubles.ts";
import type { Desk } from "./desk.ts";

/** For the page's header and list, and for `stats`. */
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
