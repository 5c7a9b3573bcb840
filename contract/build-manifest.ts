import type { BuildSettings } from "./build-settings.ts";
import type { AnswerTime } from "./duration.ts";
import type { Price } from "./footprint/words.ts";
import type { CACHE_CONTROL } from "./response-headers.ts";
import type { AnsweredPost } from "./send-email-answer.ts";

export interface BuildManifest {
  version: typeof MANIFEST_VERSION;
  settings: BuildSettings;
  site: SiteIdentity;
  /** Policy facts and links that are still placeholders and must be set before launch. */
  unset: string[];
  /** The pages in the navigation that show Coming Soon. */
  comingSoon: readonly string[];
  claims: ClaimsState;
  form: FormOfBuild;
  files: BuiltFile[];
}

/** What the page gives to the contact form, also for a browser, which reads it from the page. */
export interface FormSettings {
  apiBase: string;
  countriesUrl: string;
  price: Price | null;
  /** How soon the company answers; empty if it does not say. */
  answerWithin: string;
  /** What visitors ask before they write, as far as the settings say it: time, price, company. */
  assurance: string;
  brand: string;
  email: string;
}

/** The contact page as the answer to a post without script. `FORM_MARKER` stands in both pages where its form belongs. */
export interface FormOfBuild {
  settings: FormSettings;
  countries: readonly { code: string; name: string }[];
  pages: Readonly<Record<AnsweredPost["kind"], string>>;
}

export const FORM_MARKER = "<answer-form></answer-form>";

export interface FormBundle {
  renderForm(form: FormOfBuild, answered: AnsweredPost): string;
}

/** The only part of `dist/` that visitors may read: a static host publishes everything in it. */
export const publicDir = (distDir: string) => `${distDir}/site`;
export const serverDir = (distDir: string) => `${distDir}/server`;
export const inboxDir = (distDir: string) => `${distDir}/inbox`;
export const manifestFile = (distDir: string) => `${distDir}/manifest.json`;

export const FORM_BUNDLE = "form.js";

export interface ListedClaim {
  text: string;
  page: string;
  where: string;
  /** `open` has no entry; `withoutEvidence` has one with a problem. */
  state: "open" | "withoutEvidence" | "expired" | "settled";
  /** The law forbids the wording. */
  isForbidden: boolean;
  /** A sentence of the default site, which stops no build. */
  isOurs: boolean;
  /** What proves it or, without evidence, what would prove it. */
  shows?: string | undefined;
  until?: string | undefined;
  /** Why the entry does not settle it. */
  problem?: string | undefined;
  /** The evidence names a later day than `until`: it counts for two years from its signature. */
  isShortened?: boolean;
}

export interface ClaimsState {
  claims: readonly ListedClaim[];
  /** The files that nobody has signed as they are. */
  unsigned: readonly string[];
  /** What to check in the company's own policies. */
  policies?: readonly string[];
}

/** Whether something may not be published yet: only `npm start` and `npm run dev` build it. */
export function isDraft({ claims, unsigned }: ClaimsState): boolean {
  return unsigned.length > 0 || claims.some(({ isOurs, state }) => !isOurs && state !== "settled");
}

const NOTICE_MS = 31 * 86_400_000;

/** From a month before the end of evidence, `preflight` names it and a review asks for new evidence. */
export function endsSoon({ state, until }: ListedClaim, now: Date): boolean {
  const soon = new Date(now.getTime() + NOTICE_MS).toISOString().slice(0, 10);
  return state === "settled" && until !== undefined && until <= soon;
}

interface SiteIdentity {
  brand: string;
  contactEmail: string;
  referencePrefix: string;
  mails: MailTexts;
  facts: Readonly<Record<string, string>>;
  /** `null`: estimates show no price. */
  pricePerTonne: Price | null;
  /** How soon messages are answered; `null` if the site promises nothing. */
  answerWithin: AnswerTime | null;
  mailSignature: string | null;
}

export interface MailTexts {
  acknowledgement: { subject: string; body: string };
  replies: { name: string; text: string }[];
}

export interface BuiltFile {
  /** The decoded path it is served at, without a trailing slash. */
  url: string;
  /** Its path in `dist/site/`; `.br` and `.gz` variants are beside it if `isCompressed`. */
  file: string;
  contentType: string;
  isCompressed: boolean;
  cache: keyof typeof CACHE_CONTROL;
  /** The `Content-Security-Policy` of a page or SVG file, which the strictest policy would break. */
  policy?: string;
}

/** Increased when the manifest changes: a server refuses a build with another version. */
export const MANIFEST_VERSION = 12;
/** Coming Soon, for every path without a page, and the page for server failures. */
export const COMING_SOON_PAGE = "404.html";
export const FAILURE_PAGE = "500.html";

/** Paths for programs: no page may use them, and a missing file is a plain 404. */
export const TECHNICAL_PATH =
  /^\/(assets|media)(\/|$)|^\/favicon\.|^\/(robots\.txt|sitemap\.xml|carbon\.(txt|json)|countries\.json|site\.webmanifest|\.well-known\/security\.txt)$/;
