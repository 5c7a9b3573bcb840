import { Link } from "@tanstack/react-router";
import { type FocusEvent, useEffect, useRef } from "react";
import { formatMass } from "../contract/footprint-fields.ts";
import { EXPIRY_NOTICE_DAYS, type InboxState, type MessageItem } from "../contract/inbox.ts";
import { countryName, erasedWhen, Moment, STATE_NAME, VisitorText } from "./labels.tsx";
import type { ListView } from "./list-view.ts";

export type Shape = InboxState | "answered" | "restricted" | "expiring" | "website";

/** Each differs in its outline, not in its colour alone. */
const SHAPES: Readonly<Record<Shape, string>> = {
  // A clock, a tick in a disc, a triangle, a square with a pause sign, an arrow back, a padlock, an hourglass, a globe.
  queued:
    "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1Zm0 1.750a5.250 5.250 0 1 0 0 10.500 5.250 5.250 0 0 0 0-10.500Zm.875 1.500v3.400l2.300 1.900-1.100 1.350L7.125 8.450v-4.200Z",
  delivered: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1Zm3.400 3.900L6.900 9.400l-2.100-2L3.600 8.700l3.350 3.150 5.700-5.700Z",
  failed:
    "M8 1.200 15.600 14.500H.4L8 1.200Zm-.9 4.900.2 4.200h1.400l.2-4.200H7.100Zm.9 5a.95.95 0 1 0 0 1.900.95.95 0 0 0 0-1.900Z",
  quarantined:
    "M2.500 1.200h11a1.300 1.300 0 0 1 1.300 1.300v11a1.300 1.300 0 0 1-1.300 1.300h-11a1.300 1.300 0 0 1-1.300-1.300v-11a1.300 1.300 0 0 1 1.300-1.300Zm2.400 3.400v6.800h2.100V4.600H4.900Zm4.100 0v6.800h2.100V4.600H9Z",
  answered: "M6.500 2.500 1 7.500l5.500 5V9.400c3.800-.1 6 1.100 8 4.100-.3-4.700-3-7.500-8-7.900V2.500Z",
  restricted:
    "M8 .9a3.600 3.600 0 0 1 3.600 3.600V6.600h1.500v8.500H2.900V6.600h1.500V4.500A3.600 3.600 0 0 1 8 .9Zm0 1.700a1.900 1.900 0 0 0-1.900 1.900v2.100h3.800V4.500A1.900 1.900 0 0 0 8 2.600Z",
  expiring:
    "M3 1h10v2.200c0 2-1.400 3.600-3.400 4.800 2 1.200 3.400 2.800 3.400 4.800V15H3v-2.200c0-2 1.400-3.600 3.400-4.800C4.400 6.800 3 5.200 3 3.200V1Zm2 1.700c.2 1.800 1.400 3 3 3.900 1.600-.9 2.800-2.100 3-3.900H5Z",
  website:
    "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1Zm-.9 1.900A5.300 5.300 0 0 0 2.800 7.100h4.300V2.900Zm1.800 0v4.200h4.300a5.300 5.300 0 0 0-4.300-4.200ZM2.800 8.900a5.300 5.300 0 0 0 4.300 4.200V8.900H2.800Zm6.100 0v4.200a5.300 5.300 0 0 0 4.300-4.200H8.900Z",
};

/** Nobody has answered it, and it is erased within a week. */
function isExpiring({ keptUntil, answeredAt }: MessageItem, now: Date): boolean {
  if (keptUntil === null || answeredAt !== null) return false;
  return new Date(keptUntil).getTime() - now.getTime() < EXPIRY_NOTICE_DAYS * 86_400_000;
}

export function StateMark({ shape, word }: { shape: Shape; word: string }) {
  return (
    <span className={`state state-${shape}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
        <path fillRule="evenodd" d={SHAPES[shape]} />
      </svg>
      {word}
    </span>
  );
}

/** What an operator must know of the message, as word and shape. That it was delivered is as it should be. */
export function StateMarks({ message, now }: { message: MessageItem; now: Date }) {
  const { state, keptUntil } = message;
  return (
    <span className="states">
      {state !== "delivered" && <StateMark shape={state} word={STATE_NAME[state]} />}
      {keptUntil !== null && isExpiring(message, now) && (
        <StateMark shape="expiring" word={`Erased ${erasedWhen(keptUntil, now)}`} />
      )}
      {message.answeredAt !== null && <StateMark shape="answered" word="Answered" />}
      {message.isRestricted && <StateMark shape="restricted" word="Restricted" />}
    </span>
  );
}

export const rowId = (reference: string) => `message-${reference}`;

interface MessageRowsProps {
  messages: readonly MessageItem[];
  now: Date;
  label: string;
  /** Rows that were not there a moment ago. */
  fresh?: ReadonlySet<string>;
  /** The list that these are a page of. */
  view?: Partial<ListView>;
  selection?: { isSelected(reference: string): boolean; toggle(reference: string): void };
}

/**
 * When a row with the focus leaves the list, as an answered one leaves the unanswered, the row in its place gets it; the
 * heading, when there is none.
 */
function useKeptFocus(messages: readonly MessageItem[]) {
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
    // Not when the row is removed: React tells of no event while it changes the page.
    onBlur: () => {
      focused.current = null;
    },
  };
}

export function MessageRows({ messages, now, label, fresh, view = {}, selection }: MessageRowsProps) {
  return (
    <ul className={selection ? "rows rows-selectable" : "rows"} aria-label={label} {...useKeptFocus(messages)}>
      {messages.map((message) => {
        const { reference, name, email, country, excerpt, footprintKg, acceptedAt, answeredAt } = message;
        const isSelected = selection?.isSelected(reference) ?? false;
        const classes = [
          "row",
          isSelected && "row-selected",
          fresh?.has(reference) && "row-fresh",
          answeredAt && "row-answered",
        ];
        return (
          <li key={reference} className={classes.filter(Boolean).join(" ")}>
            {selection && (
              <label className="row-select">
                <input type="checkbox" checked={isSelected} onChange={() => selection.toggle(reference)} />
                <span className="visually-hidden">
                  Select {reference} from <VisitorText text={name} />
                </span>
              </label>
            )}
            <Link
              className="row-link"
              id={rowId(reference)}
              to="/messages/$reference"
              params={{ reference }}
              search={view}
            >
              <span className="row-who">
                <span className="row-name">
                  <VisitorText text={name} />
                </span>
                <span className="row-email">
                  <VisitorText text={email} />
                </span>
              </span>
              <span className="row-excerpt">
                <VisitorText text={excerpt.replaceAll(/\s+/g, " ")} />
              </span>
              <span className="row-foot">
                <span className="row-state">
                  <StateMarks message={message} now={now} />
                </span>
                <span className="row-footprint">
                  {footprintKg !== null && (
                    <>
                      <span className="visually-hidden">Estimate: </span>
                      {formatMass(footprintKg)}
                    </>
                  )}
                </span>
                <span className="row-country">{country === "" ? "" : countryName(country)}</span>
              </span>
              <span className="row-age">
                <Moment at={acceptedAt} now={now} />
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
