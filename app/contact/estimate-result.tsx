// The arithmetic, the factors and the result: everything that is loaded only when the visitor opens the estimate.
import { countryName } from "../../contract/contact-message.ts";
import {
  categoriesOf,
  type ElectricityTable,
  estimateFootprint,
  type FootprintEstimate,
} from "../../contract/footprint/arithmetic.ts";
import {
  AMOUNTS,
  type Category,
  formatAbout,
  formatMass,
  formatTotal,
  unbroken,
} from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import {
  CREDITS_NOTE,
  eachText,
  formatCost,
  hintsOf,
  type Price,
  placeText,
  rangeCover,
  rangeText,
} from "../../contract/footprint/words.ts";
import resultStyles from "../styles/estimate-result.css?inline";
import type { Values } from "./form-state.ts";
import type { Reading } from "./form-view.ts";

if (typeof document !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(resultStyles);
  document.adoptedStyleSheets.push(sheet);
}

/** The estimate from the amounts that are readable now, and what to say beside the fields. */
export function readEstimate(values: Values, electricity: ElectricityTable): Reading {
  const parsed = parseFootprint(values);
  const inputs = parsed.ok ? parsed.inputs : parsed.rest;
  // Why an amount cannot be read. The estimate leaves it out.
  const errors = parsed.ok ? {} : parsed.fields;
  if (!inputs) return { estimate: null, total: "", errors, hints: {} };
  const estimate = estimateFootprint(inputs, values.country, electricity);
  return { estimate, total: formatTotal(estimate.totalKg), errors, hints: hintsOf(inputs, values) };
}

interface ResultProps {
  /** Null before any amount: then the columns are grey, and there is no total. */
  estimate: FootprintEstimate | null;
  title: string;
  /** How many amounts cannot be read. */
  problems?: number;
}

/** The picture, and the total below it. The receipt shows the same. */
export function Result({ estimate, title, problems = 0 }: ResultProps) {
  const between = estimate && rangeText(estimate);
  const each = estimate && eachText(estimate);
  const total = estimate ? unbroken(formatAbout(estimate.totalKg)) : "–";
  const digits = total.search(/\d|$/);
  return (
    <>
      <Picture estimate={estimate} />
      <p className="footprint-total">
        <span className="result-title">{title}</span>{" "}
        <strong data-fact="total" aria-hidden={estimate === null}>
          <small>{total.slice(0, digits)}</small>
          <span>{total.slice(digits)}</span> {estimate && <small>CO₂e a year</small>}
        </strong>
      </p>
      <p className="result-range">
        {between && <span data-fact="range">{between}</span>} {each && <span data-fact="mass">{each}</span>}{" "}
        {problems > 0 && (
          <span className="result-problems" data-fact="problems">
            {problems === 1 ? "1 amount needs a correction" : `${problems} amounts need a correction`}
          </span>
        )}
      </p>
    </>
  );
}

interface NotesProps {
  estimate: FootprintEstimate | null;
  /** A two-letter code, or empty. */
  country: string;
  price: Price | null;
  /** A receipt is final: without the link to the country. */
  isFinal?: boolean;
}

/** Where the figures are from, what the range covers, and the price. */
export function Notes({ estimate, country, price, isFinal }: NotesProps) {
  if (!estimate) return null;
  const place = placeText(estimate, countryName(country));
  const isWorld = estimate.lines.some((line) => line.place === null);
  return (
    <>
      {place && (
        <p>
          <span>{`${place}.`}</span>{" "}
          {isWorld && country === "" && !isFinal && <a href="#country">Choose your country</a>}
        </p>
      )}
      {estimate.range && rangeText(estimate) !== "" && (
        <p>
          The range: <span>{rangeCover(estimate.range)}</span>.
        </p>
      )}
      {price && estimate.totalKg > 0 && (
        <p>
          Credits for <span data-fact="mass">{formatMass(estimate.totalKg)}</span> cost{" "}
          <b data-fact="cost">{formatCost(estimate.totalKg, price)}</b>. {CREDITS_NOTE}
        </p>
      )}
    </>
  );
}

const CATEGORIES = [...new Set(Object.values(AMOUNTS).map(({ category }) => category))];
const SHORT_NAMES: Partial<Record<Category, string>> = { "Public transport and taxi": "Transport" };

const COLUMN_PX = 160;
/** Room for the figure above the largest column. */
const ABOVE_PX = 24;
/** The heights of the columns without an estimate. */
const GREY_PX = [56, 88, 112, 32, 160, 48];
/** The lower end of a column is outside of the picture, so only its top is round. */
const BELOW_PX = 12;

/** A column for each part of the estimate, always in the same place. */
function Picture({ estimate }: Pick<ResultProps, "estimate">) {
  const parts = estimate ? categoriesOf(estimate).filter(({ kg }) => kg > 0) : [];
  const [largest] = parts;
  const width = 100 / CATEGORIES.length;
  return (
    <div className="picture">
      <p className="picture-fifth">
        {largest && (
          <span>
            <svg aria-hidden="true" width="24" height="16">
              <rect x="1" y="1" width="22" height="24" rx="4" />
            </svg>{" "}
            a fifth less: <span data-fact="mass">{unbroken(`−${formatMass(largest.kg / 5)}`)}</span>
          </span>
        )}
      </p>
      <svg className="columns" height={ABOVE_PX + COLUMN_PX} aria-hidden="true">
        {CATEGORIES.map((category, index) => {
          const kg = parts.find((part) => part.category === category)?.kg ?? 0;
          const share = largest ? Math.max(kg / largest.kg, kg > 0 ? 0.025 : 0) : 0;
          const px = estimate ? Math.round(share * COLUMN_PX) : (GREY_PX[index] ?? 0);
          const top = ABOVE_PX + COLUMN_PX - px;
          const isLargest = category === largest?.category;
          const height = px === 0 ? 0 : px + BELOW_PX;
          return (
            <svg key={category} aria-hidden="true" x={`${index * width}%`} width={`${width}%`} overflow="visible">
              {isLargest && (
                <rect
                  className="column-fifth"
                  x="3%"
                  y={ABOVE_PX + COLUMN_PX / 5}
                  width="94%"
                  height={COLUMN_PX}
                  rx="10"
                />
              )}
              <rect
                className={isLargest ? "column column-largest" : estimate ? "column" : "column column-grey"}
                x="12%"
                y={top}
                width="76%"
                height={height}
                rx="8"
              />
              {kg > 0 && (
                <text x="50%" y={top - 7} textAnchor="middle">
                  {formatMass(kg)}
                </text>
              )}
            </svg>
          );
        })}
      </svg>
      <ol className="picture-names" aria-hidden="true">
        {CATEGORIES.map((category) => (
          <li key={category}>{SHORT_NAMES[category] ?? category}</li>
        ))}
      </ol>
      {largest && (
        <div className="visually-hidden">
          <table>
            <caption>The parts of the estimate, the largest first</caption>
            <tbody>
              {parts.map(({ category, kg }) => (
                <tr key={category}>
                  <th scope="row">{category}</th>
                  <td>{formatMass(kg)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

/** "Your estimate:" or "Example: student". */
export function titleOfResult(estimate: FootprintEstimate | null, example: string): string {
  if (example !== "") return `Example: ${example}`;
  return estimate ? "Your estimate:" : "Your estimate appears here as you type.";
}
