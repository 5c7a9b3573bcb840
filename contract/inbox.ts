import type { FromSchema } from "json-schema-to-ts";
import type { FieldErrors } from "./contact-message.ts";
import type { FootprintEstimate } from "./footprint.ts";

/**
 * What the inbox's page and the command that serves it agree on. Every call is under `/api/`, has
 * `Authorization: Bearer TOKEN`, and answers with JSON. Times are ISO 8601 in UTC.
 *
 * | call                        | with                                      | answers                   |
 * | --------------------------- | ----------------------------------------- | ------------------------- |
 * | `GET /api/messages`         | ListQuery                                 | MessagePage               |
 * | `GET /api/messages/REF`     |                                           | MessageDetail, or 404     |
 * | `GET /api/messages/REF/place` | PLACE_QUERY                             | MessagePlace, or 404      |
 * | `POST /api/messages/REF/notes` | NOTE_REQUEST                           | MessageDetail, or 404     |
 * | `POST /api/actions`         | ActionRequest                             | ActionAnswer              |
 * | `GET /api/people`           | PERSON_QUERY                              | Person                    |
 * | `GET /api/people/search`    | PEOPLE_QUERY                              | People                    |
 * | `GET /api/people/export`    | PERSON_QUERY                              | ExportPart, in JSON       |
 * | `POST /api/people/correct`  | CorrectRequest                            | PersonAnswer              |
 * | `POST /api/people/restrict` | RestrictRequest                           | PersonAnswer              |
 * | `POST /api/people/erase`    | EraseRequest                              | PersonAnswer              |
 * | `GET /api/export`           | ExportQuery                               | ExportPart                |
 * | `GET /api/countries`        |                                           | CountryCount[]            |
 * | `GET /api/overview`         | OVERVIEW_QUERY                            | Overview                  |
 * | `GET /api/changes`          | CHANGES_QUERY                             | ChangeNotice              |
 *
 * What a call takes is a JSON schema, which the command checks and the type is made from; `description` ends the sentence
 * "NAME is not …" that refuses a wrong value.
 *
 * Any call may fail with an InboxError. A call that the page makes by itself, without the operator, has
 * `background=1` in its query: it does not keep the command from ending after eight idle hours.
 */

/**
 * The ways in which something leaves because of a message: the mail to the team, the mail that tells the sender of its
 * arrival, the post to HOOK_URL, and an operator's reply.
 */
export const CHANNELS = ["mail", "acknowledgement", "hook", "reply"] as const;
export type Channel = (typeof CHANNELS)[number];

/**
 * `queued`: to be sent, now or at its next attempt. `delivered`: the receiver took it. `failed`: refused for good or out of
 * attempts, kept for the operator. `quarantined`: the message is suspected abuse, and nothing of it is sent unless it is
 * released. `skipped`: a rule forbids it.
 */
export type DeliveryState = "queued" | "delivered" | "failed" | "quarantined" | "skipped";

/** Of a message: that of its mail. A person needs to act on `failed` and `quarantined`. */
export type InboxState = Exclude<DeliveryState, "skipped">;

/**
 * `trap`: the trap field was filled. `network-limit`: many messages came from the same network. `hourly-limit`: more
 * messages came in an hour, from everybody together, than HOURLY_LIMIT allows.
 */
export type QuarantineReason = "trap" | "network-limit" | "hourly-limit";

/**
 * Why a sender gets no acknowledgement. `too-late`: the message is more than a day old. `own-address`: an address of the site itself. `not-a-person`: an address that no person reads, such as
 * `no-reply@`, that is on no public mail server, or that is not written as people write theirs. `address-limit`: the address
 * had one within a day. `hourly-limit`: too many went out to everybody together.
 */
export type SkipReason = "too-late" | "own-address" | "not-a-person" | "address-limit" | "hourly-limit";

/**
 * `unanswered`: neither marked as answered nor in quarantine. `waiting`: queued. `failed`: its mail, its post to HOOK_URL or
 * a reply. The last three are without messages that their sender asked to restrict: nothing can be done about these.
 */
export const TABS = ["all", "unanswered", "answered", "waiting", "failed", "quarantined"] as const;
export type Tab = (typeof TABS)[number];
export type TabCounts = Readonly<Record<Tab, number>>;

/** `footprint`: the largest total of an estimate first, then messages without one. */
export const SORTS = ["newest", "oldest", "footprint"] as const;
export type ListSort = (typeof SORTS)[number];

/** Stands for messages without a country. */
export const NO_COUNTRY = "none";
export const MAX_SEARCH_LENGTH = 200;
export const MAX_PAGE = 500;

/** Short enough for anything that is not a message. */
const TEXT = { type: "string", maxLength: 500, pattern: "^[^\\u0000]+$", description: "a text" } as const;

/** An ISO 8601 time, or a date, which is its midnight in UTC. The server's parseTime says which there are. */
const TIME = { type: "string" } as const;

/** All hold at the same time. Also the names of the parameters, in the API's URL and in the page's own. */
const FILTERS = {
  /** `all` unless given. */
  tab: { type: "string", enum: TABS, description: `one of ${TABS.join(", ")}` },
  /** Part of the name, address, phone number, reference or text, in any case. */
  search: { type: "string", maxLength: MAX_SEARCH_LENGTH, description: `at most ${MAX_SEARCH_LENGTH} characters long` },
  country: { type: "string", pattern: `^([A-Z]{2}|${NO_COUNTRY})$`, description: `a two-letter code or ${NO_COUNTRY}` },
  /** Accepted at or after. */
  since: TIME,
  /** Accepted before. */
  until: TIME,
} as const;

const CURSOR_PATTERN = "^-?\\d{1,15}\\.\\d{1,15}$";
/** Absent for the first page. */
const CURSOR = { type: "string", pattern: CURSOR_PATTERN, description: "from the page before" } as const;

/** `newest` unless given. */
const SORT = { type: "string", enum: SORTS, description: `one of ${SORTS.join(", ")}` } as const;

export const LIST_QUERY = {
  type: "object",
  properties: {
    ...FILTERS,
    /** Goes from message to message, whatever arrives meanwhile; always the newest first. */
    cursor: CURSOR,
    sort: SORT,
    /** How many messages to skip; not with a cursor. */
    offset: { type: "integer", minimum: 0, maximum: 1_000_000_000, description: "a whole number" },
    /** 50 unless given. */
    limit: { type: "integer", minimum: 1, maximum: MAX_PAGE, description: `a whole number from 1 to ${MAX_PAGE}` },
  },
  additionalProperties: false,
} as const;
export type ListQuery = FromSchema<typeof LIST_QUERY>;
export type MessageQuery = Omit<ListQuery, "cursor" | "limit" | "offset" | "sort">;

export const PLACE_QUERY = {
  type: "object",
  properties: { ...FILTERS, sort: SORT },
  additionalProperties: false,
} as const;
export type PlaceQuery = FromSchema<typeof PLACE_QUERY>;

/** Where a message is in the list that the query asks for. */
export interface MessagePlace {
  /** Counted from 1; `null` when the list does not have it, such as an answered one in `unanswered`. */
  position: number | null;
  total: number;
  /** References of its neighbours in the list, or of what would be next to it. */
  previous: string | null;
  next: string | null;
}

export interface MessagePage {
  items: readonly MessageItem[];
  /** `null` after the last page. */
  nextCursor: string | null;
  /** Of all tabs, with the other filters; `null` with a cursor. */
  counts: TabCounts | null;
}

export interface MessageItem {
  reference: string;
  /** Changes whenever anything about the message changes; an action names the version that the operator saw. */
  version: string;
  state: InboxState;
  name: string;
  email: string;
  /** A two-letter code, or empty. */
  country: string;
  /** The first words, at most EXCERPT_LENGTH characters. */
  excerpt: string;
  /** The total of the estimate; `null` without one. */
  footprintKg: number | null;
  acceptedAt: string;
  /** When it reached its present state. */
  stateChangedAt: string;
  /** When the next attempt is due; only while queued. */
  dueAt: string | null;
  attempts: number;
  /** Why the last attempt failed, in words; without personal data. */
  lastError: string | null;
  /** Its sender asked that it be kept but not used: it is not mailed, and most actions are refused. */
  isRestricted: boolean;
  answeredAt: string | null;
  /** When it will be erased by RETENTION if nothing changes; `null`: not by itself. */
  keptUntil: string | null;
  /** Kept after its release. */
  quarantineReason: QuarantineReason | null;
  /** Of the post to HOOK_URL; once `delivered`, the receiver has a copy. `null` when none is made. */
  hook: DeliveryState | null;
  /** Why an action is refused, as a sentence without its full stop; those without one can be done. */
  refusals: Readonly<Partial<Record<Action, string>>>;
}

export const EXCERPT_LENGTH = 240;

export interface MessageDetail extends MessageItem {
  phone: string;
  message: string;
  /** `null` when its sender sent none. */
  footprint: FootprintEstimate | null;
  /** Oldest first; starts with `accepted`. */
  history: readonly MessageEvent[];
}

/**
 * `accepted`: it came in, and was queued. `quarantined`: it came in, and was quarantined (`detail` is a QuarantineReason).
 * Of a delivery, with its channel: `delivered`; `deferred`: an attempt failed, and another follows; `failed`: the last
 * attempt failed; `paused`: the receiver took nothing at all, so that this attempt did not count (the `detail` of these
 * three is the error); `skipped` (`detail` is a SkipReason); `retried`, `released` and `resent`: an operator queued it
 * again. `viewed`: an operator opened it while it was in quarantine. `noted`: an operator wrote a note, the `detail`.
 */
export type EventKind =
  | "accepted"
  | "quarantined"
  | "delivered"
  | "deferred"
  | "failed"
  | "paused"
  | "skipped"
  | "retried"
  | "released"
  | "resent"
  | "viewed"
  | "answered"
  | "unanswered"
  | "corrected"
  | "restricted"
  | "unrestricted"
  | "noted"
  | "replied";

export interface MessageEvent {
  at: string;
  kind: EventKind;
  /** Of a delivery's events. */
  channel: Channel | null;
  detail: string | null;
  /** Who wrote a note. */
  author: string | null;
}

export const MAX_NOTE_LENGTH = 2000;

export const NOTE_REQUEST = {
  type: "object",
  properties: {
    text: {
      type: "string",
      maxLength: MAX_NOTE_LENGTH,
      pattern: "^[^\\u0000]*\\S[^\\u0000]*$",
      description: `a text of at most ${MAX_NOTE_LENGTH} characters`,
    },
  },
  required: ["text"],
  additionalProperties: false,
} as const;

/**
 * `retry`: send it now, and what else of it failed: its acknowledgement, its post to HOOK_URL. `resend`: send it once
 * more. `release`: out of quarantine, to be sent. `answer` and `unanswer`: mark, and undo it. A message's `refusals` say
 * which of them it does not allow.
 */
export const ACTIONS = ["retry", "resend", "release", "delete", "answer", "unanswer"] as const;
export type Action = (typeof ACTIONS)[number];

/** For more messages send several requests, one after the other. */
export const MAX_TARGETS = 200;

export const ACTION_REQUEST = {
  type: "object",
  properties: {
    action: { type: "string", enum: ACTIONS, description: `one of ${ACTIONS.join(", ")}` },
    targets: {
      type: "array",
      minItems: 1,
      maxItems: MAX_TARGETS,
      items: {
        type: "object",
        properties: { reference: TEXT, version: TEXT },
        required: ["reference", "version"],
        additionalProperties: false,
      },
      description: `a list of 1 to ${MAX_TARGETS} messages`,
    },
  },
  required: ["action", "targets"],
  additionalProperties: false,
} as const;
export type ActionRequest = FromSchema<typeof ACTION_REQUEST>;

/**
 * `done`: `message` is its new form, `null` once deleted. `changed`: it is no longer the version named, and nothing was
 * changed; `message` is what it is now. `gone`: there is no such message. `refused`: the action does not fit it; `reason`
 * is a sentence.
 */
export type ActionResult =
  | { reference: string; outcome: "done"; message: MessageItem | null }
  | { reference: string; outcome: "changed"; message: MessageItem }
  | { reference: string; outcome: "gone" }
  | { reference: string; outcome: "refused"; reason: string; message: MessageItem };

/** In the order of the targets. */
export interface ActionAnswer {
  results: readonly ActionResult[];
}

/** Everybody who wrote with this address, in any case of its letters. */
export interface Person {
  email: string;
  /** Changes whenever one of the messages changes, or another comes in. */
  version: string;
  /** Newest first; empty when there are none. */
  messages: readonly MessageItem[];
  restricted: "none" | "some" | "all";
  /** At least one of the messages came with an estimate. */
  hasFootprint: boolean;
}

export const PERSON_QUERY = {
  type: "object",
  properties: { email: TEXT },
  required: ["email"],
  additionalProperties: false,
} as const;

export const PEOPLE_QUERY = {
  type: "object",
  /** Part of the name or address, in any case. */
  properties: { search: { ...FILTERS.search, minLength: 1 } },
  required: ["search"],
  additionalProperties: false,
} as const;

/** Who wrote last first; at most MAX_PEOPLE. */
export type People = readonly { name: string; email: string; lastAt: string; messages: number }[];
export const MAX_PEOPLE = 50;

/** What every change of a person's messages names: the version is the one that the operator saw. */
const PERSON = { email: TEXT, version: TEXT } as const;
/** Checked like a visitor's, so that the answer can name each wrong field. */
const FIELD = { type: "string", description: "a text" } as const;
const SWITCH = { type: "boolean", description: "true or false" } as const;

export const CORRECT_REQUEST = {
  type: "object",
  properties: {
    ...PERSON,
    /**
     * Those given replace the field in every message of the address. An empty country clears it. Estimates are computed
     * again with another country.
     */
    changes: {
      type: "object",
      properties: { name: FIELD, email: FIELD, phone: FIELD, country: FIELD, message: FIELD },
      additionalProperties: false,
      description: "a JSON object",
    },
    /** Removes the estimates. At least one field or this is given. */
    removesFootprint: SWITCH,
  },
  required: ["email", "version", "changes"],
  additionalProperties: false,
} as const;
export type CorrectRequest = FromSchema<typeof CORRECT_REQUEST>;

export const RESTRICT_REQUEST = {
  type: "object",
  properties: { ...PERSON, isRestricted: SWITCH },
  required: ["email", "version", "isRestricted"],
  additionalProperties: false,
} as const;
export type RestrictRequest = FromSchema<typeof RESTRICT_REQUEST>;

export const ERASE_REQUEST = {
  type: "object",
  /** `confirmation`: the address as the operator typed it; must be `email`, whatever its case. */
  properties: { ...PERSON, confirmation: TEXT },
  required: ["email", "version", "confirmation"],
  additionalProperties: false,
} as const;
export type EraseRequest = FromSchema<typeof ERASE_REQUEST>;

/**
 * `done`: how many messages and .eml files were changed or erased. `changed`: the person's messages are no longer the
 * version named, and nothing was changed. `invalid`: one sentence for each wrong field.
 */
export type PersonAnswer =
  | { outcome: "done"; messages: number; files: number }
  | { outcome: "changed" }
  | { outcome: "gone" }
  | { outcome: "invalid"; fields: FieldErrors };

export const EXPORT_FORMATS = ["csv", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_QUERY = {
  type: "object",
  properties: {
    ...FILTERS,
    format: { type: "string", enum: EXPORT_FORMATS, description: `one of ${EXPORT_FORMATS.join(", ")}` },
    cursor: CURSOR,
  },
  required: ["format"],
  additionalProperties: false,
} as const;
export type ExportQuery = FromSchema<typeof EXPORT_QUERY>;

/**
 * The texts of all parts, one after the other, are the file: the same that the command line writes. The sum of the
 * counts is what was exported; a page's counts say of how many. Stop asking to cancel.
 */
export interface ExportPart {
  text: string;
  count: number;
  nextCursor: string | null;
  /** What to save the file as. */
  fileName: string;
  contentType: string;
}

export interface CountryCount {
  /** Empty when none was given. */
  country: string;
  count: number;
}

export const OVERVIEW_QUERY = {
  type: "object",
  /** How many days to look back; 30 unless given. */
  properties: { days: { type: "integer", minimum: 1, maximum: 366, description: "a whole number from 1 to 366" } },
  additionalProperties: false,
} as const;

/**
 * Something that is wrong. Of a channel: `overdue`: a delivery has waited for an hour; `paused`: nothing can be sent;
 * `failed`: deliveries failed for good. `quarantined`: messages are held back. `expiring`: messages are erased soon.
 * `store-away`: no message can be stored; `store-lost`: nor will be, until a restart. `website-down`: no server runs.
 * `clock`: this machine's is wrong. `backup-overdue`: none has succeeded for two days. `disk-low`: little space is left.
 */
export const TROUBLE_KINDS = [
  "overdue",
  "paused",
  "failed",
  "quarantined",
  "expiring",
  "store-away",
  "store-lost",
  "website-down",
  "clock",
  "backup-overdue",
  "disk-low",
] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

/** So long before its end a message is announced; with a shorter period, half of it. */
export const EXPIRY_NOTICE_DAYS = 7;

/** `critical`: messages do not arrive, or may be lost. `warning`: somebody has to look. `info`: nobody has to act. */
export type Severity = "critical" | "warning" | "info";

export interface Trouble<Time = string> {
  kind: TroubleKind;
  channel: Channel | null;
  severity: Severity;
  /** How many messages; 1 where it is not about messages. */
  count: number;
  since: Time | null;
  /** What is wrong, as a sentence without its full stop. */
  what: string;
  /** What to do, as a sentence without its full stop. */
  remedy: string;
}

/** What is failed, quarantined or waiting is counted without messages that are restricted. */
export interface Overview {
  now: string;
  /** How many days the counts and times below look back. */
  days: number;
  /** The most urgent first. */
  troubles: readonly Trouble[];
  failed: { count: number; lastAt: string | null };
  /** `unseen`: no operator has opened them yet. */
  quarantined: { count: number; unseen: number };
  /** `oldestAt`: since when the oldest of them waits. */
  waiting: { count: number; oldestAt: string | null };
  /** The site's server leaves a sign of life once a minute; `lastSeenAt` is the last one, or when it was stopped. */
  website: { isRunning: boolean; lastSeenAt: string | null };
  /** When `messages backup` last succeeded; `null` if never. */
  lastBackupAt: string | null;
  database: {
    kind: "SQLite" | "PostgreSQL" /** One sentence; `null` when it takes messages. */;
    problem: string | null;
  };
  /** Where DATA_DIR lies; `null` when the system does not say. */
  disk: { freeBytes: number; totalBytes: number } | null;
  /** Every day of the period, oldest first; days are UTC. */
  perDay: readonly { day: string; count: number }[];
  /** Most first. */
  perCountry: readonly CountryCount[];
  delivery: DeliveryTimes;
}

/** From acceptance to delivery, of the messages accepted in the period and delivered by now. */
export interface DeliveryTimes {
  count: number;
  /** `null` without any. */
  medianMs: number | null;
  slowestMs: number | null;
  /** Each holds what took longer than the bucket before and at most `upToMs`; the last has no upper end. */
  buckets: readonly { upToMs: number | null; count: number }[];
}

/** `since`: the token of the answer before. */
export const CHANGES_QUERY = {
  type: "object",
  properties: { since: { type: "string" } },
  additionalProperties: false,
} as const;

/**
 * Answered at once when something changed since `since` or without it, else after at most CHANGES_WAIT_MS with the same
 * token: so ask again as soon as the answer is there.
 */
export interface ChangeNotice {
  token: string;
  /** Of all messages, without filters. */
  counts: TabCounts;
}

export const CHANGES_WAIT_MS = 20_000;

/**
 * 400 `invalid`, 401 `unauthorised` (wrong or missing token), 403 `forbidden` (another site or host asks), 404
 * `not-found`, 413 `too-large`, 429 `slow-down` (too many wrong tokens; the answer has `Retry-After`), 503 `unavailable`
 * (the database does not answer; nothing was changed, ask again), 500 `failed`.
 */
export interface InboxError {
  error: "invalid" | "unauthorised" | "forbidden" | "not-found" | "too-large" | "slow-down" | "unavailable" | "failed";
  /** For the operator, one sentence. */
  message: string;
}

/** The page is opened as `http://localhost:PORT/#TOKEN`: 32 random bytes in base64url. Every path without a file is the page. */
export const TOKEN_IN_FRAGMENT = /^#([\w-]{43})/;
