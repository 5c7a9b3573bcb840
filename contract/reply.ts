export interface DraftText {
  subject: string;
  text: string;
}

/** What an operator has not finished about a message: a reply and a note. */
export interface Unfinished extends DraftText {
  note: string;
}

export function replySubject(reference: string): string {
  return `Re: Your message (${reference})`;
}

export function quote({ acceptedAt, name, message }: { acceptedAt: Date; name: string; message: string }): string {
  const day = acceptedAt.toISOString().slice(0, 10);
  return [`On ${day}, ${name} wrote:`, ...message.split("\n").map((line) => `> ${line}`)].join("\n");
}
