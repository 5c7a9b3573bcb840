import { createContext, type ReactNode, useContext } from "react";
import type { BuildSettings } from "../../contract/build-settings.ts";
import { durationInWords } from "../../contract/duration.ts";
import { ContactEmail } from "../components/links.tsx";
import { site } from "../site.ts";

export type FactName = "brand" | "legalName" | "websiteUrl" | keyof typeof site.policyFacts;

/** Shown in brackets while the operator has not set the fact. */
const PLACEHOLDER: Readonly<Record<FactName, string>> = {
  brand: "brand",
  legalName: "legal name",
  websiteUrl: "website URL",
  companyNumber: "company number",
  registeredAddress: "registered address",
  lastUpdated: "last-updated date",
  refundsLastUpdated: "last-updated date of the refund policy",
  governingLaw: "governing law",
  arbitrationBody: "arbitration body",
  backupsKept: "how long backups are kept",
  requestLogKept: "how long request logs are kept",
};

/** The settings that facts take their values from. */
export const SettingsContext = createContext<BuildSettings | null>(null);

function useSettings(): BuildSettings {
  const settings = useContext(SettingsContext);
  if (!settings) throw new Error("A fact needs a SettingsContext around it.");
  return settings;
}

export function Fact({ name }: { name: FactName }) {
  const value = factValue(name, useSettings());
  if (value === null) return <mark className="placeholder">[{PLACEHOLDER[name]}]</mark>;
  return name === "websiteUrl" ? <a href={value}>{value}</a> : value;
}

/** When contact messages are deleted, according to `RETENTION` at build time. */
function Deletion({ state }: { state: "delivered" | "failed" | "quarantined" }) {
  const keptMs = useSettings().retention[`${state}Ms`];
  if (keptMs === null) return "kept until we delete them by hand";
  return (
    <>
      deleted automatically after <span data-fact="period">{durationInWords(keptMs)}</span>
    </>
  );
}

/** Shown only if HOOK_URL was set when the pages were built. */
function IfPosted({ children }: { children: ReactNode }) {
  return useSettings().postsHook ? children : null;
}

/** Other hosts that a visitor's browser contacts. */
function OtherServers() {
  const { siteUrl, apiBase, countriesUrl } = useSettings();
  const films = typeof site.heroFilm === "string" ? [] : site.heroFilm.map(({ url }) => url);
  const urls = [apiBase, countriesUrl, ...films].map((url) => new URL(url, siteUrl));
  const hosts = [...new Set(urls.map(({ host }) => host))].filter((host) => host !== new URL(siteUrl).host);
  return hosts.length === 0
    ? "It makes no third-party requests, so opening a page does not tell advertisers or social networks that you are here."
    : `For some parts of a page, your browser contacts another server, which sees your network address: ${hosts.join(", ")}.`;
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <div className="notice" role="note">
      {children}
    </div>
  );
}

/** The components that the policies' MDX texts may use. */
export const POLICY_COMPONENTS = { ContactEmail, Deletion, Fact, IfPosted, Notice, OtherServers };

/** The company's names, with their placeholders. The legal name may contain the brand, so it comes first. */
export function shownFacts({ siteUrl }: BuildSettings): [name: string, value: string][] {
  const { legalName, brand, contactEmail } = site;
  const { websiteUrl } = PLACEHOLDER;
  return [
    [PLACEHOLDER.legalName, legalName],
    [PLACEHOLDER.brand, brand],
    ["email", contactEmail],
    [websiteUrl, siteUrl],
  ];
}

/** What must be set before launch, each with the place to set it. */
export function unsetFacts(settings: BuildSettings): string[] {
  const file = `${settings.siteDir}site.ts`;
  const facts = (Object.keys(PLACEHOLDER) as FactName[])
    .filter((name) => factValue(name, settings) === null)
    .map((name) =>
      name === "websiteUrl" ? "website URL (SITE_URL)" : `${PLACEHOLDER[name]} (policyFacts.${name} in ${file})`,
    );
  // By default these link to the home page, which is useless.
  const links = site.social
    .filter(({ href }) => href === "/")
    .map(({ network }) => `${network} link (social in ${file})`);
  return [...facts, ...links];
}

function factValue(name: FactName, settings: BuildSettings): string | null {
  if (name === "brand" || name === "legalName") return site[name];
  if (name !== "websiteUrl") return site.policyFacts[name];
  // localhost is the default for a trial, not a public address.
  return new URL(settings.siteUrl).hostname === "localhost" ? null : settings.siteUrl;
}
