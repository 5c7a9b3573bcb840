import { escapeHtml } from "../visible-text.ts";
import { type ElectricityTable, estimateFootprint } from "./arithmetic.ts";
import { type FootprintInputs, formatMass, formatTotal, unbroken } from "./fields.ts";
import {
  CREDITS_NOTE,
  describeWhom,
  type ExplainedLine,
  eachText,
  explainLines,
  formatCost,
  LOCATION_BASED,
  type Price,
  ROUNDED,
  rangeCover,
  rangeText,
  sourcesOf,
} from "./words.ts";

/** An estimate that went with a message. */
export interface SentEstimate {
  inputs: FootprintInputs;
  /** A two-letter code, or empty. */
  country: string;
  countryName: string;
  reference: string;
  date: Date;
}

/**
 * The inputs, factors, sources and date for the visitor to print or save. It is HTML, because the server writes it into
 * the page after a plain post. After any other post, the page's script writes it.
 */
export function reportHtml(sent: SentEstimate, electricity: ElectricityTable, price: Price | null): string {
  const { inputs, country, countryName, reference, date } = sent;
  const estimate = estimateFootprint(inputs, country, electricity);
  const { totalKg, range } = estimate;
  const lines = explainLines(estimate, country, countryName, electricity);
  const rows = lines.map(
    ({ label, value, kgPerUnit, unit, where, kg }) =>
      `<tr><th scope="row">${label}</th><td>${fact("amount", value)}</td>` +
      `<td>${fact("factor", kgPerUnit)} kg per ${unit}, ${escapeHtml(where)}</td><td>${fact("mass", formatMass(kg))}</td></tr>`,
  );
  // The server and the visitor's browser write the same report, so the time zone must not depend on either.
  const day = date.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const each = eachText(estimate);
  const between = rangeText(estimate);
  return [
    `<h2 id="report-title">Your estimate</h2>`,
    `<p class="report-total" id="report-total">${fact("total", formatTotal(totalKg))}</p>`,
    `<p>For ${fact("whom", describeWhom(inputs))}${each && `: ${fact("mass", each)}`}. Country: `,
    `${fact("country", escapeHtml(countryName) || "not chosen, so averages are used where the country matters")}. `,
    `Sent on ${fact("date", day)} (UTC) with message ${fact("reference", escapeHtml(reference))}.</p>`,
    price && totalKg > 0
      ? `<p>Credits for ${fact("mass", formatMass(totalKg))} cost ${fact("cost", escapeHtml(formatCost(totalKg, price)))}. ${CREDITS_NOTE}</p>`
      : "",
    `<table><thead><tr><th scope="col">Item</th><th scope="col">Amount entered</th>`,
    `<th scope="col">Factor (CO₂e)</th><th scope="col">CO₂e</th></tr></thead><tbody>${rows.join("")}</tbody></table>`,
    rows.length > 1 ? `<p class="report-small">${ROUNDED}</p>` : "",
    range && between ? `<p>The range is ${fact("range", between)}: ${rangeCover(range)}.</p>` : "",
    `<h3>Sources</h3>${sourcesHtml(lines, estimate.factorSet)}`,
    `<p>An estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste, water, `,
    `buildings and investments.</p>`,
  ].join("");
}

/** Where the factors of these lines come from. */
export function sourcesHtml(lines: readonly ExplainedLine[], factorSet: string): string {
  const sources = sourcesOf(lines).map(
    ({ source, link, counted }) => `<li><a href="${link}">${source}</a>. Counted: ${counted}.</li>`,
  );
  const grid = lines.some(({ isFromGrid }) => isFromGrid) ? `${LOCATION_BASED} ` : "";
  return `<ul>${sources.join("")}</ul><p>${grid}Factor set: ${fact("set", factorSet)}.</p>`;
}

/** Marks a computed or entered value. The claims ledger replaces it with its name: the sentence stays the same. */
function fact(name: string, html: string): string {
  return `<span data-fact="${name}">${unbroken(html)}</span>`;
}
