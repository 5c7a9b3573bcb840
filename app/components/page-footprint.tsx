import { CARBON_PATH } from "../carbon-path.ts";
import type { Footprint } from "../render-context.ts";

/** The film's script shows the lower figure while its visitor does without the film. */
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
