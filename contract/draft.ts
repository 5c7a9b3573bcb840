export interface DraftText {
  subject: string;
  text: string;
}

/** What an operator has not finished about a message: a reply and a note. */
export interface Unfinished extends DraftText {
  note: string;
}
