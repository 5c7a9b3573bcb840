import { canonicalEmail, problemWithEmail } from "./email-address.ts";
import { withAsciiDigits } from "./text.ts";

interface FieldRules {
  label: string;
  formLabel?: string;
  /** In sentences, as in "Enter your phone number." */
  noun: string;
  /** Counted in characters, an address in bytes. */
  maxLength: number;
  isRequired: boolean;
  input: "text" | "email" | "tel" | "country" | "textarea";
  autoComplete?: "name" | "email" | "tel" | "country" | "organization";
  /** The inbox's list shows it. Every field is in the mail, the inbox's message, exports, the web hook and corrections. */
  isListed: boolean;
}

const RULES = {
  name: {
    label: "Name",
    noun: "name",
    maxLength: 100,
    isRequired: true,
    input: "text",
    autoComplete: "name",
    isListed: true,
  },
  email: {
    label: "Email",
    noun: "email address",
    maxLength: 254,
    isRequired: true,
    input: "email",
    autoComplete: "email",
    isListed: true,
  },
  phone: {
    label: "Phone",
    formLabel: "Phone Number",
    noun: "phone number",
    maxLength: 40,
    isRequired: true,
    input: "tel",
    autoComplete: "tel",
    isListed: false,
  },
  country: {
    label: "Country",
    noun: "country",
    maxLength: 2,
    isRequired: false,
    input: "country",
    autoComplete: "country",
    isListed: true,
  },
  message: {
    label: "Message",
    noun: "message",
    maxLength: 5000,
    isRequired: true,
    input: "textarea",
    isListed: true,
  },
} as const satisfies Readonly<Record<string, FieldRules>>;

export type ContactField = keyof typeof RULES;

/** The fields of the contact form, in its order. Forms, mails, lists, exports and database columns derive from this. */
export const CONTACT_FIELDS: Readonly<Record<ContactField, FieldRules>> = RULES;
export const FIELD_NAMES = Object.keys(RULES) as readonly ContactField[];

/**
 * A visitor's message after trimming and checking: an address in its canonical spelling, a phone number with ASCII
 * digits, a two-letter country code; optional fields may be empty. The `/send-email` body has the same shape.
 */
export type ContactMessage = Record<ContactField, string>;
export const EMPTY_MESSAGE = Object.fromEntries(FIELD_NAMES.map((field) => [field, ""])) as Readonly<ContactMessage>;

export function contactFieldsOf(message: ContactMessage): ContactMessage {
  return Object.fromEntries(FIELD_NAMES.map((field) => [field, message[field]])) as ContactMessage;
}

export type FieldErrors = Partial<Record<ContactField, string>>;

/** Visitors do not see this field, so only programs fill it. Browsers do not autofill its name. */
export const TRAP_FIELD = "topic_code";

/** ISO 3166-1 alpha-2 with Kosovo (XK). A test compares the codes with `world-countries`. */
export const COUNTRY_CODES: ReadonlySet<string> = new Set(
  `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO
  FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE
  JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
  MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW
  PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM
  TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.match(/\w+/g),
);

/**
 * A text is refused unseen if it has more characters than this multiple of its limit: some checks take far longer for a
 * longer text. A canonical spelling has as few as a third of the typed characters.
 */
const MAX_EXCESS = 4;

// Control characters could forge a mail header or a terminal line, and half a surrogate pair cannot be stored. In a
// one-line field, a character that is not shown could make two different values look the same. Joiners are allowed,
// because Persian and Malayalam names need them.
const UNUSABLE_IN_LINE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]/u;
// A longer text may contain the direction marks, embeddings and isolates of bidirectional text and of copied telephone
// numbers. Only the right-to-left override, which reverses plain letters, has no legitimate use.
const UNUSABLE_IN_TEXT = /(?![\t\n])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202e]/u;
// Spaces, characters that are never shown (zero-width and bidi characters, Hangul fillers) and the Braille blank.
const INVISIBLE_START = /^[\s\p{DI}\u2800]+/u;
// The same without variation selectors, which belong to the character before them.
const INVISIBLE = /(?![\u180b-\u180f\ufe00-\ufe0f])[\s\p{DI}\u2800]/u;

const NO_SUCH_COUNTRY = "Choose a country from the list.";

/** Returns a valid message, or one sentence for each invalid field. Ignores unknown fields. */
export function parseContactMessage(input: Readonly<Record<string, unknown>>) {
  return parseFields(input, FIELD_NAMES);
}

export function parseFields<Field extends ContactField>(
  input: Readonly<Record<string, unknown>>,
  names: readonly Field[],
): { ok: true; message: Pick<ContactMessage, Field> } | { ok: false; fields: FieldErrors } {
  const message = {} as Pick<ContactMessage, Field>;
  const fields: FieldErrors = {};
  for (const field of names) {
    const value = Object.hasOwn(input, field) ? input[field] : "";
    const rules = CONTACT_FIELDS[field];
    if (typeof value !== "string") {
      fields[field] = `Send your ${rules.noun} as text.`;
      continue;
    }
    if (value.length > MAX_EXCESS * rules.maxLength) {
      fields[field] = problemWithLength(rules);
      continue;
    }
    // Browsers post a text area's line ends as CRLF but count them as one character.
    const text = trimInvisible(value.replaceAll("\r\n", "\n"));
    message[field] =
      rules.input === "email" ? canonicalEmail(text) : rules.input === "tel" ? withAsciiDigits(text) : text;
    // Looks for unusable characters in what was typed, because a canonical spelling leaves some of them out.
    const problem = problemWith(rules, message[field], text);
    if (problem) fields[field] = problem;
  }
  return Object.keys(fields).length > 0 ? { ok: false, fields } : { ok: true, message };
}

function problemWithLength({ input, noun, maxLength }: FieldRules): string {
  return input === "country"
    ? NO_SUCH_COUNTRY
    : `Keep your ${noun} to ${maxLength.toLocaleString("en-GB")} characters or fewer.`;
}

function problemWith(rules: FieldRules, value: string, typed: string) {
  const { input, noun, maxLength, isRequired } = rules;
  if (value === "") return isRequired ? `Enter your ${noun}.` : undefined;
  if (input === "country") return COUNTRY_CODES.has(value) ? undefined : NO_SUCH_COUNTRY;
  // Mail servers count the bytes of an address.
  const length = input === "email" ? new TextEncoder().encode(value).length : value.length;
  if (length > maxLength) return problemWithLength(rules);
  if ((input === "textarea" ? UNUSABLE_IN_TEXT : UNUSABLE_IN_LINE).test(typed)) {
    return `Type your ${noun} again: it contains a character that cannot be sent.`;
  }
  return input === "email" ? problemWithEmail(value) : undefined;
}

/** The end is trimmed by a loop, because a pattern would start again at each of many spaces in the middle. */
function trimInvisible(value: string): string {
  const text = value.replace(INVISIBLE_START, "");
  let end = text.length;
  while (end > 0 && INVISIBLE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Created on first use, because it takes 6 MB of memory. */
let countryNames: Intl.DisplayNames | undefined;

/** The English name of a country code. Any other text is returned unchanged. */
export function countryName(code: string): string {
  countryNames ??= new Intl.DisplayNames("en-GB", { type: "region", fallback: "code" });
  return COUNTRY_CODES.has(code) ? (countryNames.of(code) ?? code) : code;
}
