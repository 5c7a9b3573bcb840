/** What a first view of a page emits, by the model that docs/carbon.md explains. */
export interface Footprint {
  grams: number;
  /** For a visitor who turned the film off; the same as `grams` on a page without a film. */
  gramsWithoutFilm: number;
}

/** The page that explains the figure: under /assets/, because every other path belongs to the site's own pages. */
export const CARBON_PATH = "/assets/carbon";

/** The film's script shows the lower figure to visitors who turned the film off. */
export function PageFootprint({ footprint: { grams, gramsWithoutFilm } }: { footprint: Footprint }) {
  return (
    <p className="footer-footprint">
      This page: <span {...(gramsWithoutFilm !== grams && withoutFilm(gramsWithoutFilm))}>{shown(grams)}</span> g CO2e
      per view. <a href={CARBON_PATH}>How we count</a>
    </p>
  );
}

function withoutFilm(grams: number) {
  return { id: "page-grams", "data-without-film": shown(grams) };
}

function shown(grams: number): string {
  return grams.toFixed(3);
}
