import { type ElectricityTable, estimateFootprint, explainLines } from "./footprint.ts";
import { type FootprintInputs, formatAmount, formatMass, formatTotal } from "./footprint-fields.ts";

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
 * For the visitor to print or save: what was entered, the factors, the sources and the date. As HTML, because the server
 * writes it into the page after a plain post, and the page itself after every other.
 */
export function reportHtml(sent: SentEstimate, electricity: ElectricityTable): string {
  const { inputs, country, countryName, reference, date } = sent;
  const estimate = estimateFootprint(inputs, country, electricity);
  const lines = explainLines(estimate, country, countryName, electricity);
  const rows = lines.map(
    ({ label, value, kgPerUnit, unit, where, kg }) =>
      `<tr><th scope="row">${label}</th><td>${fact("amount", value)}</td>` +
      `<td>${fact("factor", kgPerUnit)} kg per ${unit}, ${escaped(where)}</td><td>${fact("mass", formatMass(kg))}</td></tr>`,
  );
  const sources = lines.map(
    ({ source, link, year, boundary }) =>
      `<li><a href="${link}">${source}</a>${source.includes(String(year)) ? "" : `, ${year}`}. Counted: ${boundary}.</li>`,
  );
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return [
    `<h2 id="report-title">Your estimate</h2>`,
    `<p class="report-total">${fact("total", formatTotal(estimate.totalKg))}</p>`,
    `<p>Sent on ${fact("date", day)} with message ${fact("reference", escaped(reference))}. `,
    `To the nearest kilogram: ${fact("kg", formatAmount(Math.round(estimate.totalKg)))}&nbsp;kg CO₂e.</p>`,
    `<table><thead><tr><th scope="col">Amount</th><th scope="col">Entered, for a year</th>`,
    `<th scope="col">Factor (CO₂e)</th><th scope="col">CO₂e</th></tr></thead><tbody>${rows.join("")}</tbody></table>`,
    `<h3>Sources</h3><ul>${[...new Set(sources)].join("")}</ul>`,
    `<p>Factor set: ${fact("set", estimate.factorSet)}. An estimate, not a certificate. It leaves out food, goods and `,
    `services, the supply chain, waste, water, buildings and investments.</p>`,
  ].join("");
}

/** What is computed or entered is no part of the sentence: the ledger of claims has its name instead. */
function fact(name: string, html: string): string {
  return `<span data-fact="${name}">${html}</span>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
