/** The subject of a reply, unless an operator writes another. */
export function replySubject(reference: string): string {
  return `Re: Your message (${reference})`;
}

/** A message below the reply to it, as mail programs quote. */
export function quote({ acceptedAt, name, message }: { acceptedAt: Date; name: string; message: string }): string {
  const day = acceptedAt.toISOString().slice(0, 10);
  return [`On ${day}, ${name} wrote:`, ...message.split("\n").map((line) => `> ${line}`)].join("\n");
}
