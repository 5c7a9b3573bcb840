// What the operator's operations accept. The server checks it, and the inbox limits its fields to it.

export const MAX_NOTE_LENGTH = 2000;
export const MAX_SUBJECT_LENGTH = 200;
export const MAX_REPLY_LENGTH = 20_000;
export const MAX_SEARCH_LENGTH = 200;
/** The number of people that a search returns. */
export const MAX_PEOPLE = 50;

/** How long an operator can take back a reply. */
export const REPLY_UNDO_MS = 10_000;

/** An erasure is announced this long before, or half of the retention period before if that is shorter. */
export const EXPIRY_NOTICE_MS = 7 * 86_400_000;
