/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** Stands for grams until the build has weighed the page; development shows it as it is. */
export const UNWEIGHED = "#.###";

/** What a first view of the page emits. The film's script shows the lower figure to visitors who turned the film off. */
export function CarbonFigure({ hasFilm }: { hasFilm: boolean }) {
  const attributes = hasFilm && { id: "page-grams", "data-without-film": UNWEIGHED };
  return (
    <p>
      First view: about{" "}
      <span data-fact="grams" {...attributes}>
        {UNWEIGHED}
      </span>{" "}
      g CO₂e (model). <a href={CARBON_PATH}>How we count</a>
    </p>
  );
}
