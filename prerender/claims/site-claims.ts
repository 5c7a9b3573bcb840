import { readFile } from "node:fs/promises";
import type { RenderedPage, RenderedSite } from "../../app/render.tsx";
import { site } from "../../app/site.ts";
import { parseContactMessage } from "../../contract/contact-message.ts";
import { estimateFootprint } from "../../contract/footprint.ts";
import type { FootprintInputs } from "../../contract/footprint-fields.ts";
// The only thing of the server that the build reads: the words of its mails.
import { composeMail } from "../../server/mail/compose.ts";
import type { StoredMessage } from "../../server/store/store.ts";
import { electricityTable } from "../electricity.ts";
import { type CheckedText, type ClaimsReport, checkClaims } from "./check.ts";
import { parseExceptions } from "./exceptions.ts";
import { type Block, blocksOfHtml, blocksOfText } from "./sentences.ts";

const EXCEPTIONS_FILE = "app/claims-exceptions.json";
const OUR_NAMES = [site.brand, site.legalName];

/** Checks everything that the site and its mails say. Rejects if the file of exceptions is invalid. */
export async function checkSiteClaims(rendered: RenderedSite): Promise<ClaimsReport> {
  const { exceptions, problems } = parseExceptions(await readFile(EXCEPTIONS_FILE, "utf8"));
  if (problems.length > 0) throw new Error(`${EXCEPTIONS_FILE} is invalid:\n  ${problems.join("\n  ")}`);
  return checkClaims(siteTexts(rendered), exceptions, new Date(), OUR_NAMES);
}

export function siteTexts({ pages, comingSoon, failure, formAlerts }: RenderedSite): CheckedText[] {
  return [
    ...[...pages, comingSoon, failure].map((page) => ({ name: page.name, blocks: blocksOfPage(page) })),
    { name: "contact form", blocks: [...blocksOfHtml(formAlerts), ...fieldErrors()] },
    { name: "settings", blocks: blocksOfSettings(site, "") },
    { name: "mail to the team", blocks: blocksOfTeamMail() },
  ];
}

function blocksOfPage({ html, saveDataHtml, socialCard }: RenderedPage): Block[] {
  const card = socialCard ? [socialCard.headline, site.brand, site.footerTagline] : [];
  return [
    ...blocksOfHtml(html),
    ...blocksOfHtml(saveDataHtml ?? ""),
    ...card.flatMap((line) => blocksOfText(line, "social card")),
  ];
}

function fieldErrors(): Block[] {
  const parsed = parseContactMessage({});
  return parsed.ok ? [] : Object.values(parsed.fields).flatMap((text) => blocksOfText(text, "text"));
}

/** Every text of the settings; its part of the report is the setting's name. */
function blocksOfSettings(value: unknown, name: string): Block[] {
  if (typeof value === "string") return /(?:href|url|type)$/.test(name) ? [] : blocksOfText(value, name);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => blocksOfSettings(part, name === "" ? key : `${name}.${key}`));
}

function blocksOfTeamMail(): Block[] {
  const identity = { brand: site.brand, mailFrom: site.contactEmail, mailTo: site.contactEmail };
  const { subject, html } = composeMail(SAMPLE_MESSAGE, identity);
  return [...blocksOfText(String(subject), "subject"), ...blocksOfHtml(String(html))];
}

const SAMPLE_INPUTS: FootprintInputs = {
  ...{ electricityKwh: 1, hotelNights: 1, shortFlightKm: 1, longFlightKm: 1 },
  ...{ carFuel: "petrol", shortFlightClass: "economy", longFlightClass: "economy" },
};

/** As little of a visitor as a mail can be composed of: what visitors write is not ours to check. */
const SAMPLE_MESSAGE: StoredMessage = {
  id: "1",
  reference: "BC-000000",
  name: "A visitor",
  email: "visitor@example.com",
  phone: "0",
  country: "",
  message: "",
  state: "queued",
  acceptedAt: new Date(0),
  stateChangedAt: new Date(0),
  dueAt: null,
  attempts: 0,
  lastError: null,
  isRestricted: false,
  answeredAt: null,
  quarantineReason: null,
  footprint: estimateFootprint(SAMPLE_INPUTS, "", electricityTable()),
  acknowledgement: null,
  hook: null,
  version: "1",
};
