import { canonicalEmail } from "./email-address.ts";

/** The largest mail providers, the more common ones first. */
const KNOWN_DOMAINS =
  "gmail.com googlemail.com yahoo.com yahoo.co.uk ymail.com hotmail.com hotmail.co.uk outlook.com live.com live.co.uk icloud.com aol.com mail.com email.com gmx.com gmx.de gmx.net web.de proton.me protonmail.com btinternet.com orange.fr free.fr".split(
    " ",
  );
/**
 * Returns the address that the visitor probably meant: its domain is one slip away from a large provider's, or lacks
 * only the end, as in "gmail". Null if the domain is a large provider's itself, or any other.
 */
export function suggestEmail(address: string): string | null {
  const [, local, typed] = /^([^@\s]+)@([^@\s]+)$/.exec(canonicalEmail(address.trim())) ?? [];
  if (local === undefined || typed === undefined) return null;
  const domain = typed.toLowerCase();
  if (KNOWN_DOMAINS.includes(domain)) return null;
  const isWhole = domain.includes(".");
  const meant = KNOWN_DOMAINS.find((known) => isOneSlip(domain, isWhole ? known : (known.split(".")[0] ?? "")));
  return meant === undefined ? null : `${local}@${meant}`;
}

/** Whether the texts differ by one added, missing, replaced or swapped letter. */
function isOneSlip(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  return (
    a === b ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (restA.slice(2) === restB.slice(2) && restA[0] === restB[1] && restA[1] === restB[0])
  );
}
