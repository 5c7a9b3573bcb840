import type { Action } from "../../contract/inbox.ts";
import type { MessageState } from "./store.ts";

/** Which messages an action may be done to: those that fit all of the conditions given. */
export interface ActionRule {
  states?: readonly MessageState[];
  /** The states of all messages since a time that it is done to, where that is not the same. */
  statesInBulk?: readonly MessageState[];
  isRestricted?: boolean;
  isAnswered?: boolean;
  /** It is also done to a message whose web hook or acknowledgement failed or waits for its next attempt. */
  fitsOtherDeliveries?: boolean;
  /** For an operator, without a full stop. */
  sentence: string;
}

/**
 * What an operator may do to which message. The store makes its SQL of it, so that a message is checked by the statement
 * that changes it, and server/operator/ tells operators and the page of the inbox beforehand.
 */
export const ACTION_RULES: Readonly<Record<Action, ActionRule>> = {
  retry: {
    states: ["failed", "queued"],
    statesInBulk: ["failed"],
    isRestricted: false,
    fitsOtherDeliveries: true,
    sentence: "only what failed or is queued can be retried",
  },
  resend: { states: ["delivered"], isRestricted: false, sentence: "only delivered messages can be resent" },
  release: { states: ["quarantined"], isRestricted: false, sentence: "only quarantined messages can be released" },
  delete: { isRestricted: false, sentence: "restricted messages cannot be deleted" },
  answer: { isAnswered: false, sentence: "it is marked as answered already" },
  unanswer: { isAnswered: true, sentence: "it is not marked as answered" },
};
