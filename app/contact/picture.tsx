import { categoriesOf, type FootprintEstimate } from "../../contract/footprint/arithmetic.ts";
import { AMOUNTS, formatMass, unbroken } from "../../contract/footprint/fields.ts";

const CATEGORIES = [...new Set(Object.values(AMOUNTS).map(({ category }) => category))];

/** In a narrow picture, more names than this stand in two rows. */
const MAX_IN_ROW = 4;
const COLUMN_PX = 160;
const ABOVE_PX = 24;
/** The lower end of a column is outside of the picture, so only its top is round. */
const BELOW_PX = 12;

interface PictureProps {
  estimate: FootprintEstimate | null;
  /** The columns of a final estimate do not change, so empty ones need no place. */
  isFinal: boolean;
}

export function Picture({ estimate, isFinal }: PictureProps) {
  const parts = estimate ? categoriesOf(estimate).filter(({ kg }) => kg > 0) : [];
  const [largest] = parts;
  const shown = CATEGORIES.filter((category) => !isFinal || parts.some((part) => part.category === category));
  const width = 100 / Math.max(shown.length, MAX_IN_ROW);
  return (
    <div className="picture">
      <svg className="columns" height={ABOVE_PX + COLUMN_PX} aria-hidden="true">
        {shown.map((category, index) => {
          const kg = parts.find((part) => part.category === category)?.kg ?? 0;
          const share = largest ? Math.max(kg / largest.kg, kg > 0 ? 0.025 : 0) : 0;
          const px = Math.round(share * COLUMN_PX);
          const top = ABOVE_PX + COLUMN_PX - px;
          const isLargest = category === largest?.category;
          const height = px === 0 ? 0 : px + BELOW_PX;
          return (
            <svg key={category} aria-hidden="true" x={`${index * width}%`} width={`${width}%`} overflow="visible">
              <rect
                className={isLargest ? "column column-largest" : "column"}
                x="12%"
                y={top}
                width="76%"
                height={height}
                rx="8"
              />
              {isLargest && <rect className="column-fifth" x="12%" y={top} width="76%" height={px / 5} rx="8" />}
              {kg > 0 && (
                <text x="50%" y={top - 7} textAnchor="middle">
                  {formatMass(kg)}
                </text>
              )}
            </svg>
          );
        })}
      </svg>
      <ol
        className={shown.length > MAX_IN_ROW ? "picture-names picture-names-many" : "picture-names"}
        aria-hidden="true"
      >
        {shown.map((category) => (
          <li key={category}>{category}</li>
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
      <p className="picture-fifth">
        {largest && (
          <span>
            <svg aria-hidden="true" width="24" height="16">
              <rect x="1" y="1" width="22" height="24" rx="4" />
            </svg>{" "}
            {largest.category} cut by a fifth: <span data-fact="mass">{unbroken(formatMass(largest.kg / 5))}</span> less
          </span>
        )}
      </p>
    </div>
  );
}
