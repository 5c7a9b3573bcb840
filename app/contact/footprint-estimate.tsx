import { type RefObject, useEffect, useRef, useState } from "react";
import {
  categoriesOf,
  type ElectricityTable,
  estimateFootprint,
  explainLines,
  type FootprintEstimate,
  HOTEL_AVERAGE,
  isDomestic,
  kmNote,
  largestSaving,
  parseFootprint,
  rangeOf,
  unitOf,
} from "../../contract/footprint.ts";
import {
  AMOUNTS,
  type AmountField,
  CAR_UNITS,
  CHOICES,
  DISTANCES,
  FIELD_PREFIX,
  type FootprintErrors,
  type FootprintInputs,
  formatAbout,
  formatAmount,
  formatMass,
  formatTotal,
  optionLabel,
  SHORT_MAX_KM,
} from "../../contract/footprint-fields.ts";
import { reportHtml, type SentEstimate } from "../../contract/footprint-report.ts";
import { SENT_ESTIMATE_ID } from "../../contract/send-email-answer.ts";
import resultStyles from "../styles/estimate-result.css?inline";
import { tryTwice } from "./countries.ts";
import { controlProps, Frame } from "./field.tsx";

if (typeof document !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(resultStyles);
  document.adoptedStyleSheets.push(sheet);
}

/** Long enough that a total is announced once somebody has stopped typing. */
const ANNOUNCE_AFTER_MS = 1200;

type Control = readonly [name: string, label: string];
interface Group {
  legend: string;
  note: string;
  controls: readonly Control[];
}

/** What most people can answer, and where the number stands. */
const FIRST: readonly Group[] = [
  {
    legend: "Home energy",
    note: "In kWh, on the yearly bills of your suppliers.",
    controls: [
      ["electricityKwh", "Electricity (kWh)"],
      ["gasKwh", "Natural gas (kWh)"],
    ],
  },
  {
    legend: "Car",
    note: "On the odometer: what it shows today, less what it showed a year ago.",
    controls: [
      ["carKm", "Distance"],
      ["carUnit", "Unit"],
      ["carFuel", "Fuel"],
    ],
  },
  {
    legend: "Flights",
    note: "In your calendar or your bookings: there and back is one flight. Short is up to about 3,700 km one way.",
    controls: [
      ["shortFlights", "Short return flights"],
      ["longFlights", "Long return flights"],
    ],
  },
];

const FLIGHT_DETAILS: readonly Group[] = [
  {
    legend: "Short flights",
    note: "Up to 500 km one way they count as domestic.",
    controls: [
      ["shortFlightKm", "Km one way"],
      ["shortFlightClass", "Class"],
    ],
  },
  {
    legend: "Long flights",
    note: "More than 3,700 km one way.",
    controls: [
      ["longFlightKm", "Km one way"],
      ["longFlightClass", "Class"],
    ],
  },
];

const MORE: readonly Group[] = [
  {
    legend: "Public transport and taxi",
    note: "In km a year: the distance of one trip, times the number of trips.",
    controls: [
      ["railKm", "Train (km)"],
      ["coachKm", "Coach (km)"],
      ["busKm", "Local bus (km)"],
      ["taxiKm", "Taxi (km)"],
    ],
  },
  { legend: "Hotels", note: "With the figure of your own country.", controls: [["hotelNights", "Nights, one room"]] },
  {
    legend: "Other fuels",
    note: "In litres, on the invoices of a year.",
    controls: [
      ["heatingOilLitres", "Heating oil (litres)"],
      ["lpgLitres", "LPG (litres)"],
    ],
  },
];

interface EstimateProps {
  form: RefObject<HTMLFormElement | null>;
  formId: string;
  /** The heading of the form. */
  formTitleId: string;
  /** The page that explains the figures. */
  explanationPath: string;
  electricityUrl: string;
  errors: FootprintErrors;
  onReady(component: typeof Report): void;
  onRead(reading: Reading | null): void;
  onContinue(): void;
  onRemove(): void;
}

/** The fields of the estimate, and beside them what they add up to. */
export function Estimate({ form, formId, formTitleId, explanationPath, electricityUrl, errors, ...on }: EstimateProps) {
  const [electricity, setElectricity] = useState<ElectricityTable | "failed" | null>(null);
  // What is rendered first has to equal what the build rendered.
  const [isHydrated, setHydrated] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLParagraphElement>(null);
  const reading =
    form.current && typeof electricity === "object" && electricity ? read(form.current, electricity) : null;
  const shownErrors: FootprintErrors = { ...withoutFocused(reading?.errors), ...withoutUndefined(errors) };
  const announced = useLater(announcement(reading, shownErrors));

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page has become interactive
  useEffect(() => {
    on.onReady(Report);
    setHydrated(true);
    tryTwice(() => loadElectricity(electricityUrl))
      .then(setElectricity)
      .catch((error: unknown) => {
        console.error("The figures of the footprint estimate did not load.", error);
        setElectricity("failed");
      });
    // What was entered before is not folded away.
    for (const fold of body.current?.querySelectorAll("details") ?? []) fold.open ||= isFilledIn(fold);
    return keepClear(body, bar);
  }, []);
  useEffect(() => on.onRead(reading));

  const group = ({ legend, note, controls }: Group) => (
    <fieldset key={legend} className="footprint-group" data-columns={controls.length % 3 === 0 ? 3 : 2}>
      <legend>{legend}</legend>
      <p className="footprint-note">{note}</p>
      {controls.map(([field, label]) => control(field, label))}
    </fieldset>
  );
  const control = (field: string, label: string) => {
    const name = FIELD_PREFIX + field;
    const error = shownErrors[name as keyof FootprintErrors];
    const hint = error === undefined ? reading?.hints[name] : undefined;
    const options = optionsOf(field);
    return (
      <Frame key={name} name={name} label={label} error={error} hint={hint}>
        {options ? (
          <select {...controlProps(name, error)} form={formId}>
            {options.map((option) => (
              <option key={option} value={option}>
                {field === "carUnit" ? optionLabel(option) : capitalised(optionLabel(option))}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...controlProps(name, error, hint)}
            form={formId}
            inputMode="decimal"
            maxLength={40}
            defaultValue={DISTANCES[field as keyof typeof DISTANCES]?.usual}
          />
        )}
      </Frame>
    );
  };

  return (
    <div ref={body} className="footprint-body" id="footprint">
      {/* For narrow screens. Not read out: the result has the same words. */}
      <p ref={bar} className="footprint-bar" aria-hidden="true">
        {reading?.estimate ? (
          <>
            <span>Your estimate: </span>
            <b data-fact="total">{reading.total}</b>
          </>
        ) : (
          "Your estimate appears here."
        )}
      </p>
      <div className="footprint-inputs">
        <div>
          <h3>About how much CO₂e do you emit in a year?</h3>
          <p>
            Enter what you know, for yourself or for your organisation, and leave the rest empty. Nothing leaves this
            page until you press Submit.
          </p>
        </div>
        <CountryChoice own={isHydrated ? countrySelect(form.current) : null} />
        {FIRST.map(group)}
        <details className="footprint-more">
          <summary>
            Distance and class of the flights <span className="footprint-note">else 1,500 and 6,500 km, economy</span>
          </summary>
          {FLIGHT_DETAILS.map(group)}
        </details>
        <details className="footprint-more">
          <summary>
            Add more <span className="footprint-note">public transport, hotels, other fuels</span>
          </summary>
          {MORE.map(group)}
        </details>
      </div>
      <div className="footprint-outcome">
        {reading?.estimate && <Total total={reading.total} />}
        <div className="footprint-panel">
          {reading ? (
            <Result reading={reading} />
          ) : (
            <p className="footprint-empty">{WITHOUT_FIGURES[electricity === "failed" ? "failed" : "plain"]}</p>
          )}
          <div className="footprint-actions">
            <a
              className="button button-primary"
              href={`#${formTitleId}`}
              onClick={(event) => {
                event.preventDefault();
                on.onContinue();
              }}
            >
              Continue to your message
            </a>
            {reading?.estimate && (
              <button type="button" className="button button-outline" onClick={on.onRemove}>
                Remove the estimate
              </button>
            )}
          </div>
        </div>
      </div>
      <p className="footprint-limits">
        This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste, water,
        buildings and investments, so most people and companies emit more. Cutting comes before offsetting. Neither this
        estimate nor buying credits makes anyone carbon neutral. <a href={explanationPath}>How we estimate</a>
      </p>
      {/* Orca reads all of it only with both attributes. */}
      <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
        {announced}
      </p>
    </div>
  );
}

/** Apart from the rest, so that it stays in view while the rest is scrolled. */
export function Total({ total }: { total: string }) {
  return (
    <p className="footprint-total">
      Your estimate: <strong data-fact="total">{total}</strong>
    </p>
  );
}

const WITHOUT_FIGURES = {
  plain: "Your estimate is shown after you have sent the message.",
  failed: "The estimate cannot be shown just now. Send your message all the same: we compute it from what you entered.",
};

/** The form's own choice, shown where it matters. It has no name, so there is one country to send. */
function CountryChoice({ own }: { own: HTMLSelectElement | null }) {
  return (
    <div className="field footprint-country">
      <label htmlFor="estimate-country">Your country</label>
      <select
        id="estimate-country"
        aria-describedby="estimate-country-hint"
        value={own?.value ?? ""}
        // Not `onChange`, which may come after the estimate was drawn again, with the country before.
        onInput={({ currentTarget }) => {
          if (!own) return;
          own.value = currentTarget.value;
          for (const type of ["input", "change"]) own.dispatchEvent(new Event(type, { bubbles: true }));
        }}
      >
        {[...(own?.options ?? [])].map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
        {!own && <option value="">Select a country</option>}
      </select>
      <p className="field-hint" id="estimate-country-hint">
        Electricity and hotels are counted with its figures. The form below shows the same choice.
      </p>
    </div>
  );
}

function countrySelect(form: HTMLFormElement | null): HTMLSelectElement | null {
  const select = form?.elements.namedItem("country");
  return select instanceof HTMLSelectElement ? select : null;
}

function optionsOf(field: string): readonly string[] | undefined {
  return field === "carUnit" ? CAR_UNITS : CHOICES[field as keyof typeof CHOICES]?.options;
}

/** What the browser kept, or an error that has to be seen. */
function isFilledIn(fold: HTMLElement): boolean {
  const controls = [...fold.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")];
  return controls.some((control) =>
    control instanceof HTMLSelectElement ? control.selectedIndex > 0 : control.value !== control.defaultValue,
  );
}

/**
 * Hides the bar while it would be above the field that somebody is in: who scrolls there, or presses the part of a field
 * that is below the bar. Who gets there by keyboard finds the field below it: see `scroll-margin-block` in estimate.css.
 */
function keepClear(body: RefObject<HTMLElement | null>, bar: RefObject<HTMLElement | null>): () => void {
  const yieldToField = () => {
    const field = document.activeElement;
    const above = bar.current?.getBoundingClientRect();
    if (!field || !above) return;
    const { top, bottom } = field.getBoundingClientRect();
    const isField = field.matches("input, select") && body.current?.contains(field) === true;
    bar.current?.toggleAttribute("data-yields", isField && above.bottom > top && above.top < bottom);
  };
  const events = ["focusin", "focusout", "scroll"];
  for (const type of events) document.addEventListener(type, yieldToField, { passive: true });
  return () => {
    for (const type of events) document.removeEventListener(type, yieldToField);
  };
}

function withoutFocused(errors: FootprintErrors = {}): FootprintErrors {
  const focused = typeof document === "undefined" ? "" : document.activeElement?.id;
  return Object.fromEntries(Object.entries(errors).filter(([name]) => name !== focused));
}

function withoutUndefined(errors: FootprintErrors): FootprintErrors {
  return Object.fromEntries(Object.entries(errors).filter(([, text]) => text !== undefined));
}

/** What screen readers say: the total, or what cannot be read. */
function announcement(reading: Reading | null, errors: FootprintErrors): string {
  const problems = Object.entries({ ...AMOUNTS, ...DISTANCES }).flatMap(([field, { label }]) => {
    const error = errors[`${FIELD_PREFIX}${field}`];
    return error === undefined ? [] : `${label}: ${error}`;
  });
  if (problems.length > 0) return problems.join(" ");
  return reading?.estimate ? `Your estimate: ${reading.total}` : "";
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text once it has not changed for a while. */
function useLater(text: string): string {
  const [later, setLater] = useState("");
  useEffect(() => {
    const timer = setTimeout(setLater, ANNOUNCE_AFTER_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}

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
  electricity: ElectricityTable;
}

async function loadElectricity(url: string): Promise<ElectricityTable> {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`The electricity table answered ${response.status}.`);
  return response.json();
}

function read(form: HTMLFormElement, electricity: ElectricityTable): Reading {
  const data = new FormData(form);
  const country = String(data.get("country") ?? "");
  const texts = [...data].filter(([name]) => name.startsWith(FIELD_PREFIX));
  const footprint = Object.fromEntries(texts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text]));
  const countryName = countrySelect(form)?.selectedOptions[0]?.text ?? "";
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
  };
}

/** How amounts were understood where that is not obvious, and what makes one doubtful. */
function hintsOf(footprint: Readonly<Record<string, unknown>>, inputs: FootprintInputs): Record<string, string> {
  const hints: Record<string, string> = {};
  for (const field of [...Object.keys(AMOUNTS), ...Object.keys(DISTANCES)] as (keyof FootprintInputs)[]) {
    const amount = inputs[field];
    const text = footprint[field];
    if (typeof amount !== "number" || typeof text !== "string" || text.trim() === "") continue;
    const inKm = field === "carKm" ? kmNote(inputs) : "";
    if (inKm === "" && /^\d+$/.test(text.trim())) continue;
    const unit = field in AMOUNTS ? unitOf(field as AmountField, inputs) : "km";
    hints[FIELD_PREFIX + field] = `Read as ${formatAmount(amount)} ${unit}${inKm}`;
  }
  if (inputs.shortFlights !== undefined) {
    const distance = `${FIELD_PREFIX}shortFlightKm`;
    if (isDomestic(inputs)) hints[distance] = "Counted as domestic flights, for which classes do not matter";
    if (inputs.shortFlightKm > SHORT_MAX_KM) hints[distance] = "That far? Flights above 3,700 km are long ones.";
  }
  return hints;
}

export function Result({ reading }: { reading: Reading }) {
  const { estimate, country, errors, electricity } = reading;
  if (!estimate) {
    return (
      <p className="footprint-empty">
        {Object.keys(errors).length === 0
          ? "Your estimate appears here as you type."
          : "The estimate appears once every amount can be read."}
      </p>
    );
  }
  const range = rangeOf(estimate, country, electricity);
  const [low, high] = range ? [formatMass(range.lowKg), formatMass(range.highKg)] : [];
  const categories = categoriesOf(estimate);
  const [first = { category: "", kg: 0 }] = categories;
  const share = estimate.totalKg > 0 ? Math.round((100 * first.kg) / estimate.totalKg) : 0;
  const saving = largestSaving(estimate, country, electricity);
  return (
    <>
      {range && low !== high && (
        <p className="footprint-range">
          From{" "}
          <span className="nowrap" data-fact="mass">
            {low}
          </span>{" "}
          to{" "}
          <span className="nowrap" data-fact="mass">
            {high}
          </span>
          , since the sources have different figures for {range.between.join(", and for ")}.
        </p>
      )}
      <PlaceNote reading={reading} estimate={estimate} />
      <ul className="footprint-bars">
        {categories.map(({ category, kg }) => (
          <li key={category}>
            <span>{category}</span>{" "}
            <span className="footprint-kg" data-fact="mass">
              {formatMass(kg)}
            </span>
            <svg aria-hidden="true">
              <rect width={`${first.kg > 0 ? (100 * kg) / first.kg : 0}%`} height="100%" rx="3" />
            </svg>
          </li>
        ))}
      </ul>
      {categories.length > 1 && first.kg > 0 && (
        <p>
          The largest part: <b>{first.category}</b>, <span data-fact="share">{share}</span> % of it.
        </p>
      )}
      {saving && (
        <p>
          Of the changes we compared, this one saves most: <b>{saving.change}</b>,{" "}
          <span className="nowrap" data-fact="mass">
            {formatAbout(saving.kg)}
          </span>{" "}
          a year.
        </p>
      )}
      <details className="footprint-sources">
        <summary>Factors and sources</summary>
        <Sources reading={reading} estimate={estimate} />
      </details>
    </>
  );
}

interface ResultPartProps {
  reading: Reading;
  estimate: FootprintEstimate;
}

/** Says where an average stands in for the visitor's own country. */
function PlaceNote({ reading: { country, countryName }, estimate: { lines } }: ResultPartProps) {
  const averaged = lines.filter(({ place }) => place === null).map(({ field }) => field);
  if (averaged.length === 0) return null;
  const grid = averaged.some((field) => field !== "hotelNights") && "the world’s average for electricity";
  const hotels = averaged.includes("hotelNights") && `the ${HOTEL_AVERAGE} for hotels`;
  return (
    <p className="footprint-place">
      Computed with {[grid, hotels].filter(Boolean).join(" and ")}:{" "}
      {country === "" ? (
        <>
          choose <a href="#estimate-country">your country</a> for its own figures.
        </>
      ) : (
        `there are no figures for ${countryName}.`
      )}
    </p>
  );
}

function Sources({ reading: { country, countryName, electricity }, estimate }: ResultPartProps) {
  return (
    <>
      <ul>
        {explainLines(estimate, country, countryName, electricity).map((line) => (
          <li key={line.label}>
            <b>{line.label}</b>: <span data-fact="factor">{line.kgPerUnit}</span> kg CO₂e per {line.unit}, {line.where}.
            Counted: {line.boundary}. <a href={line.link}>{line.source}</a>
            {line.source.includes(String(line.year)) ? "" : `, ${line.year}`}.
          </li>
        ))}
      </ul>
      <p>Factor set: {estimate.factorSet}.</p>
    </>
  );
}

/** What the visitor can print or save after sending; the same that the server writes into the page without script. */
export function Report({ sent, electricity }: { sent: SentEstimate; electricity: ElectricityTable }) {
  const html = reportHtml(sent, electricity);
  return (
    <section className="report" id={SENT_ESTIMATE_ID} tabIndex={-1} aria-labelledby="report-title">
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own words, with what comes from elsewhere escaped */}
      <div dangerouslySetInnerHTML={{ __html: html }} />
      <button type="button" className="button button-outline report-print" onClick={() => print()}>
        Print or save
      </button>
    </section>
  );
}
