// Accepts what browsers accept in <input type="email">, and in the part before the @ letters, digits and marks of every
// script (RFC 6531). Without hidden characters, and without a mark that would change the look of the @ or a dot.
const LOCAL_PART = /^(?!\p{M})[.!#$%&'*+/=?^_`{|}~\-\p{L}\p{M}\p{N}]+$/u;
const HIDDEN = /\p{DI}/u;
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
  const isLocalPart = LOCAL_PART.test(local) && !HIDDEN.test(local);
  const isDomain = DOMAIN.test(domain) && domain.split(".").every(({ length }) => length <= MAX_DOMAIN_LABEL);
  return isLocalPart && isDomain ? undefined : "Enter an email address like name@example.com.";
}

function mixesAlphabets(text: string): boolean {
  return text.split(/[^\p{L}\p{M}\p{N}]/u).some((word) => LATIN.test(word) && LIKE_LATIN.test(word));
}

/** Whether only mail servers with SMTPUTF8 (RFC 6531) can deliver to this address. */
export function needsSmtpUtf8(email: string): boolean {
  return !ASCII.test(email);
}
