// Accepts what browsers accept in <input type="email">, and in the part before the @ letters, digits and marks of every
// script (RFC 6531). Without hidden characters, and without a mark that would change the look of the @ or a dot.
const LOCAL_PART = /^(?!\p{M}|.*\p{DI})[.!#$%&'*+/=?^_`{|}~\-\p{L}\p{M}\p{N}]+$/u;
const DOMAIN = /^[a-zA-Z\d]+(?:-+[a-zA-Z\d]+)*(?:\.[a-zA-Z\d]+(?:-+[a-zA-Z\d]+)*)*$/;
const MAX_DOMAIN_LABEL = 63;
const ASCII = /^\p{ASCII}*$/u;
const LATIN = /\p{Script=Latin}/u;
/** Many of their letters look like Latin ones. */
const LIKE_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;

/**
 * The spelling in which an address is stored and compared. It has the ASCII form of an internationalised domain, which
 * every mail server understands and which some browsers send by themselves. A part before the @ with letters outside
 * ASCII is in lower case, because databases compare only ASCII letters regardless of case. An ASCII address stays as it
 * is, and so does what is no address.
 */
export function canonicalEmail(text: string): string {
  if (ASCII.test(text)) return text;
  // East Asian keyboards write full-width letters and a full-width @.
  const plain = text.normalize("NFKC");
  const at = plain.lastIndexOf("@");
  if (at < 0) return plain;
  const local = plain.slice(0, at);
  const spelled = ASCII.test(local) ? local : local.toLowerCase().normalize("NFKC");
  return `${spelled}@${asciiDomain(plain.slice(at + 1))}`;
}

/** Equal for all spellings of an address. A database makes it of a canonical one by the lower case of ASCII letters. */
export function comparableEmail(text: string): string {
  return canonicalEmail(text.trim()).toLowerCase();
}

/** A server's answer without the addresses that it quotes, so that it names nobody wherever it is stored. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(/<?[^\s<>()[\]"',:;]+>?/g, (word) => (/.(@|%40)/i.test(word) ? "<address>" : word));
}

/** By the rules of browsers (UTS 46). A text that is no domain, or looks like another, is returned as it is. */
function asciiDomain(domain: string): string {
  if (mixesAlphabets(domain)) return domain;
  // Other ASCII characters have a meaning in a URL.
  if (ASCII.test(domain) || /(?![a-zA-Z\d.-])\p{ASCII}/u.test(domain)) return domain;
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return domain;
  }
}

export function problemWithEmail(email: string): string | undefined {
  const at = email.lastIndexOf("@");
  const [local, domain] = [email.slice(0, Math.max(at, 0)), email.slice(at + 1)];
  if (local.startsWith('"')) return "Enter an email address without quotation marks.";
  if (mixesAlphabets(email)) return "Type your email address again: one of its words has letters of two alphabets.";
  const isDomain = DOMAIN.test(domain) && domain.split(".").every(({ length }) => length <= MAX_DOMAIN_LABEL);
  return LOCAL_PART.test(local) && isDomain ? undefined : "Enter an email address like name@example.com.";
}

function mixesAlphabets(text: string): boolean {
  return text.split(/[^\p{L}\p{M}\p{N}]/u).some((word) => LATIN.test(word) && LIKE_LATIN.test(word));
}

/** Whether only mail servers with SMTPUTF8 (RFC 6531) can deliver to this address. */
export function needsSmtpUtf8(email: string): boolean {
  return !ASCII.test(email);
}

const KNOWN_DOMAINS =
  "gmail.com googlemail.com yahoo.com yahoo.co.uk ymail.com hotmail.com hotmail.co.uk outlook.com live.com live.co.uk icloud.com aol.com mail.com email.com gmx.com gmx.de gmx.net web.de proton.me protonmail.com btinternet.com orange.fr free.fr".split(
    " ",
  );
/** Nobody looks at a longer text, which could take seconds to normalise. */
const MAX_LENGTH = 254;

/** Null unless the domain is one slip away from a large provider's, or lacks only its end, as in "gmail". */
export function suggestEmail(address: string): string | null {
  if (address.length > MAX_LENGTH) return null;
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
