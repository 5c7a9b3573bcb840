import type { BuildSettings } from "../contract/build-settings.ts";
import { durationInWords } from "../contract/duration.ts";
import type { SiteSettings } from "./site-schema.ts";

/** The facts of the settings, each with the words that stand in brackets while the operator has not set it. */
const PLACEHOLDER = {
  brand: "brand",
  legalName: "legal name",
  contactEmail: "email",
  websiteUrl: "website URL",
  companyNumber: "company number",
  registeredAddress: "registered address",
  lastUpdated: "last-updated date",
  refundsLastUpdated: "last-updated date of the refund policy",
  governingLaw: "governing law",
  arbitrationBody: "arbitration body",
  backupsKept: "how long backups are kept",
  requestLogKept: "how long request logs are kept",
} as const satisfies Record<"brand" | "legalName" | "contactEmail" | "websiteUrl" | PolicyFact, string>;

type PolicyFact = keyof SiteSettings["policyFacts"];
type SetFact = keyof typeof PLACEHOLDER;

/** The facts that follow from other settings. An empty one removes its paragraph or list item. */
const COMPUTED = {
  deliveredKept: ({ retention }: BuildSettings) => keptFor(retention.deliveredMs),
  failedKept: ({ retention }: BuildSettings) => keptFor(retention.failedMs),
  quarantinedKept: ({ retention }: BuildSettings) => keptFor(retention.quarantinedMs),
  otherServers,
  correspondenceSystem: ({ postsHook }: BuildSettings) =>
    postsHook ? "the system in which we keep our correspondence" : "",
  answersKept: ({ readsMailbox }: BuildSettings) => (readsMailbox ? "your email answers" : ""),
};

type FactName = SetFact | keyof typeof COMPUTED;
/** The facts that titles and descriptions may contain too. */
export const SITE_FACT_NAMES: readonly string[] = Object.keys(PLACEHOLDER).filter((name) => name !== "websiteUrl");
export const FACT_NAMES: readonly string[] = [...Object.keys(PLACEHOLDER), ...Object.keys(COMPUTED)];

/** The text of each fact that the settings contain; an unset one shows its placeholder, such as `[governing law]`. */
export function siteFacts(site: SiteSettings): Readonly<Record<string, string>> {
  const { brand, legalName, contactEmail, policyFacts } = site;
  const values = Object.entries({ brand, legalName, contactEmail, ...policyFacts });
  return Object.fromEntries(values.map(([name, value]) => [name, value ?? placeholderOf(name as SetFact)]));
}

export function factTexts(site: SiteSettings, settings: BuildSettings): Record<FactName | "siteUrl", string> {
  const websiteUrl = websiteUrlOf(settings) ?? placeholderOf("websiteUrl");
  const computed = Object.entries(COMPUTED).map(([name, compute]) => [name, compute(settings, site)]);
  // A link needs the address also while it is a trial.
  return { ...siteFacts(site), websiteUrl, siteUrl: settings.siteUrl, ...Object.fromEntries(computed) };
}

function placeholderOf(name: SetFact): string {
  return `[${PLACEHOLDER[name]}]`;
}

export function isPlaceholder(name: string, text: string): boolean {
  return Object.hasOwn(PLACEHOLDER, name) && text === placeholderOf(name as SetFact);
}

export function unsetFacts(site: SiteSettings, settings: BuildSettings): string[] {
  const file = `${settings.siteDir}site.ts`;
  const texts = factTexts(site, settings);
  const facts = (Object.keys(PLACEHOLDER) as SetFact[])
    .filter((name) => isPlaceholder(name, texts[name]))
    .map((name) =>
      name === "websiteUrl" ? "website URL (SITE_URL)" : `${PLACEHOLDER[name]} (policyFacts.${name} in ${file})`,
    );
  // By default these link to the home page, which is useless.
  const links = site.social
    .filter(({ href }) => href === "/")
    .map(({ network }) => `${network} link (social in ${file})`);
  return [...facts, ...links];
}

/** localhost is the default for a trial, not a public address. */
function websiteUrlOf({ siteUrl }: BuildSettings): string | null {
  return new URL(siteUrl).hostname === "localhost" ? null : siteUrl;
}

function keptFor(ms: number | null): string {
  return ms === null ? "kept until we delete them by hand" : `deleted automatically after ${durationInWords(ms)}`;
}

function otherServers({ siteUrl, apiBase, countriesUrl }: BuildSettings, site: SiteSettings): string {
  const films = URL.canParse(site.heroFilm) ? [site.heroFilm] : [];
  const urls = [apiBase, countriesUrl, ...films].map((url) => new URL(url, siteUrl));
  const hosts = [...new Set(urls.map(({ host }) => host))].filter((host) => host !== new URL(siteUrl).host);
  return hosts.length === 0
    ? "It makes no third-party requests, so opening a page does not tell advertisers or social networks that you are here."
    : `For some parts of a page, your browser contacts another server, which sees your network address: ${hosts.join(", ")}.`;
}
