export interface DraftText {
  subject: string;
  text: string;
}

/** Identifies a draft's content, so that a browser can say which drafts it replaces without sending them. */
export function draftHash({ subject, text }: DraftText): number {
  let hash = 0;
  for (const unit of `${subject}\n${text}`.split("")) hash = (Math.imul(hash, 31) + unit.charCodeAt(0)) | 0;
  return hash;
}
