import type { ReactNode } from "react";
import {
  categoriesOf,
  checkAmount,
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
  factorOf,
  largestSaving,
  MAX_AMOUNT,
  parseFootprint,
} from "../../contract/footprint.ts";
import { HOTEL_COUNTRIES } from "../../contract/footprint-factors.ts";
import {
  AMOUNTS,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
} from "../../contract/footprint-fields.ts";

export type CarUnit = "km" | "miles";
const KM_PER_MILE = 1.609344;
const HOTEL_AVERAGE = `average of ${HOTEL_COUNTRIES} countries`;

/** The estimate as far as it can be read from the form at this moment. */
export interface Reading {
  /** How a number was understood where that is not obvious, by the name of its field. */
  hints: Readonly<Record<string, string>>;
  errors: FootprintErrors;
  country: string;
  countryName: string;
  estimate: FootprintEstimate | null;
  /** In words; empty without an estimate. */
  total: string;
  /** What goes into the body of the request. */
  fields: { footprint?: FootprintInputs };
  electricity: ElectricityTable;
}

export interface Estimator {
  read(form: HTMLFormElement, carUnit: CarUnit): Reading;
  Result(props: ResultProps): ReactNode;
}

export async function loadEstimator(electricityUrl: string): Promise<Estimator> {
  const response = await fetch(electricityUrl, { credentials: "omit" });
  if (!response.ok) throw new Error(`The electricity table answered ${response.status}.`);
  const electricity = (await response.json()) as ElectricityTable;
  return {
    read: (form, carUnit) => read(form, carUnit, electricity),
    Result,
  };
}

function read(form: HTMLFormElement, carUnit: CarUnit, electricity: ElectricityTable): Reading {
  const data = new FormData(form);
  const country = String(data.get("country") ?? "");
  const footprint: Record<string, unknown> = {};
  const hints: Record<string, string> = {};
  const unreadable: FootprintErrors = {};
  for (const [name, text] of data) {
    if (!isFieldName(name) || typeof text !== "string" || text.trim() === "") continue;
    const field = name.slice(FIELD_PREFIX.length);
    footprint[field] = text;
    const isMiles = field === "carKm" && carUnit === "miles";
    const unit = isMiles ? "miles" : unitOf(field);
    if (unit === null) continue;
    const amount = checkAmount(text, unit, isMiles ? Math.floor(MAX_AMOUNT / KM_PER_MILE) : MAX_AMOUNT);
    if (typeof amount === "string") {
      unreadable[name] = amount;
      continue;
    }
    if (isMiles) footprint[field] = amount * KM_PER_MILE;
    if (isMiles || !/^\d+$/.test(text.trim())) {
      const inKm = isMiles ? ` (${formatAmount(Math.round(amount * KM_PER_MILE))} km)` : "";
      hints[name] = `Read as ${formatAmount(amount)} ${unit}${inKm}`;
    }
  }
  const parsed = parseFootprint({ footprint });
  // Ours win: they name the unit that was typed, which may not be the one that is sent.
  const errors = parsed.ok ? unreadable : { ...parsed.fields, ...unreadable };
  const countryName = form.querySelector<HTMLOptionElement>("[name=country] option:checked")?.text ?? "";
  const inputs = parsed.ok && Object.keys(errors).length === 0 ? parsed.inputs : null;
  const estimate = inputs && estimateFootprint(inputs, country, electricity);
  return {
    hints,
    errors,
    country,
    countryName,
    estimate,
    electricity,
    total: estimate ? formatTotal(estimate.totalKg) : "",
    fields: inputs ? { footprint: inputs } : {},
  };
}

function isFieldName(name: string): name is `footprint.${string}` {
  return name.startsWith(FIELD_PREFIX);
}

function unitOf(field: string): string | null {
  if (field in AMOUNTS) return AMOUNTS[field as keyof typeof AMOUNTS].unit;
  return field in DISTANCES ? "km" : null;
}

interface ResultProps {
  reading: Reading;
}

function Result({ reading }: ResultProps) {
  const { estimate, country, total, errors, electricity } = reading;
  if (!estimate) {
    return (
      <p className="footprint-empty">
        {Object.keys(errors).length === 0
          ? "Your estimate appears here as you type."
          : "The estimate appears once every amount can be read."}
      </p>
    );
  }
  const categories = categoriesOf(estimate);
  const [{ kg: largest } = { kg: 0 }] = categories;
  const saving = largestSaving(estimate, country, electricity);
  return (
    <>
      <p className="footprint-total">
        Your estimate: <strong>{total}</strong>
      </p>
      <div className="footprint-result">
        <PlaceNote reading={reading} estimate={estimate} />
        <ul className="footprint-bars">
          {categories.map(({ category, kg }) => (
            <li key={category}>
              <span>{category}</span> <span className="footprint-kg">{formatMass(kg)}</span>
              <svg aria-hidden="true">
                <rect width={`${largest > 0 ? (100 * kg) / largest : 0}%`} height="100%" rx="3" />
              </svg>
            </li>
          ))}
        </ul>
        {saving && (
          <p>
            What would save most: <b>{saving.change}</b>, <span className="nowrap">{formatAbout(saving.kg)}</span> a
            year.
          </p>
        )}
        <Sources reading={reading} estimate={estimate} />
      </div>
    </>
  );
}

interface EstimateProps {
  reading: Reading;
  estimate: FootprintEstimate;
}

/** Says where an average stands in for the visitor's own country. */
function PlaceNote({ reading: { country, countryName }, estimate: { lines } }: EstimateProps) {
  const averaged = lines.filter(({ place }) => place === null).map(({ field }) => field);
  if (averaged.length === 0) return null;
  const grid = averaged.some((field) => field !== "hotelNights") && "the world’s average for electricity";
  const hotels = averaged.includes("hotelNights") && `the ${HOTEL_AVERAGE} for hotels`;
  return (
    <p className="footprint-place">
      Computed with {[grid, hotels].filter(Boolean).join(" and ")}:{" "}
      {country === "" ? (
        <>
          choose your <a href="#country">Country</a> in the form for its own figures.
        </>
      ) : (
        `there are no figures for ${countryName}.`
      )}
    </p>
  );
}

function Sources({ reading, estimate }: EstimateProps) {
  const { inputs, lines, factorSet } = estimate;
  return (
    <details className="footprint-sources">
      <summary>Factors and sources</summary>
      <ul>
        {lines.map(({ field, place }) => {
          const { factor } = factorOf(field, inputs, reading.country, reading.electricity);
          const average = field === "hotelNights" ? HOTEL_AVERAGE : "world average";
          const where = place === undefined ? "UK average" : (place && reading.countryName) || average;
          return (
            <li key={field}>
              <b>{AMOUNTS[field].label}</b>: {formatAmount(factor.kgPerUnit)} kg CO2e per {factor.unit}, {where}.
              Counted: {factor.boundary}. <a href={factor.link}>{factor.source}</a>, {factor.year}.
            </li>
          );
        })}
      </ul>
      <p>Factor set: {factorSet}.</p>
    </details>
  );
}
