import { remedyText } from "../../contract/commands.ts";
import { capitalised } from "../../contract/text.ts";
import { CHANNELS, rulesOf } from "../store/store.ts";
import { countOf, createWatch } from "../watch/troubles.ts";
import type { Desk } from "./desk.ts";

/** What is wrong, with its remedy; how many messages there are; whether the website runs; the last backup. */
export async function readStatus(desk: Desk) {
  const { store } = desk;
  const now = new Date();
  const { facts, problem, defect, troubles } = await createWatch({ ...desk, askedBy: "operator" }).find();
  if (facts === null) throw defect ?? problem;
  const sent = CHANNELS.map(async (channel) => {
    const { delivered } = await store.queue.countChannel(channel);
    return { channel, name: rulesOf(channel).name, delivered };
  });
  return {
    now,
    website: facts.website,
    lastBackupAt: facts.lastBackupAt,
    troubles: troubles.map(({ problem: what, remedy, command, ...trouble }) => ({
      ...trouble,
      what,
      remedy: capitalised(remedyText({ remedy, command }, desk.program)),
    })),
    counts: await store.messages.countTabs({}),
    /** The quarantined messages that no operator has opened. */
    notOpened: countOf(facts, "mail", "quarantined")?.unseen ?? 0,
    sent: await Promise.all(sent),
  };
}
