import { canonicalEmail } from "./email-address.ts";

/** The largest mail providers, and a few providers whose names look like misspellings of those. */
const KNOWN_DOMAINS =
  "gmail.com googlemail.com yahoo.com yahoo.co.uk ymail.com hotmail.com hotmail.co.uk outlook.com live.com live.co.uk icloud.com aol.com mail.com gmx.com gmx.de gmx.net web.de proton.me protonmail.com btinternet.com orange.fr free.fr".split(
    " ",
  );
/** No top-level domain has these names. */
const MISTYPED_COM = /\.(con|cmo|ocm|vom|xom|comm|cpm)$/;

/**
 * Returns the address that the visitor probably meant, the same address if it looks incomplete, or null if nothing
 * looks wrong. The form only asks: any address that it accepts may be right.
 */
export function suggestEmail(address: string): string | null {
  const [, local, typed] = /^([^@\s]+)@([^@\s]+)$/.exec(canonicalEmail(address.trim())) ?? [];
  if (local === undefined || typed === undefined) return null;
  const domain = typed.toLowerCase();
  if (KNOWN_DOMAINS.includes(domain)) return null;
  const isWhole = domain.includes(".");
  const meant = KNOWN_DOMAINS.find((known) => isOneSlip(domain, isWhole ? known : (known.split(".")[0] ?? "")));
  if (meant !== undefined) return `${local}@${meant}`;
  if (MISTYPED_COM.test(domain)) return `${local}@${domain.replace(MISTYPED_COM, ".com")}`;
  return isWhole ? null : address;
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
