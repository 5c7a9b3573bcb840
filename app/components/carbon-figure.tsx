import { VIEWS } from "../screen.ts";

/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** Stands for the grams until the build has weighed the page. The development server shows it as it is. */
export const UNWEIGHED = "#.###";

/**
 * What a first view of the page emits. If that depends on the screen size, the page has one figure per size, and CSS
 * shows the right one. While the film is not fetched, the film's script shows the lower figures.
 */
export function CarbonFigure({ hasViews }: { hasViews: boolean }) {
  return (
    <p>
      First view: about{" "}
      <span data-fact="grams">
        {hasViews
          ? VIEWS.map((view) => (
              <span key={view} className={`view-${view}`} data-without-film={UNWEIGHED} data-with-film={UNWEIGHED}>
                {UNWEIGHED}
              </span>
            ))
          : UNWEIGHED}
      </span>{" "}
      g CO₂e (model). <a href={CARBON_PATH}>How we count</a>
    </p>
  );
}
