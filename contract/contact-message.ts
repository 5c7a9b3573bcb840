import { withAsciiDigits } from "./digits.ts";
import { canonicalEmail, problemWithEmail } from "./email-address.ts";

/** A visitor's message after trimming and checking. The `/send-email` body has the same shape. */
export interface ContactMessage {
  name: string;
  /** In its canonical spelling. */
  email: string;
  /** With ASCII digits. */
  phone: string;
  /** A two-letter country code, or empty. */
  country: string;
  message: string;
}

export type ContactField = keyof ContactMessage;
export type FieldErrors = Partial<Record<ContactField, string>>;

export const MAX_LENGTH: Readonly<Record<ContactField, number>> = {
  name: 100,
  email: 254,
  phone: 40,
  country: 2,
  message: 5000,
};

/** Visitors do not see this field, so only programs fill it. Browsers do not autofill its name. */
export const TRAP_FIELD = "topic_code";

const FIELDS: readonly ContactField[] = ["name", "email", "phone", "country", "message"];
const LABEL = { name: "name", email: "email address", phone: "phone number", country: "country", message: "message" };
// ISO 3166-1 alpha-2 with Kosovo (XK). A test compares these codes with `world-countries`.
const COUNTRY_CODES =
  " AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW ";

// Control characters could forge a mail header or a terminal line, and half a surrogate pair cannot be stored. In a
// one-line field, an invisible character could make two different values look the same. Joiners are allowed, because
// Persian, Sinhala and emoji need them.
const UNUSABLE_IN_LINE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
// A longer text may contain the direction marks, embeddings and isolates of bidirectional text and of copied telephone
// numbers. Only the right-to-left override, which reverses plain letters, has no legitimate use.
const UNUSABLE_IN_TEXT = /(?![\t\n])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202e]/u;
// Spaces, characters that are never shown (zero-width and bidi characters, Hangul fillers) and the Braille blank.
const INVISIBLE_START = /^[\s\p{DI}\u2800]+/u;
// The same without variation selectors, which belong to the character before them.
const INVISIBLE = /(?![\u180b-\u180f\ufe00-\ufe0f])[\s\p{DI}\u2800]/u;

const SPELLING: Partial<Record<ContactField, (text: string) => string>> = {
  email: canonicalEmail,
  phone: withAsciiDigits,
};

export type ParsedMessage = { ok: true; message: ContactMessage } | { ok: false; fields: FieldErrors };

export function isKnownCountry(code: string): boolean {
  return code.length === 2 && COUNTRY_CODES.includes(` ${code} `);
}

/** Returns a valid message, or one sentence for each invalid field. Ignores unknown fields. */
export function parseContactMessage(input: Readonly<Record<string, unknown>>): ParsedMessage {
  const message: ContactMessage = { name: "", email: "", phone: "", country: "", message: "" };
  const fields: FieldErrors = {};
  for (const field of FIELDS) {
    const value = Object.hasOwn(input, field) ? input[field] : "";
    if (typeof value !== "string") {
      fields[field] = `Send your ${LABEL[field]} as text.`;
      continue;
    }
    // Browsers post a text area's line ends as CRLF but count them as one character.
    const text = trimInvisible(value.replaceAll("\r\n", "\n"));
    message[field] = SPELLING[field]?.(text) ?? text;
    // Looks for unusable characters in what was typed, because a canonical spelling leaves some of them out.
    const problem = problemWith(field, message[field], text);
    if (problem) fields[field] = problem;
  }
  return Object.keys(fields).length > 0 ? { ok: false, fields } : { ok: true, message };
}

function problemWith(field: ContactField, value: string, typed: string): string | undefined {
  if (value === "") return field === "country" ? undefined : `Enter your ${LABEL[field]}.`;
  if (field === "country") return isKnownCountry(value) ? undefined : "Choose a country from the list.";
  // Mail servers count the bytes of an address.
  const length = field === "email" ? new TextEncoder().encode(value).length : value.length;
  if (length > MAX_LENGTH[field]) {
    return `Keep your ${LABEL[field]} to ${MAX_LENGTH[field].toLocaleString("en-GB")} characters or fewer.`;
  }
  if ((field === "message" ? UNUSABLE_IN_TEXT : UNUSABLE_IN_LINE).test(typed)) {
    return `Type your ${LABEL[field]} again: it contains a character that cannot be sent.`;
  }
  return field === "email" ? problemWithEmail(value) : undefined;
}

/**
 * Copied names and numbers often have invisible characters around them. The end is trimmed by a loop, because a pattern
 * would start again at each of many spaces in the middle.
 */
function trimInvisible(value: string): string {
  const text = value.replace(INVISIBLE_START, "");
  let end = text.length;
  while (end > 0 && INVISIBLE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
