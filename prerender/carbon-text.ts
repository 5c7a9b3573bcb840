import { CARBON_PATH } from "../app/components/carbon-figure.tsx";
import type { RenderedPage } from "../app/render.tsx";
import { escapeHtml } from "../contract/visible-text.ts";
import type { PageCarbon } from "./carbon.ts";
import { brotliSize, isCompressible } from "./compress.ts";
import { type NamedWeight, weightChart } from "./weight-chart.tsx";

/** Files that the contact page fetches only when the visitor opens the estimate. */
const ESTIMATE_FILE = /^\/assets\/(electricity|estimate-result)-/;

/** Replaces the placeholders in the page about the site's carbon with the figures of this build. */
export async function fillCarbonText(
  pages: readonly RenderedPage[],
  carbon: readonly PageCarbon[],
  files: ReadonlyMap<string, Buffer>,
): Promise<RenderedPage[]> {
  const sizeOf = (url = "") => files.get(url)?.length ?? 0;
  const films = pages.flatMap(({ fetches }) => fetches.filter(({ kind }) => kind === "film"));
  const lastFormats = films.map(({ urls }) => sizeOf(urls.at(-1)));
  const estimate = [...files].filter(([url]) => ESTIMATE_FILE.test(url) && isCompressible(url));
  const extraEstimate = await Promise.all(estimate.map(([, content]) => brotliSize(content)));
  const weights = namedWeights(pages, carbon);
  const home = carbon.filter(({ page }) => page === "/");
  const figures: Readonly<Record<string, string>> = {
    chart: weightChart(weights),
    homeStillGrams: rangeOf(home.map(({ gramsWithoutFilm }) => gramsWithoutFilm)),
    filmKilobytes: kilobytes(Math.max(0, ...lastFormats)),
    estimateKilobytes: kilobytes(extraEstimate.reduce((sum, bytes) => sum + bytes, 0)),
  };
  const fill = (html: string) =>
    html.replace(FIGURES_ROW, figuresRows(weights)).replaceAll(/\{(\w+)\}/g, (name, key) => figures[key] || name);
  return pages.map((page) => (page.name === CARBON_PATH ? { ...page, html: fill(page.html) } : page));
}

const SCREENS = { phone: "phones", between: "most other screens", large: "1600 px and wider" };
/** Pages that are called otherwise than by their heading. */
const PAGE_NAMES = new Map([
  ["/", "Home"],
  ["/contact", "Contact"],
  ["coming-soon", "Coming Soon"],
  ["error", "Error page"],
]);

/** The heaviest first. */
function namedWeights(pages: readonly RenderedPage[], carbon: readonly PageCarbon[]): NamedWeight[] {
  const headings = new Map(pages.map(({ name, socialCard }) => [name, socialCard?.headline]));
  const nameOf = (page: string) => PAGE_NAMES.get(page) ?? headings.get(page) ?? page;
  return carbon
    .toSorted((a, b) => b.grams - a.grams)
    .map(({ page, view, ...weight }) => ({ ...weight, name: nameOf(page) + (view ? ` (${SCREENS[view]})` : "") }));
}

/** The row of the table that stands for all rows. */
const FIGURES_ROW = /<tr>(?:(?!<tr>).)*\{grams\}.*?<\/tr>/s;

/** Pages with the same figure share a row. */
function figuresRows(weights: readonly NamedWeight[]): string {
  const rows = Map.groupBy(weights, ({ grams, rating }) => `<td>${grams.toFixed(3)}</td><td>${rating}</td>`);
  const names = (pages: readonly NamedWeight[]) => escapeHtml(pages.map(({ name }) => name).join(", "));
  return [...rows].map(([figures, pages]) => `<tr><td>${names(pages)}</td>${figures}</tr>`).join("");
}

function rangeOf(grams: readonly number[]): string {
  const texts = [Math.min(...grams), Math.max(...grams)].map((one) => one.toFixed(3));
  return [...new Set(texts)].join(" to ");
}

function kilobytes(bytes: number): string {
  return String(Math.round(bytes / 1000));
}
