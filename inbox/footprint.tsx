import { categoriesOf, describeInputs, estimateNotes, type FootprintEstimate } from "../contract/footprint.ts";
import { formatMass, formatTotal } from "../contract/footprint-fields.ts";
import { asSentence } from "../contract/visible-text.ts";

/** What the sender of a message estimated: the total, what makes it up, and what was entered. */
export function FootprintCard({ estimate }: { estimate: FootprintEstimate }) {
  const categories = categoriesOf(estimate);
  const highestKg = categories[0]?.kg || 1;
  return (
    <section className="card footprint-card" aria-labelledby="footprint-title">
      <h2 id="footprint-title">Footprint estimate</h2>
      <p className="footprint-total">{asSentence(formatTotal(estimate.totalKg))}</p>
      <ul className="footprint-bars">
        {categories.map(({ category, kg }) => (
          <li key={category}>
            <span>{category}</span> <span className="footprint-mass">{formatMass(kg)}</span>
            <svg className="footprint-bar" width="100%" height="10" aria-hidden="true">
              <rect className="chart-bar" width={`${(kg / highestKg) * 100}%`} height="10" rx="3" />
            </svg>
          </li>
        ))}
      </ul>
      <table className="footprint-inputs">
        <caption>What was entered, for a year</caption>
        <tbody>
          {describeInputs(estimate).map(({ label, value, kg }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{value}</td>
              <td>{formatMass(kg)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {estimateNotes(estimate).map((note) => (
        <p key={note} className="footprint-note">
          {note}
        </p>
      ))}
    </section>
  );
}
