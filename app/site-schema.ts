import { z } from "zod";
import { canonicalEmail, problemWithEmail } from "../contract/email-address.ts";

// The build checks the settings with this schema. The browser's scripts and the server import nothing but its types,
// so that they do not contain zod. Each message continues a sentence that begins with the name of the setting.

const WORDS = "must be text on one line";
const words = z.string(WORDS).refine((text) => /\S/.test(text) && !/[\r\n]/.test(text), WORDS);

const ADDRESS = 'must be a path or an address, such as "/about" or "https://www.example.org"';
const address = z.string(ADDRESS).regex(/^(\/(?!\/)|#|https?:\/\/|mailto:|tel:)\S*$/i, ADDRESS);

const TEXT = "must be text, or null";
const optionalText = z.string(TEXT).regex(/\S/, TEXT).nullable();

const EMAIL = 'must be an email address, such as "hello@example.org"';
const PREFIX = 'must be two to four capital letters, such as "BC"';
const NAMED_FILE = 'must be the name of a file beside site.ts, such as "hero.jpg"';
const file = z.string(NAMED_FILE).regex(/^[^\s/\\][^/\\]*$/, NAMED_FILE);
const HUE = "must be a number of degrees from 0 to 360, such as 250 for blue";
const hue = z.number(HUE).min(0, HUE).max(360, HUE);
const PATH_DATA = "must be SVG data: letters, numbers and spaces";
const pathData = z.string(PATH_DATA).refine((text) => /\w/.test(text) && /^[-\w.,\s]+$/.test(text), PATH_DATA);
const AMOUNT = "must be a number above 0, such as 25";
const TIME = "must be a whole number from 1 to 365";
const UNIT = 'must be "hours" or "working days"';
const NETWORK = "must be Facebook, Twitter, Instagram or LinkedIn";
const FILM = 'must be "own", "off", or an address such as "https://media.example.org/film.mp4"';

function group<Shape extends z.core.$ZodLooseShape>(shape: Shape, rule = "must be an object") {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no setting "${issue.keys.join('", "')}"; it has ${Object.keys(shape).join(", ")}`
        : rule,
  });
}

function list<Item extends z.ZodType>(item: Item) {
  return z.array(item, "must be a list");
}

const link = group({ label: words, href: address }, 'must be a link, such as { label: "About us", href: "/about" }');

const menuItem = group({
  label: words,
  /** Shown instead of the label in the small-screen menu. */
  smallScreenLabel: z.exactOptional(words),
  href: z.exactOptional(address),
});

export const siteSchema = group({
  brand: words,
  legalName: words,
  contactEmail: z.string(EMAIL).refine((text) => problemWithEmail(canonicalEmail(text)) === undefined, EMAIL),
  /** The references of messages have no other form. */
  referencePrefix: z.string(PREFIX).regex(/^[A-Z]{2,4}$/, PREFIX),
  footerTagline: words,
  contactTagline: words,
  menu: list(menuItem),
  openAccount: link,
  login: link,
  startOffsetting: link,
  look: group({
    hue,
    accentHue: hue,
    displayFont: file.nullable(),
    mark: group({ viewBox: pathData, ink: pathData, accent: pathData }).nullable(),
  }),
  hero: group({ headline: words, subtitle: words, line: words, more: words, description: words }),
  heroFilm: z.string(FILM).regex(/^(own|off|https?:\/\/\S+)$/, FILM),
  heroPicture: group({ file, alt: words }, 'must be a picture, such as { file: "hero.jpg", alt: "Hills." }').nullable(),
  footerColumns: list(group({ title: words, links: list(link) })),
  /** Not shown where `href` is null. */
  social: list(
    group({ network: z.enum(["Facebook", "Twitter", "Instagram", "LinkedIn"], NETWORK), href: address.nullable() }),
  ),
  pricePerTonne: group(
    {
      amount: z.number(AMOUNT).positive(AMOUNT),
      currency: words,
      includes: z.exactOptional(words),
    },
    'must be a price, such as { amount: 25, currency: "EUR" }, or null',
  ).nullable(),
  answerWithin: group(
    { amount: z.int(TIME).min(1, TIME).max(365, TIME), unit: z.enum(["hours", "working days"], UNIT) },
    'must be a time, such as { amount: 2, unit: "working days" }, or null',
  ).nullable(),
  mailSignature: optionalText,
  policyFacts: group({
    companyNumber: optionalText,
    registeredAddress: optionalText,
    lastUpdated: optionalText,
    refundsLastUpdated: optionalText,
    governingLaw: optionalText,
    arbitrationBody: optionalText,
    backupsKept: optionalText,
    requestLogKept: optionalText,
  }),
});

export type SiteSettings = z.infer<typeof siteSchema>;
export type Look = SiteSettings["look"];
export type Link = z.infer<typeof link>;
export type MenuItem = z.infer<typeof menuItem>;

/** The company's settings, with the defaults for missing ones. A value of the wrong type stays: the build refuses it. */
export function completeSettings(own: Partial<SiteSettings>, defaults: SiteSettings): SiteSettings {
  const completed = <Part extends object>(all: Part, some: Part = all): Part =>
    Object(some) === some ? { ...all, ...some } : some;
  return {
    ...defaults,
    ...own,
    look: completed(defaults.look, own.look),
    hero: completed(defaults.hero, own.hero),
    policyFacts: completed(defaults.policyFacts, own.policyFacts),
  };
}

export function settingProblems(site: unknown): string[] {
  const issues = siteSchema.safeParse(site).error?.issues ?? [];
  return issues.map(({ path, message }) => `"${["site", ...path].join(".")}" ${message}.`);
}
