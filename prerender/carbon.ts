import { co2 } from "@tgwf/co2";
import type { Footprint } from "../app/render-context.ts";
import { type FetchedFile, totalBytes } from "./page-weight.ts";

/** One page's line of `carbon.json`. */
export interface PageCarbon extends Footprint {
  page: string;
  bytes: number;
  rating: string;
  files: readonly FetchedFile[];
}

const MODEL = new co2({ model: "swd", version: 4, rating: true });

/** Grams of a first view by the model that docs/carbon.md explains. */
export function carbonOf(page: string, files: readonly FetchedFile[]): PageCarbon {
  const bytes = totalBytes(files);
  const { total: grams, rating } = MODEL.perVisit(bytes);
  const gramsWithoutFilm = MODEL.perVisit(totalBytes(files.filter(({ kind }) => kind !== "film"))).total;
  return { page, bytes, grams, gramsWithoutFilm, rating, files };
}

/** One sentence for each page that is heavier than this site allows itself. */
export function pagesTooHeavy(pages: readonly PageCarbon[]): string[] {
  return pages.flatMap(({ page, grams, rating, files }) => {
    const hasFilm = files.some(({ kind }) => kind === "film");
    if (rating === "A+" || (hasFilm && rating === "A")) return [];
    const limit = hasFilm ? "A, 0.079 g" : "A+, 0.040 g";
    const heaviest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
    return `${page} emits ${grams.toFixed(3)} g CO2e a view (rating ${rating}), and may emit at most ${limit}. Its heaviest files: ${heaviest
      .map(({ url, bytes }) => `${url} ${Math.round(bytes / 1000)} KB`)
      .join(", ")}.`;
  });
}

export function carbonJson(pages: readonly PageCarbon[]): string {
  const rounded = pages.map(({ page, bytes, grams, gramsWithoutFilm, rating }) => ({
    page,
    bytes,
    grams: round(grams),
    ...(gramsWithoutFilm !== grams && { gramsWithoutFilm: round(gramsWithoutFilm) }),
    rating,
  }));
  const model = "Sustainable Web Design 4, first visit, average grid intensity of the world (494 g CO2e per kWh)";
  return `${JSON.stringify({ model, unit: "grams CO2e per view", pages: rounded }, null, 2)}\n`;
}

/** carbon.txt, syntax 0.5: where programs look for what a company discloses. */
export function carbonText(siteUrl: string, explanationPath: string, builtAt: Date): string {
  const domain = new URL(siteUrl).hostname;
  const disclosure = (docType: string, path: string, title: string) =>
    `  { doc_type = "${docType}", url = "${siteUrl}${path}", domain = "${domain}", title = "${title}" },`;
  return [
    'version = "0.5"',
    `last_updated = "${builtAt.toISOString().slice(0, 10)}"`,
    "",
    "[org]",
    "disclosures = [",
    disclosure("web-page", explanationPath, "How the carbon of this site is counted"),
    disclosure("other", "/carbon.json", "Grams of CO2e for each page, as data"),
    "]",
    "",
    "[upstream]",
    "services = []",
    "",
  ].join("\n");
}

function round(grams: number): number {
  return Number(grams.toFixed(4));
}
