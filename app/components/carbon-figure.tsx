import { VIEWS } from "../screen.ts";

/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** A placeholder for the grams until the build has weighed the page; the development server shows the placeholder. */
export const UNWEIGHED = "#.###";

/**
 * What a first view of the page emits. Where it depends on the screen, there is a figure for each, and styles show one.
 * The film's script shows the lower ones while the film is not fetched.
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
