export interface DraftText {
  subject: string;
  text: string;
}
