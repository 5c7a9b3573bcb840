// The arithmetic, the factors and the result: everything that is loaded only when the visitor opens the estimate.
import { estimateFootprint, type FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { type EstimateName, formatAbout, formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import { parseFootprint } from "../../contract/footprint/parsing.ts";
import { eachText, hintsOf, type Price, rangeText, resultNotes } from "../../contract/footprint/words.ts";
import { capitalised } from "../../contract/text.ts";
import resultStyles from "../styles/estimate-result.css?inline";
import { EstimateRuler } from "./estimate-ruler.tsx";
import { NEXT_ID, TextButton } from "./field.tsx";
import { type Act, type ExampleName, type Name, START_VALUES, type Values } from "./form-state.ts";
import { Picture } from "./picture.tsx";

if (typeof document !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(resultStyles);
  document.adoptedStyleSheets.push(sheet);
}

export { EstimateRuler };

/** The estimate is null without a readable amount. `hints` say how the page reads a number. */
export function readEstimate(own: Values, example: ExampleName | "" = "") {
  const values = example === "" ? own : { ...START_VALUES, ...EXAMPLES[example], country: own.country };
  // The estimate leaves out what cannot be read.
  const { inputs, errors } = parseFootprint(values);
  const estimate = inputs && estimateFootprint(inputs, values.country);
  const total = estimate ? formatTotal(estimate.totalKg) : "";
  const hints: Partial<Record<Name, string>> = inputs ? hintsOf(inputs, values) : {};
  return { estimate, total, errors, hints };
}

interface ResultProps {
  /** Null before any amount: then the picture is an empty baseline. */
  estimate: FootprintEstimate | null;
  example?: ExampleName | "";
  isFinal?: boolean;
}

export function Result({ estimate, example = "", isFinal = false }: ResultProps) {
  const between = estimate && rangeText(estimate);
  const each = estimate && eachText(estimate);
  const total = estimate ? unbroken(formatAbout(estimate.totalKg)) : "–";
  const digits = total.search(/\d|$/);
  const own = estimate ? "Your estimate:" : "Your estimate appears here as you type.";
  return (
    <>
      <Picture estimate={estimate} isFinal={isFinal} />
      <p className="footprint-total">
        <span className="result-title">{example === "" ? own : `Example: ${example}`}</span>{" "}
        <strong data-fact="total" aria-hidden={estimate === null}>
          <small>{total.slice(0, digits)}</small>
          <span>{total.slice(digits)}</span> {estimate && <small>CO₂e a year</small>}
        </strong>
      </p>
      <p className="result-range">
        {between && <span data-fact="range">{between}</span>} {each && <span data-fact="mass">{each}</span>}
      </p>
      <EstimateRuler estimate={estimate} isFinal={isFinal} />
    </>
  );
}

interface EstimateProps {
  estimate: FootprintEstimate;
  price: Price | null;
}

export function SentEstimate(props: EstimateProps) {
  return (
    <div className="receipt-estimate">
      <Result estimate={props.estimate} isFinal />
      <Notes {...props} />
    </div>
  );
}

export function Notes({ estimate, price }: EstimateProps) {
  return resultNotes(estimate, price).map((note) => <p key={note}>{note}</p>);
}

type Figures = Readonly<Partial<Record<EstimateName, string>>>;

/** Round figures that we chose, for visitors who want to see a result first. In the usual units. */
const EXAMPLES: Readonly<Record<ExampleName, Figures>> = {
  "flat for two": {
    "footprint.people": "2",
    "footprint.electricityKwh": "1800",
    "footprint.gasKwh": "7500",
    "footprint.carKm": "5000",
    "footprint.shortFlights": "2",
  },
  "office of 40": {
    "footprint.for": "organisation",
    "footprint.people": "40",
    "footprint.electricityKwh": "80000",
    "footprint.gasKwh": "60000",
    "footprint.carKm": "20000",
    "footprint.shortFlights": "40",
    "footprint.longFlights": "8",
  },
};

const UNIT_OF: Readonly<Partial<Record<EstimateName, EstimateName>>> = {
  "footprint.electricityKwh": "footprint.electricityPer",
  "footprint.gasKwh": "footprint.gasPer",
  "footprint.carKm": "footprint.carUnit",
};

export function figuresToStartFrom(name: ExampleName, values: Values): Partial<Values> {
  const filled = (Object.entries(EXAMPLES[name]) as [EstimateName, string][]).filter(
    ([field]) => values[field] === START_VALUES[field],
  );
  const units = filled.flatMap(([field]) => UNIT_OF[field] ?? []);
  return Object.fromEntries([...filled, ...units.map((field) => [field, START_VALUES[field]])]);
}

/** A preview: the result shows the chosen example, and the fields stay as they are. */
export function Examples({ example, values, act }: { example: ExampleName | ""; values: Values; act: Act }) {
  return (
    <>
      <p>See an example:</p>
      {(Object.keys(EXAMPLES) as ExampleName[]).map((name) => (
        <button
          key={name}
          type="button"
          className="example"
          aria-pressed={example === name}
          onClick={() => act({ type: "exampled", name: example === name ? "" : name })}
        >
          {capitalised(name)}
        </button>
      ))}
      {example !== "" && (
        <>
          <p>These are not your figures, and they are not sent.</p>
          <TextButton onClick={() => act({ type: "filled", values: figuresToStartFrom(example, values) }, NEXT_ID)}>
            Start from these figures
          </TextButton>
        </>
      )}
    </>
  );
}
