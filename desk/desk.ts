import type { MailTexts } from "../contract/build-manifest.ts";
import type { AnswerTime } from "../contract/duration.ts";
import type { Config } from "../server/config.ts";
import { readSite } from "../server/manifest.ts";
import { type Channel, channelsOf } from "../server/store/model.ts";
import { leftFiles } from "../server/store/sqlite.ts";
import { openStore, type Store } from "../server/store/store.ts";

/** What every operation works with: the store, the operator and the settings. */
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

export interface ReplyTexts {
  replies: MailTexts["replies"];
  facts: Readonly<Record<string, string>>;
  signature: string | null;
}

/** Close its store at the end. */
export async function openDesk(config: Config, owner: Pick<Desk, "program" | "account">) {
  return {
    ...owner,
    store: await openStore({ ...config, account: owner.account }),
    dataDir: config.dataDir,
    leftFiles: () => leftFiles(config),
    channels: channelsOf(config),
    mailTo: config.mailTo,
    answerWithin: readSite()?.answerWithin,
    backupsKept: readSite()?.facts.backupsKept,
    replyTexts() {
      const site = readSite();
      const { replies = [] } = site?.mails ?? {};
      return { replies, facts: site?.facts ?? {}, signature: site?.mailSignature ?? null };
    },
  };
}
