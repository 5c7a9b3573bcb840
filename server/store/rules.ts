import { ACTIONS, type Action, type Channel, type Delivery, rulesOf, type StoredMessage } from "./store.ts";

// Which actions a message allows. The button, the command and the change itself all use these rules.

/** The deliveries that an action queues. */
export function channelsToQueue(action: Action | "reply", message: StoredMessage, now: Date): Channel[] {
  const isMeant: Readonly<Partial<Record<Action | "reply", (channel: Channel, delivery: Delivery) => boolean>>> = {
    retry: (channel, { state }) => (state === "failed" || state === "queued") && isInTime(channel, message, now),
    resend: (channel, { state }) => channel === "mail" && state === "delivered",
    release: (_channel, { state }) => state === "quarantined",
  };
  return (Object.entries(message.deliveries) as [Channel, Delivery][]).flatMap(([channel, delivery]) =>
    isMeant[action]?.(channel, delivery) ? channel : [],
  );
}

function isInTime(channel: Channel, { acceptedAt }: StoredMessage, now: Date): boolean {
  return now.getTime() - acceptedAt.getTime() < (rulesOf(channel).triedForMs ?? Number.POSITIVE_INFINITY);
}

const REFUSALS: Readonly<Record<Action | "reply", string>> = {
  retry: "only failed or queued messages can be retried",
  resend: "only delivered messages can be resent",
  release: "only quarantined messages can be released",
  spam: "it is marked as spam already",
  delete: "restricted messages cannot be deleted",
  answer: "it is marked as answered already",
  unanswer: "it is not marked as answered",
  reply: "you cannot reply to a quarantined message, or while a reply is waiting",
};

/** Why the message does not allow the action, as the problem of an Advice; `null` if it does. */
export function actionProblem(action: Action | "reply", message: StoredMessage, now: Date): string | null {
  const { reference, state, isRestricted, answeredAt, taught } = message;
  const isMarking = action === "answer" || action === "unanswer";
  const isPossible = isMarking
    ? (answeredAt === null) === (action === "answer")
    : action === "reply"
      ? state !== "quarantined" && message.deliveries.reply?.state !== "queued"
      : action === "spam"
        ? state !== "quarantined" || taught !== "spam"
        : action === "delete" || channelsToQueue(action, message, now).length > 0;
  if (isPossible && isRestricted && !isMarking) {
    return `${reference} is restricted: its sender asked you to keep it but not use it`;
  }
  if (isPossible) return null;
  return `${reference} is ${state}${isRestricted ? ", restricted" : ""}; ${REFUSALS[action]}`;
}

export function allowedActions(message: StoredMessage, now: Date): (Action | "reply")[] {
  return [...ACTIONS, "reply" as const].filter((action) => actionProblem(action, message, now) === null);
}
