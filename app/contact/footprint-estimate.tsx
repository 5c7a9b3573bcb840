import type { ReactNode } from "react";
import {
  categoriesOf,
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
  factorOf,
  isDomestic,
  largestSaving,
  parseFootprint,
  unitOf,
} from "../../contract/footprint.ts";
import { HOTEL_COUNTRIES } from "../../contract/footprint-factors.ts";
import {
  AMOUNTS,
  type AmountField,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
  KM_PER_MILE,
  SHORT_MAX_KM,
} from "../../contract/footprint-fields.ts";

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
  read(form: HTMLFormElement): Reading;
  Result(props: ResultProps): ReactNode;
}

export async function loadEstimator(electricityUrl: string): Promise<Estimator> {
  const response = await fetch(electricityUrl, { credentials: "omit" });
  if (!response.ok) throw new Error(`The electricity table answered ${response.status}.`);
  const electricity = (await response.json()) as ElectricityTable;
  return {
    read: (form) => read(form, electricity),
    Result,
  };
}

function read(form: HTMLFormElement, electricity: ElectricityTable): Reading {
  const data = new FormData(form);
  const country = String(data.get("country") ?? "");
  const texts = [...data].filter(([name]) => name.startsWith(FIELD_PREFIX));
  const footprint = Object.fromEntries(texts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text]));
  const countryName = form.querySelector<HTMLOptionElement>("[name=country] option:checked")?.text ?? "";
  return readFields(footprint, country, countryName, electricity);
}

export function readFields(
  footprint: Readonly<Record<string, unknown>>,
  country: string,
  countryName: string,
  electricity: ElectricityTable,
): Reading {
  const parsed = parseFootprint({ footprint });
  const errors = parsed.ok ? {} : parsed.fields;
  const inputs = parsed.ok ? parsed.inputs : null;
  const hints: Record<string, string> = inputs ? hintsOf(footprint, inputs) : {};
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

/** How amounts were understood where that is not obvious, and what makes one doubtful. */
function hintsOf(footprint: Readonly<Record<string, unknown>>, inputs: FootprintInputs): Record<string, string> {
  const hints: Record<string, string> = {};
  for (const field of [...Object.keys(AMOUNTS), ...Object.keys(DISTANCES)] as (keyof FootprintInputs)[]) {
    const amount = inputs[field];
    const text = footprint[field];
    if (typeof amount !== "number" || typeof text !== "string" || text.trim() === "") continue;
    const isMiles = field === "carKm" && inputs.carUnit === "mi";
    if (!isMiles && /^\d+$/.test(text.trim())) continue;
    const unit = field in AMOUNTS ? unitOf(field as AmountField, inputs) : "km";
    const inKm = isMiles ? ` (${formatAmount(Math.round(amount * KM_PER_MILE))} km)` : "";
    hints[FIELD_PREFIX + field] = `Read as ${formatAmount(amount)} ${unit}${inKm}`;
  }
  if (inputs.shortFlights !== undefined) {
    const distance = `${FIELD_PREFIX}shortFlightKm`;
    if (isDomestic(inputs)) hints[distance] = "Counted as domestic flights, for which classes do not matter";
    if (inputs.shortFlightKm > SHORT_MAX_KM) hints[distance] = "That far? Flights above 3,700 km are long ones.";
  }
  return hints;
}

interface ResultProps {
  reading: Reading;
}

export function Result({ reading }: ResultProps) {
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
        Your estimate: <strong data-fact="total">{total}</strong>
      </p>
      <div className="footprint-result">
        <PlaceNote reading={reading} estimate={estimate} />
        <ul className="footprint-bars">
          {categories.map(({ category, kg }) => (
            <li key={category}>
              <span>{category}</span>{" "}
              <span className="footprint-kg" data-fact="mass">
                {formatMass(kg)}
              </span>
              <svg aria-hidden="true">
                <rect width={`${largest > 0 ? (100 * kg) / largest : 0}%`} height="100%" rx="3" />
              </svg>
            </li>
          ))}
        </ul>
        {saving && (
          <p>
            Of the changes we compared, this one saves most: <b>{saving.change}</b>,{" "}
            <span className="nowrap" data-fact="mass">
              {formatAbout(saving.kg)}
            </span>{" "}
            a year.
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
          const isDomesticLine = field === "shortFlights" && isDomestic(inputs);
          const uk = isDomesticLine ? "domestic flights in the UK, average passenger" : "UK average";
          const where = place === undefined ? uk : (place && reading.countryName) || average;
          const year = factor.source.includes(String(factor.year)) ? "" : `, ${factor.year}`;
          return (
            <li key={field}>
              <b>{AMOUNTS[field].label}</b>: <span data-fact="factor">{formatAmount(factor.kgPerUnit)}</span> kg CO2e
              per {factor.unit}, {where}. Counted: {factor.boundary}. <a href={factor.link}>{factor.source}</a>
              {year}.
            </li>
          );
        })}
      </ul>
      <p>Factor set: {factorSet}.</p>
    </details>
  );
}
