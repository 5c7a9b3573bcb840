/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** Stand for the figures until the build has weighed the page. The development server shows them as they are. */
export const UNWEIGHED = { grams: "#.###", distance: "# cm", segment: "M0 4h0" } as const;

/** The length of the ruler. */
export const RULER_CM = 50;

const TICKS = Array.from({ length: RULER_CM + 1 }, (_, cm) => `M${cm} 8v${cm % 10 === 0 ? 8 : 4}`).join("");
const LABELS = [0, 10, 20, 30, 40, RULER_CM];

/**
 * What a first view of the page emits at most, as the distance that a petrol car drives for the same grams, and to scale
 * on a ruler. On phones it is less, because they fetch a smaller film. Screen readers read the sentence.
 */
export function CarbonFigure() {
  return (
    <div className="ruler">
      <p className="ruler-figure">
        <b>{UNWEIGHED.distance}</b>{" "}
        <span>
          by petrol car: about what loading this page emits at most (<span data-fact="grams">{UNWEIGHED.grams}</span> g
          CO₂e, model). <a href={CARBON_PATH}>How we count</a>
        </span>
      </p>
      <svg className="ruler-scale" width="100%" height="40" aria-hidden="true">
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the image around it is hidden from screen readers */}
        <svg viewBox={`0 0 ${RULER_CM} 16`} width="100%" height="16" preserveAspectRatio="none">
          <path d={`M0 8h${RULER_CM}${TICKS}`} />
          <path className="ruler-segment" d={UNWEIGHED.segment} />
        </svg>
        {LABELS.map((cm) => (
          <text key={cm} x={`${(100 * cm) / RULER_CM}%`} y="32">
            {cm === RULER_CM ? `${cm} cm` : cm}
          </text>
        ))}
      </svg>
    </div>
  );
}
