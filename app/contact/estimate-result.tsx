// The arithmetic, the factors and the result: everything that is loaded only when the visitor opens the estimate.
import { countryName } from "../../contract/country-name.ts";
import { categoriesOf, type ElectricityTable, type FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { FIELD_PREFIX, formatAbout, formatMass, unbroken } from "../../contract/footprint/fields.ts";
import { reportHtml, sourcesHtml } from "../../contract/footprint/report.ts";
import {
  adviceFor,
  averagesText,
  CREDITS_NOTE,
  describeWhom,
  eachText,
  explainLines,
  formatCost,
  type Price,
  ROUNDED,
  rangeCover,
  rangeText,
} from "../../contract/footprint/words.ts";
import { capitalised } from "../../contract/visible-text.ts";
import resultStyles from "../styles/estimate-result.css?inline";
import { NEXT_ID, TextButton } from "./field.tsx";
import type { Result } from "./footprint-part.tsx";
import type { Act, SentReport, Values } from "./form-state.ts";
import { type Reading, readEstimate } from "./reading.ts";

if (typeof document !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(resultStyles);
  document.adoptedStyleSheets.push(sheet);
}

/** The functions that need the electricity figures. */
export function createEstimator(electricity: ElectricityTable) {
  const read = (values: Values) => readEstimate(values, electricity);
  return {
    read,
    show({ estimate, country, largest }: Reading, price: Price | null, example: string, act: Act): Result {
      if (!estimate) return { total: <Invitation example={example} act={act} /> };
      const shown = { estimate, country, largest, electricity, price, example, act };
      return { total: <Total {...shown} />, details: <Details {...shown} />, sources: <Sources {...shown} /> };
    },
    /** The report of an estimate that was sent from this page. Without script, the server writes the same report. */
    report({ values, reference, date }: SentReport, price: Price | null): string {
      const { estimate, country } = read(values);
      if (!estimate) return "";
      const sent = { inputs: estimate.inputs, country, countryName: countryName(country), reference, date };
      return reportHtml(sent, electricity, price);
    },
  };
}

/** Round figures that we chose, for visitors who want to see a result first. In the usual units. */
const EXAMPLES = [
  ["flat for two", "household", "2", "1800", "7500", "5000", "2", ""],
  ["office of 40", "organisation", "40", "80000", "60000", "20000", "40", "8"],
  ["student", "household", "1", "900", "3000", "", "1", ""],
] as const;
const EXAMPLE_FIELDS = ["for", "people", "electricityKwh", "gasKwh", "carKm", "shortFlights", "longFlights"];

interface ExampleProps {
  /** The name of the example that the amounts are from, or empty. */
  example: string;
  act: Act;
}

/** The examples that are not shown. */
function Examples({ title, example, act }: ExampleProps & { title: string }) {
  const choose = (name: string, texts: readonly string[]) => {
    const figures = Object.fromEntries(texts.map((text, index) => [FIELD_PREFIX + EXAMPLE_FIELDS[index], text]));
    act({ type: "exampled", name, figures }, NEXT_ID);
  };
  return (
    <div className="footprint-examples">
      <p className="footprint-empty">{title}</p>
      {EXAMPLES.filter(([name]) => name !== example).map(([name, ...texts]) => (
        <TextButton key={name} onClick={() => choose(name, texts)}>
          {capitalised(name)}
        </TextButton>
      ))}
    </div>
  );
}

/** Where the columns of an empty result start, in percent of its height. */
const GHOST_COLUMNS = [60, 35, 15, 70, 0, 50];

/** Shown without amounts. The lower ends of the columns are outside of the picture, so only the tops are round. */
function Invitation(props: ExampleProps) {
  return (
    <>
      <svg className="footprint-ghost" aria-hidden="true">
        {GHOST_COLUMNS.map((top, index) => (
          <rect key={top} x={`${(index * 100) / 6}%`} y={`${top}%`} width="15.6%" height="200%" rx="8" />
        ))}
      </svg>
      <p className="footprint-empty">Your estimate appears here as you type.</p>
      <Examples title="Or see an example:" {...props} />
    </>
  );
}

interface ShownEstimate extends Pick<Reading, "country" | "largest">, ExampleProps {
  estimate: FootprintEstimate;
  electricity: ElectricityTable;
  price: Price | null;
}

/** The number and its parts, which stay in view beside the fields. */
function Total({ estimate, example, act }: ShownEstimate) {
  const each = eachText(estimate);
  const categories = categoriesOf(estimate).filter(({ kg }) => kg > 0);
  const [first = { kg: 0 }] = categories;
  return (
    <>
      <p className="footprint-total">
        <span>{example === "" ? "Your estimate:" : `Example: ${example}`}</span>{" "}
        <strong data-fact="total">
          <span>{unbroken(formatAbout(estimate.totalKg))}</span> <small>CO₂e a year</small>
        </strong>
      </p>
      {each !== "" && (
        <p className="footprint-each">
          <b data-fact="mass">{each}</b>, for <span data-fact="whom">{describeWhom(estimate.inputs)}</span>.
        </p>
      )}
      {example !== "" && (
        <p>These are not your figures. They are not sent unless you change a number or press “Use this”.</p>
      )}
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
      {example !== "" && <Examples title="Other examples:" example={example} act={act} />}
    </>
  );
}

/** The range, the price, and what would reduce the total. */
function Details(shown: ShownEstimate) {
  const { estimate, largest, country, electricity, price } = shown;
  const between = rangeText(estimate);
  return (
    <div className="footprint-details">
      {estimate.range && between !== "" && (
        <p className="footprint-range">
          <span data-fact="range">{capitalised(between)}</span>: <span>{rangeCover(estimate.range)}</span>.
        </p>
      )}
      {price && estimate.totalKg > 0 && (
        <p className="footprint-cost">
          Credits for <span data-fact="mass">{formatMass(estimate.totalKg)}</span> cost{" "}
          <b data-fact="cost">{formatCost(estimate.totalKg, price)}</b>. {CREDITS_NOTE}
        </p>
      )}
      <PlaceNote {...shown} />
      {largest !== "" && (
        <p>
          The largest part: <b data-fact="largest">{largest}</b>. <span className="footprint-small">{ROUNDED}</span>
        </p>
      )}
      {adviceFor(estimate, country, electricity).map(({ less, lessKg, change }) => (
        <p key={less}>
          <span>
            <b>{less}</b> would save{" "}
            <span className="nowrap" data-fact="mass">
              {unbroken(formatAbout(lessKg))}
            </span>{" "}
            a year
          </span>
          {change && (
            <span>
              ; <span>{change.words}</span> would save{" "}
              <span className="nowrap" data-fact="mass">
                {unbroken(formatAbout(change.kg))}
              </span>
            </span>
          )}
          <span>.</span>
        </p>
      ))}
    </div>
  );
}

/** Says where an average is used instead of the visitor's country. */
function PlaceNote({ country, estimate }: ShownEstimate) {
  const averages = averagesText(estimate);
  if (averages === "") return null;
  return (
    <p className="footprint-place">
      <span>{`Computed with ${averages}:`}</span>{" "}
      {/* With keys, because React cannot change the texts of one into those of the other on a translated page. */}
      {country === "" ? (
        <span key="choose">
          choose <a href="#estimate-country">your country</a> for its own figures.
        </span>
      ) : (
        <span key="none">{`there are no figures for ${countryName(country)}.`}</span>
      )}
    </p>
  );
}

function Sources({ country, electricity, estimate }: ShownEstimate) {
  const lines = explainLines(estimate, country, countryName(country), electricity);
  return (
    <details className="footprint-sources">
      <summary>Factors and sources</summary>
      <ul>
        {lines.map((line) => (
          <li key={line.label}>
            <b>{line.label}</b>: <span data-fact="factor">{line.kgPerUnit}</span>{" "}
            <span>{`kg CO₂e per ${line.unit}, ${line.where}.`}</span>
          </li>
        ))}
      </ul>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own text */}
      <div dangerouslySetInnerHTML={{ __html: sourcesHtml(lines, estimate.factorSet) }} />
    </details>
  );
}
