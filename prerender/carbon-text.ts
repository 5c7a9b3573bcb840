import { CARBON_PATH } from "../app/components/carbon-figure.tsx";
import type { RenderedPage } from "../app/render.tsx";
import { escapeHtml } from "../contract/visible-text.ts";
import type { PageCarbon } from "./carbon.ts";
import { brotliSize, isCompressible } from "./compress.ts";
import { weightChart } from "./weight-chart.tsx";

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
  const home = carbon.filter(({ page }) => page === "/");
  const figures: Readonly<Record<string, string>> = {
    chart: weightChart(carbon),
    homeStillGrams: rangeOf(home.map(({ gramsWithoutFilm }) => gramsWithoutFilm)),
    filmKilobytes: kilobytes(Math.max(0, ...lastFormats)),
    estimateKilobytes: kilobytes(extraEstimate.reduce((sum, bytes) => sum + bytes, 0)),
  };
  const fill = (html: string) =>
    html.replace(FIGURES_ROW, figuresRows(carbon)).replaceAll(/\{(\w+)\}/g, (name, key) => figures[key] || name);
  return pages.map((page) => (page.name === CARBON_PATH ? { ...page, html: fill(page.html) } : page));
}

const SCREENS = { phone: "phones", between: "most other screens", large: "1600 px and wider" };

/** The row of the table that stands for all rows. */
const FIGURES_ROW = /<tr>(?:(?!<tr>).)*\{grams\}.*?<\/tr>/s;

/** The heaviest first. Pages with the same figure share a row. */
function figuresRows(carbon: readonly PageCarbon[]): string {
  const rows = Map.groupBy(
    carbon.toSorted((a, b) => b.grams - a.grams),
    ({ grams, rating }) => `<td>${grams.toFixed(3)}</td><td>${rating}</td>`,
  );
  const nameOf = ({ page, view }: PageCarbon) => (view ? `${page} (${SCREENS[view]})` : page);
  const names = (pages: readonly PageCarbon[]) => escapeHtml(pages.map(nameOf).join(", "));
  return [...rows].map(([figures, pages]) => `<tr><td>${names(pages)}</td>${figures}</tr>`).join("");
}

function rangeOf(grams: readonly number[]): string {
  const texts = [Math.min(...grams), Math.max(...grams)].map((one) => one.toFixed(3));
  return [...new Set(texts)].join(" to ");
}

function kilobytes(bytes: number): string {
  return String(Math.round(bytes / 1000));
}
