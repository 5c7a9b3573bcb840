import type { AnswerTime } from "../../contract/duration.ts";
import type { Store } from "../store/open-store.ts";
import type { Channel } from "../store/store.ts";
import type { ReplyTexts } from "./saved-replies.ts";

/** The resources that operations use. */
export interface Desk {
  store: Store;
  dataDir: string;
  /** How an operator calls the program. */
  program: string;
  /** The channels in use. */
  channels: readonly Channel[];
  databaseKind: "SQLite" | "PostgreSQL";
  /** The operator, as the store knows them. */
  account: string | null;
  /** How soon the site promises to answer. */
  answerWithin?: AnswerTime | null | undefined;
  /** Where senders' answers to replies go; `null` for the contact email of the site. */
  mailTo: string | null;
  /** Read again for each message, because a build may have changed them. */
  replyTexts(): ReplyTexts;
}
