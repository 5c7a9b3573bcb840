/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** Stands for the grams until the build has weighed the page. The development server shows it as it is. */
export const UNWEIGHED = "#.###";

/** What a first view of the page emits at most: on phones it is less, because they fetch a smaller film. */
export function CarbonFigure() {
  return (
    <p>
      First view: at most about <span data-fact="grams">{UNWEIGHED}</span> g CO₂e (model).{" "}
      <a href={CARBON_PATH}>How we count</a>
    </p>
  );
}
