import { Badge, Checkbox, Text } from "@mantine/core";
import { Link, type SearchSchemaInput } from "@tanstack/react-router";
import { type FocusEvent, useLayoutEffect, useRef } from "react";
// The small variant of zod, because the full one contains its error messages in every language.
import * as z from "zod/mini";
import { CONTACT_FIELDS, FIELD_NAMES } from "../../contract/contact-message.ts";
import { formatMass } from "../../contract/footprint/fields.ts";
import { visible } from "../../contract/text.ts";
import { MAX_SEARCH_LENGTH, type Marked, marksOf, TABS } from "../words.ts";
import { type Filter, type MessageView, useStatus } from "./api.ts";
import { countryName, formatAge, formatDay, formatSince, formatTime } from "./format.ts";
import { VisitorText } from "./parts.tsx";

export const PAGE_SIZE = 50;

// The page's policy forbids code from strings, and even an attempt would be reported.
z.config({ jitless: true });

/** All of it is in the page's URL, so that a view can be bookmarked. Defaults replace invalid values. */
const LIST_VIEW = z.object({
  tab: z.catch(z.enum(TABS), "unanswered"),
  search: z.catch(z.string().check(z.trim(), z.maxLength(MAX_SEARCH_LENGTH)), ""),
  show: z.catch(z.enum(["all", "drafts"]), "all"),
  /** Counted from 1. */
  page: z.catch(z.coerce.number().check(z.int(), z.gte(1), z.lte(9_999_999)), 1),
});
export type ListView = z.output<typeof LIST_VIEW>;

export const NEWEST = LIST_VIEW.parse({});
export const parseListView = (given: Partial<ListView> & SearchSchemaInput): ListView => LIST_VIEW.parse(given);
export const filterOf = ({ tab, search, show }: ListView): Filter => ({
  tab,
  ...(search && { search }),
  ...(show === "drafts" && { hasDraft: true }),
});
export const isNarrowed = ({ search, show }: ListView) => search !== "" || show !== "all";

const MARKED_FIELDS = FIELD_NAMES.filter(
  (field) => CONTACT_FIELDS[field].isListed && !["name", "email", "message"].includes(field),
);
const EXCERPT_LENGTH = 400;

export function Marks({ message, now }: { message: Marked; now: Date }) {
  const account = useStatus()?.account ?? null;
  const reader = { now, account, formatDay, formatTime: (at: Date) => formatSince(at, now) };
  return marksOf(message, reader).map(([text, color]) => (
    <Badge key={text} variant="light" color={color}>
      {text}
    </Badge>
  ));
}

export const rowId = (reference: string) => `message-${reference}`;

/** If the focused row leaves the list, focuses the row that takes its place, or the heading of an empty list. */
function useKeptFocus(messages: readonly MessageView[]) {
  const focused = useRef<number | null>(null);
  // Before the page's heading gets the focus.
  useLayoutEffect(() => {
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
  view?: Partial<ListView>;
  selection?: { isSelected(reference: string): boolean; toggle(reference: string): void };
}

export function MessageRows({ messages, now, label, view = {}, selection }: MessageRowsProps) {
  return (
    <ul className="plain rows" aria-label={label} {...useKeptFocus(messages)}>
      {messages.map((message) => {
        const { reference, name, email, country, footprint, acceptedAt, answeredAt } = message;
        const isSelected = selection?.isSelected(reference) ?? false;
        const excerpt = message.message.slice(0, EXCERPT_LENGTH).toWellFormed().replaceAll(/\s+/g, " ");
        return (
          <li key={reference} className="row" data-selected={isSelected}>
            {selection && (
              <label className="pick" htmlFor={`pick-${reference}`}>
                <Checkbox
                  id={`pick-${reference}`}
                  checked={isSelected}
                  onChange={() => selection.toggle(reference)}
                  aria-label={`Select ${reference} from ${visible(name)}`}
                />
              </label>
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
                  <Marks message={message} now={now} />
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
              <time className="soft" dateTime={acceptedAt.toISOString()} title={formatTime(acceptedAt)}>
                {formatAge(acceptedAt, now)}
              </time>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
