import { type RefObject, useEffect, useRef, useState } from "react";
import {
  categoriesOf,
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
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
  isDomestic,
  optionLabel,
  SHORT_MAX_KM,
  unbroken,
} from "../../contract/footprint/fields.ts";
import { parseFootprint, unitOf } from "../../contract/footprint/parsing.ts";
import { reportHtml, type SentEstimate } from "../../contract/footprint/report.ts";
import {
  adviceFor,
  describeWhom,
  eachText,
  explainLines,
  formatCost,
  HOTEL_AVERAGE,
  kmNote,
  LOCATION_BASED,
  type Price,
  ROUNDED,
  rangeCover,
  rangeText,
  sourcesOf,
} from "../../contract/footprint/words.ts";
import { problemsOf, SENT_ESTIMATE_ID } from "../../contract/send-email-answer.ts";
import resultStyles from "../styles/estimate-result.css?inline";
import { tryTwice } from "./countries.ts";
import { controlProps, Frame, focusField } from "./field.tsx";

if (typeof document !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(resultStyles);
  document.adoptedStyleSheets.push(sheet);
}

/** Delays the announcement of a total until the visitor has stopped typing. */
const ANNOUNCE_AFTER_MS = 1200;
/** The duration of a press. */
const PRESS_MS = 250;

type Control = readonly [name: string, label: string];
/** Two texts: for a household and for an organisation. The page contains both, and CSS shows the chosen one. */
type Words = string | readonly [household: string, organisation: string];
interface Group {
  legend: Words;
  note: Words;
  controls: readonly Control[];
}

const SHORT_IS = unbroken("Short flights are up to about 3,700 km one way.");

/** The questions that most people can answer, each with a note on where to find the number. */
const FIRST: readonly Group[] = [
  {
    legend: ["Home energy", "Energy of your site"],
    note: [
      "In kWh, as on your suppliers’ yearly bills. For a shared home, enter your share.",
      "In kWh, as on your suppliers’ yearly bills. For a shared building, enter your share.",
    ],
    controls: [
      ["electricityKwh", "Electricity (kWh)"],
      ["gasKwh", "Natural gas (kWh)"],
    ],
  },
  {
    legend: ["Car", "Vehicles"],
    note: [
      "From the odometer: today’s reading minus the reading a year ago.",
      "All vehicles together, from the fleet’s records or fuel cards.",
    ],
    controls: [
      ["carKm", "Distance"],
      ["carUnit", "Unit"],
      ["carFuel", "Fuel"],
    ],
  },
  {
    legend: "Flights",
    note: [
      `From your calendar or your bookings. A return trip is one flight. ${SHORT_IS}`,
      `From your bookings, for all people together. A return trip is one flight for each person. ${SHORT_IS}`,
    ],
    controls: [
      ["shortFlights", "Short return flights"],
      ["longFlights", "Long return flights"],
    ],
  },
];

const FLIGHT_DETAILS: readonly Group[] = [
  {
    legend: "Short flights",
    note: "Flights of up to 500 km one way count as domestic.",
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
    note: [
      "In km a year: the distance of one trip, times the number of trips.",
      "In km a year, for all people together: the distance of one trip, times the number of trips.",
    ],
    controls: [
      ["railKm", "Train (km)"],
      ["coachKm", "Coach (km)"],
      ["busKm", "Local bus (km)"],
      ["taxiKm", "Taxi (km)"],
    ],
  },
  {
    legend: "Hotels",
    note: "We use the figure for your country.",
    controls: [["hotelNights", "Nights (count each room)"]],
  },
  {
    legend: "Other fuels",
    note: "In litres, from one year’s invoices.",
    controls: [
      ["heatingOilLitres", "Heating oil (litres)"],
      ["lpgLitres", "LPG (litres)"],
    ],
  },
];

function WordsFor({ words }: { words: Words }) {
  if (typeof words === "string") return words;
  return (
    <>
      <span className="for-household">{words[0]}</span> <span className="for-organisation">{words[1]}</span>
    </>
  );
}

interface EstimateProps {
  form: RefObject<HTMLFormElement | null>;
  formId: string;
  /** The heading of the form. */
  formTitleId: string;
  /** The page that explains the figures. */
  explanationPath: string;
  electricityUrl: string;
  price: Price | null;
  errors: FootprintErrors;
  onReady(component: typeof Report): void;
  onRead(reading: Reading | null): void;
  onContinue(): void;
  onRemove(): void;
}

/** The fields of the estimate, with the total beside them. */
export function Estimate(props: EstimateProps) {
  const { form, formId, formTitleId, explanationPath, electricityUrl, price, errors, ...on } = props;
  const [electricity, setElectricity] = useState<ElectricityTable | "failed" | null>(null);
  // The first rendering must match the HTML from the build.
  const [isHydrated, setHydrated] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  /** The field that the visitor is typing in; its value is not final. */
  const typing = useRef("");
  const read =
    form.current && typeof electricity === "object" && electricity ? readForm(form.current, electricity) : null;
  const shownErrors: FootprintErrors = {
    ...without(typing.current, read?.errors ?? {}),
    ...ofEstimate(errors),
  };
  const reading = read && { ...read, problems: problemsOf(shownErrors) };
  const announced = useLater(announcement(reading));

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
    // Parts that already contain input stay open.
    for (const fold of body.current?.querySelectorAll("details") ?? []) fold.open ||= isFilledIn(fold);
    return keepClear(body, bar, typing);
  }, []);
  useEffect(() => {
    on.onRead(reading);
    yieldBar(body.current, bar.current);
  });

  const group = ({ legend, note, controls }: Group) => {
    const noteId = `${controls[0]?.[0]}-note`;
    return (
      <fieldset
        key={noteId}
        className="footprint-group"
        data-columns={controls.length % 3 === 0 ? 3 : 2}
        aria-describedby={noteId}
      >
        <legend>
          <WordsFor words={legend} />
        </legend>
        <p className="footprint-note" id={noteId}>
          <WordsFor words={note} />
        </p>
        {/* Orca does not read a fieldset's description, so the first field refers to the note too. */}
        {controls.map(([field, label], index) => control(field, label, index === 0 ? noteId : undefined))}
      </fieldset>
    );
  };
  const control = (field: string, label: string, noteId?: string) => {
    const name = FIELD_PREFIX + field;
    const error = shownErrors[name as keyof FootprintErrors];
    const hint = error === undefined ? reading?.hints[name] : undefined;
    const options = optionsOf(field);
    return (
      <Frame key={name} name={name} label={label} error={error} hint={hint}>
        {options ? (
          <select {...controlProps(name, error, hint, noteId)} form={formId}>
            {options.map((option) => (
              <option key={option} value={option}>
                {field === "carUnit" ? optionLabel(option) : capitalised(optionLabel(option))}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...controlProps(name, error, hint, noteId)}
            form={formId}
            inputMode={field === "people" ? "numeric" : "decimal"}
            maxLength={40}
            defaultValue={DISTANCES[field as keyof typeof DISTANCES]?.usual}
          />
        )}
      </Frame>
    );
  };

  return (
    <div ref={body} className="footprint-body" id="footprint">
      {/* Shown while the result is out of view. Hidden from screen readers, because the result has the same text. */}
      <div ref={bar} className="footprint-bar" aria-hidden="true">
        {reading?.estimate && (
          <p>
            <span>Your estimate: </span>
            <b data-fact="total">{reading.total}</b>
          </p>
        )}
        {reading && reading.problems.length > 0 && <p className="footprint-problem">{leftOutText(reading)}</p>}
        {!reading?.estimate && !reading?.problems.length && <p>Your estimate appears here.</p>}
      </div>
      <div className="footprint-inputs">
        <div>
          <h3>About how much CO₂e do you emit in a year?</h3>
          <p>Enter what you know, and leave the rest empty. Nothing leaves this page until you press Submit.</p>
        </div>
        <fieldset className="footprint-group footprint-whom">
          <legend>Who is it for?</legend>
          {CHOICES.for.options.map((option, index) => (
            <label key={option} className="footprint-choice">
              <input
                type="radio"
                name={`${FIELD_PREFIX}for`}
                value={option}
                defaultChecked={index === 0}
                form={formId}
              />
              {option === "household" ? "Me or my household" : "My organisation"}
            </label>
          ))}
          {control("people", "Number of people (optional)")}
        </fieldset>
        <CountryChoice own={isHydrated ? countrySelect(form.current) : null} />
        <noscript>
          <p className="footprint-note">
            Electricity and hotels are counted with the figures for the country that you choose in the form below.
          </p>
        </noscript>
        {FIRST.map(group)}
        <details className="footprint-more">
          <summary>
            Flight distance and class{" "}
            <span className="footprint-note">{unbroken("default: 1,500 and 6,500 km, economy")}</span>
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
        <div className="footprint-panel">
          {reading ? (
            <Total reading={reading} price={price} />
          ) : (
            <p className="footprint-empty">{WITHOUT_FIGURES[electricity === "failed" ? "failed" : "plain"]}</p>
          )}
          <div className="footprint-actions">
            <a
              className={`button button-${reading?.estimate ? "primary" : "outline"}`}
              href={`#${formTitleId}`}
              onClick={(event) => {
                event.preventDefault();
                on.onContinue();
              }}
            >
              Continue to your message
            </a>
            {reading?.estimate && (
              <button type="button" className="text-button" onClick={on.onRemove}>
                Remove the estimate
              </button>
            )}
          </div>
          {reading && <Result reading={reading} />}
        </div>
      </div>
      <div className="footprint-about">
        {reading?.estimate && (
          <details className="footprint-sources">
            <summary>Factors and sources</summary>
            <Sources reading={reading} estimate={reading.estimate} />
          </details>
        )}
        <p className="footprint-limits">
          This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
          water, buildings and investments, so most people and companies emit more. Cutting comes before offsetting.
          Neither this estimate nor buying credits makes anyone carbon neutral.{" "}
          <a href={explanationPath}>How we estimate</a>
        </p>
      </div>
      {/* Orca reads all of it only with both attributes. */}
      <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
        {announced}
      </p>
    </div>
  );
}

const WITHOUT_FIGURES = {
  plain: "Your estimate is shown after you have sent the message.",
  failed:
    "The estimate cannot be shown at the moment. You can still send your message: we compute the estimate from what you entered.",
};

/** A second control for the form's country. It has no name, so the form sends one country. */
function CountryChoice({ own }: { own: HTMLSelectElement | null }) {
  return (
    <div className="field footprint-country">
      <label htmlFor="estimate-country">Your country</label>
      <select
        id="estimate-country"
        aria-describedby="estimate-country-hint"
        value={own?.value ?? ""}
        // Not `onChange`, which may fire after the estimate was rendered with the old country.
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
        We count electricity and hotels with the figures for this country. The form below shows the same country.
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

/** Whether the part contains input that the browser restored, or an error that must be visible. */
function isFilledIn(fold: HTMLElement): boolean {
  const controls = [...fold.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")];
  return controls.some((control) =>
    control instanceof HTMLSelectElement ? control.selectedIndex > 0 : control.value !== control.defaultValue,
  );
}

/** Records which field the visitor is typing in, and keeps the bar from covering it. */
function keepClear(
  body: RefObject<HTMLElement | null>,
  bar: RefObject<HTMLElement | null>,
  typing: RefObject<string>,
): () => void {
  const update = () => yieldBar(body.current, bar.current);
  const note = ({ type, target }: Event) => {
    const { id } = target as HTMLElement;
    if (type === "input") typing.current = id;
    // A message that appears on blur must not move the button away from the pointer; see the form's `onBlur`.
    else
      setTimeout(() => {
        if (typing.current === id) typing.current = "";
      }, PRESS_MS);
  };
  const events = ["focusin", "focusout", "scroll"];
  for (const type of events) document.addEventListener(type, update, { passive: true });
  addEventListener("resize", update);
  for (const type of ["input", "focusout"]) body.current?.addEventListener(type, note);
  return () => {
    for (const type of events) document.removeEventListener(type, update);
    removeEventListener("resize", update);
  };
}

/**
 * Hides the bar while the total is in view, and while the bar would cover the focused field. That happens after
 * scrolling, or when the visitor presses a field that is partly under the bar. For keyboard users,
 * `scroll-margin-block` in estimate.css keeps the field below the bar.
 */
function yieldBar(body: HTMLElement | null, bar: HTMLElement | null): void {
  const field = document.activeElement;
  if (!body || !bar || !field) return;
  const above = bar.getBoundingClientRect();
  const { top, bottom } = field.getBoundingClientRect();
  const isCovered = field.matches("input, select") && body.contains(field) && above.bottom > top && above.top < bottom;
  const total = body.querySelector(".footprint-total")?.getBoundingClientRect();
  const isTotalSeen = total !== undefined && total.top >= 0 && total.bottom <= innerHeight;
  bar.toggleAttribute("data-yields", isCovered || isTotalSeen);
  // A sticky panel taller than the screen would show its end only after the last field.
  const panel = body.querySelector<HTMLElement>(".footprint-panel");
  panel?.toggleAttribute("data-fits", panel.offsetHeight + 32 <= innerHeight);
}

function without(field: string, errors: FootprintErrors): FootprintErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => name !== field));
}

/** The errors of the estimate's fields, without those of the message's fields. */
function ofEstimate(errors: FootprintErrors): FootprintErrors {
  const own = Object.entries(errors).filter(([name, text]) => name.startsWith(FIELD_PREFIX) && text !== undefined);
  return Object.fromEntries(own);
}

/** What screen readers announce: which inputs are left out, and the total of the others. */
function announcement(reading: Reading | null): string {
  if (!reading) return "";
  const sentences = reading.problems.map(([, sentence]) => sentence);
  return [...sentences, ...(reading.estimate ? [`Your estimate: ${reading.total}`] : [])].join(" ");
}

/** "Not counted yet. Natural gas: Did you mean 11500 or 11.5?" */
function leftOutText({ problems }: Reading): string {
  return ["Not counted yet.", ...problems.map(([, sentence]) => sentence)].join(" ");
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the text once it has stopped changing. */
function useLater(text: string): string {
  const [later, setLater] = useState("");
  useEffect(() => {
    const timer = setTimeout(setLater, ANNOUNCE_AFTER_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}

/** The estimate from the inputs that are readable now. */
export interface Reading {
  /** By field name: how the page reads a number, where that is not obvious. */
  hints: Readonly<Record<string, string>>;
  errors: FootprintErrors;
  /** The errors on display, with their field names. The estimate leaves these inputs out. */
  problems: readonly (readonly [name: string, sentence: string])[];
  country: string;
  countryName: string;
  estimate: FootprintEstimate | null;
  /** As text; empty without an estimate. */
  total: string;
  /** "Flights, 55%"; empty if there are fewer than two parts. */
  largest: string;
  electricity: ElectricityTable;
}

async function loadElectricity(url: string): Promise<ElectricityTable> {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`The electricity table answered ${response.status}.`);
  return response.json();
}

function readForm(form: HTMLFormElement, electricity: ElectricityTable): Reading {
  const data = new FormData(form);
  const country = String(data.get("country") ?? "");
  const texts = [...data].filter(([name]) => name.startsWith(FIELD_PREFIX));
  const footprint = Object.fromEntries(texts.map(([name, text]) => [name.slice(FIELD_PREFIX.length), text]));
  // The option for "no country" has a text too.
  const countryName = (country && countrySelect(form)?.selectedOptions[0]?.text) ?? "";
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
  const inputs = parsed.ok ? parsed.inputs : parsed.rest;
  const estimate = inputs && estimateFootprint(inputs, country, electricity);
  const [first, second] = estimate ? categoriesOf(estimate) : [];
  const share = first && estimate ? Math.round((100 * first.kg) / estimate.totalKg) : 0;
  return {
    hints: inputs ? hintsOf(footprint, inputs) : {},
    errors,
    problems: problemsOf(errors),
    country,
    countryName,
    estimate,
    electricity,
    total: estimate ? formatTotal(estimate.totalKg) : "",
    largest: first && second && first.kg > 0 ? `${first.category}, ${share}%` : "",
  };
}

/** How the page reads amounts where that is not obvious, and why it doubts one. */
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
    if (isDomestic(inputs)) hints[distance] = "Counted as domestic flights: the class does not matter";
    if (inputs.shortFlightKm > SHORT_MAX_KM)
      hints[distance] = "Enter flights of more than 3,700 km one way as long flights.";
  }
  return hints;
}

/** The total, with its price and the inputs that it leaves out. */
export function Total({ reading, price }: { reading: Reading; price: Price | null }) {
  const { estimate, problems } = reading;
  const between = estimate ? rangeText(estimate) : "";
  const each = estimate ? eachText(estimate) : "";
  return (
    <>
      {estimate ? (
        <p className="footprint-total">
          Your estimate:{" "}
          <strong data-fact="total">
            {unbroken(formatAbout(estimate.totalKg))} <small>CO₂e a year</small>
          </strong>
        </p>
      ) : (
        problems.length === 0 && <p className="footprint-empty">Your estimate appears here as you type.</p>
      )}
      {each !== "" && (
        <p className="footprint-each">
          <b data-fact="mass">{each}</b>, for <span data-fact="whom">{describeWhom(estimate?.inputs ?? {})}</span>.
        </p>
      )}
      {problems.length > 0 && (
        <div className="footprint-problem">
          <p>Not counted yet:</p>
          <ul>
            {problems.map(([name, sentence]) => (
              <li key={name}>
                <a
                  href={`#${name}`}
                  onClick={(event) => {
                    event.preventDefault();
                    focusField(name);
                  }}
                >
                  {sentence}
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
      {estimate?.range && between !== "" && (
        <p className="footprint-range">
          <span data-fact="range">{capitalised(between)}</span>: {rangeCover(estimate.range)}.
        </p>
      )}
      {estimate && price && estimate.totalKg > 0 && (
        <p className="footprint-cost" data-fact="cost">
          {formatCost(estimate.totalKg, price)}
        </p>
      )}
    </>
  );
}

/** The parts of the total, and what would reduce them. */
export function Result({ reading }: { reading: Reading }) {
  const { estimate, country, electricity, largest } = reading;
  if (!estimate) return null;
  const categories = categoriesOf(estimate).filter(({ kg }) => kg > 0);
  const [first = { kg: 0 }] = categories;
  return (
    <>
      <PlaceNote reading={reading} estimate={estimate} />
      {categories.length > 0 && (
        <ul className="footprint-bars">
          {categories.map(({ category, kg }) => (
            <li key={category}>
              <span>{category}</span>{" "}
              <span className="footprint-kg" data-fact="mass">
                {formatMass(kg)}
              </span>
              <svg aria-hidden="true">
                <rect width={`${(100 * kg) / first.kg}%`} height="100%" rx="3" />
              </svg>
            </li>
          ))}
        </ul>
      )}
      {largest !== "" && (
        <p>
          The largest part: <b data-fact="largest">{largest}</b>. <span className="footprint-small">{ROUNDED}</span>
        </p>
      )}
      {adviceFor(estimate, country, electricity).map(({ less, lessKg, change }) => (
        <p key={less}>
          <b>{less}</b> would save{" "}
          <span className="nowrap" data-fact="mass">
            {unbroken(formatAbout(lessKg))}
          </span>{" "}
          a year
          {change && (
            <>
              ; {change.words} would save{" "}
              <span className="nowrap" data-fact="mass">
                {unbroken(formatAbout(change.kg))}
              </span>
            </>
          )}
          .
        </p>
      ))}
    </>
  );
}

interface ResultPartProps {
  reading: Reading;
  estimate: FootprintEstimate;
}

/** Says where an average is used instead of the visitor's country. */
function PlaceNote({ reading: { country, countryName }, estimate: { lines } }: ResultPartProps) {
  const averaged = lines.filter(({ place, quantity }) => place === null && quantity > 0).map(({ field }) => field);
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

export function Sources({ reading: { country, countryName, electricity }, estimate }: ResultPartProps) {
  const lines = explainLines(estimate, country, countryName, electricity);
  return (
    <>
      <ul>
        {lines.map((line) => (
          <li key={line.label}>
            <b>{line.label}</b>: <span data-fact="factor">{line.kgPerUnit}</span> kg CO₂e per {line.unit}, {line.where}.
          </li>
        ))}
        {sourcesOf(lines).map(({ source, link, counted }) => (
          <li key={source}>
            <a href={link}>{source}</a>. Counted: {counted}.
          </li>
        ))}
      </ul>
      <p>
        {lines.some(({ isFromGrid }) => isFromGrid) && `${LOCATION_BASED} `}Factor set: {estimate.factorSet}.
      </p>
    </>
  );
}

interface ReportProps {
  sent: SentEstimate;
  electricity: ElectricityTable;
  price: Price | null;
}

/** The report to print or save after sending. Without script, the server writes the same report into the page. */
export function Report({ sent, electricity, price }: ReportProps) {
  const html = reportHtml(sent, electricity, price);
  return (
    <section className="report" id={SENT_ESTIMATE_ID} tabIndex={-1} aria-labelledby="report-title report-total">
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own text, with all input escaped */}
      <div dangerouslySetInnerHTML={{ __html: html }} />
      <button type="button" className="button button-outline report-print" onClick={() => print()}>
        Print or save
      </button>
    </section>
  );
}
