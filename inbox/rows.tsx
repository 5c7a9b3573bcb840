import { Badge, Checkbox, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type FocusEvent, useEffect, useRef } from "react";
import { CONTACT_FIELDS, FIELD_NAMES } from "../contract/contact-message.ts";
import { formatMass } from "../contract/footprint/fields.ts";
import { EXPIRY_NOTICE_MS } from "../contract/operator-limits.ts";
import { visible } from "../contract/text.ts";
import type { MessageView } from "./api.ts";
import { countryName, erasedWhen, Moment, VisitorText } from "./labels.tsx";
import type { ListView } from "./list-view.ts";

export const STATE = {
  queued: ["Waiting", "gray"],
  delivered: ["Delivered", "green"],
  failed: ["Failed", "red"],
  quarantined: ["Quarantined", "yellow"],
} as const;
/** The labels of the quarantine reasons, except the trap and the limits. */
const HELD_AS: Readonly<Partial<Record<NonNullable<MessageView["quarantineReason"]>, string>>> = {
  "looks-like-spam": "Looks like spam",
  "marked-as-spam": "Marked as spam",
};
/** The fields that stand beside the state. The others have places of their own. */
const MARKED_FIELDS = FIELD_NAMES.filter(
  (field) => CONTACT_FIELDS[field].isListed && !["name", "email", "message"].includes(field),
);
/** A row never shows more of a text. */
const EXCERPT_LENGTH = 400;

/** The marks that an operator needs. A delivered message needs none. */
export function StateMarks({ message, now }: { message: Omit<MessageView, "hasNote">; now: Date }) {
  const { state, expiresAt, answeredAt, isRestricted, deliveryMarks } = message;
  const held = state === "quarantined" && message.quarantineReason && HELD_AS[message.quarantineReason];
  const isExpiring = expiresAt && answeredAt === null && expiresAt.getTime() - now.getTime() < EXPIRY_NOTICE_MS;
  const marks = [
    held ? [held, "yellow"] : state !== "delivered" && STATE[state],
    ...deliveryMarks.map(({ text, isFailed }) => [text, isFailed ? "red" : "gray"] as const),
    isExpiring && [`Erasure ${erasedWhen(expiresAt, now)}`, "yellow"],
    answeredAt && ["Answered", "green"],
    isRestricted && ["Restricted", "gray"],
  ] as const;
  return marks.map(
    (mark) =>
      mark && (
        <Badge key={mark[0]} variant="light" color={mark[1]}>
          {mark[0]}
        </Badge>
      ),
  );
}

export const rowId = (reference: string) => `message-${reference}`;

/**
 * If the focused row leaves the list, as an answered message leaves the tab Unanswered, focuses the row that takes its
 * place, or the heading if the list is empty.
 */
function useKeptFocus(messages: readonly MessageView[]) {
  const focused = useRef<number | null>(null);
  useEffect(() => {
    if (focused.current === null || document.activeElement !== document.body) return;
    const next = messages[Math.min(focused.current, messages.length - 1)];
    document.getElementById(next ? rowId(next.reference) : "screen-title")?.focus({ preventScroll: true });
  }, [messages]);
  return {
    onFocus: ({ target }: FocusEvent) => {
      focused.current = [...document.querySelectorAll(".row")].findIndex((row) => row.contains(target));
    },
    // Not called when the row is removed, because React dispatches no events while it changes the page.
    onBlur: () => {
      focused.current = null;
    },
  };
}

interface MessageRowsProps {
  messages: readonly MessageView[];
  now: Date;
  label: string;
  /** The rows that have just arrived. */
  fresh?: ReadonlySet<string>;
  /** The list that contains these rows. */
  view?: Partial<ListView>;
  selection?: { isSelected(reference: string): boolean; toggle(reference: string): void };
}

export function MessageRows({ messages, now, label, fresh, view = {}, selection }: MessageRowsProps) {
  return (
    <ul className="plain rows" aria-label={label} {...useKeptFocus(messages)}>
      {messages.map((message) => {
        const { reference, name, email, country, footprint, acceptedAt, answeredAt } = message;
        const isSelected = selection?.isSelected(reference) ?? false;
        const excerpt = message.message.slice(0, EXCERPT_LENGTH).toWellFormed().replaceAll(/\s+/g, " ");
        return (
          <li key={reference} className="row" data-selected={isSelected} data-fresh={fresh?.has(reference) ?? false}>
            {selection && (
              <Checkbox
                checked={isSelected}
                onChange={() => selection.toggle(reference)}
                aria-label={`Select ${reference} from ${visible(name)}`}
              />
            )}
            <Link id={rowId(reference)} to="/messages/$reference" params={{ reference }} search={view}>
              <span className="row-who">
                <Text span inherit fw={answeredAt ? 400 : 600}>
                  <VisitorText text={name} />
                </Text>
                <span className="soft">
                  <VisitorText text={email} />
                </span>
              </span>
              <span className="row-text">
                <VisitorText text={excerpt} />
                <span className="marks">
                  <StateMarks message={message} now={now} />
                  {MARKED_FIELDS.map(
                    (field) =>
                      message[field] !== "" && (
                        <span key={field} className="soft">
                          {field === "country" ? countryName(country) : <VisitorText text={message[field]} />}
                        </span>
                      ),
                  )}
                  {footprint && <span className="soft">{formatMass(footprint.totalKg)} estimated</span>}
                </span>
              </span>
              <span className="soft">
                <Moment at={acceptedAt} now={now} />
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
