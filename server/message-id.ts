import { domainToASCII } from "node:url";

/** A mail that the site sent for a message. `part` names it if it is not the one to the team. */
export interface OwnMail {
  reference: string;
  /** The number of the message's row. */
  id: number;
  part?: string | undefined;
}

export function mailPart(kind: "reply" | "copy", key: string): string {
  return `${kind}-${key.slice(0, 8)}`;
}

/** The same for every attempt, so that mail programs can recognise an email that was sent twice. */
export function messageIdOf({ reference, id, part }: OwnMail, mailFrom: string): string {
  const local = `${reference}.${id}${part ? `.${part}` : ""}`.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  const domain = domainToASCII(mailFrom.slice(mailFrom.lastIndexOf("@") + 1));
  return `<${local}@${domain || "localhost"}>`;
}

const OWN = /^<?([A-Z0-9]{1,20}-[A-Z0-9]{4}-[A-Z0-9]{2})\.(\d{1,15})(?:\.(ack|(?:reply|copy)-[A-Za-z0-9-]{1,8}))?@/;

/** Of any domain, because MAIL_FROM may have changed since. Anybody can write one: reference and number must agree. */
export function parseMessageId(text: string): OwnMail | null {
  const [, reference, id, part] = OWN.exec(text) ?? [];
  return reference === undefined ? null : { reference, id: Number(id), part };
}
