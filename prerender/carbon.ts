import { co2 } from "@tgwf/co2";
import { UNWEIGHED } from "../app/components/carbon-figure.tsx";
import type { RenderedPage, RenderedSite } from "../app/render.tsx";
import { type PageFetch, VIEWS, type View } from "../app/screen.ts";
import { brotliSize, isCompressible } from "./compress.ts";
import { problemsError } from "./page-files.ts";

/** A file that a browser receives on a first visit, with its transfer size. */
export interface FetchedFile {
  url: string;
  bytes: number;
  kind: "page" | PageFetch["kind"];
  /** The screen size that receives the file; all sizes if absent. */
  view?: View;
}

/** The emissions of a page's first view: an entry of `carbon.json`. */
export interface PageCarbon {
  page: string;
  /** Present if the page fetches different files on different screen sizes. */
  view?: View;
  bytes: number;
  grams: number;
  /** For a visitor who turned the film off. Equals `grams` on a page without a film. */
  gramsWithoutFilm: number;
  rating: string;
  files: readonly FetchedFile[];
}

/** Returns `undefined` for a URL without a file in this build. */
type ReadBuiltFile = (url: string) => Buffer | undefined;

const MODEL = new co2({ model: "swd", version: 4, rating: true });
/** The approximate size of one response's headers. */
const HEADER_BYTES = 850;

/** Weighs every page and writes the figure into it. Rejects if a page is too heavy. */
export async function weighSite(
  rendered: RenderedSite,
  readBuiltFile: ReadBuiltFile,
): Promise<RenderedSite & { carbon: readonly PageCarbon[] }> {
  const weigh = async (page: RenderedPage) => {
    // A page contains its own figure, so it is weighed a second time with the first result in it.
    const draft = withFigures(page, carbonOf(page.name, await weighPage(page, readBuiltFile)));
    const carbon = carbonOf(page.name, await weighPage(draft, readBuiltFile));
    return { page: withFigures(page, carbon), carbon };
  };
  const [comingSoon, failure, ...pages] = await Promise.all([
    weigh(rendered.comingSoon),
    weigh(rendered.failure),
    ...rendered.pages.map(weigh),
  ]);
  const weighed = [...pages, comingSoon, failure];
  const problems = weighed.flatMap(({ page: { name, file }, carbon }) =>
    carbon.flatMap((ofView) => {
      const message = tooHeavy(ofView);
      return message === null ? [] : { file: file ?? `page ${name}`, line: 1, message };
    }),
  );
  if (problems.length > 0) throw problemsError(problems);
  return {
    ...rendered,
    pages: pages.map(({ page }) => page),
    comingSoon: comingSoon.page,
    failure: failure.page,
    carbon: weighed.flatMap(({ carbon }) => carbon),
  };
}

/** Writes the figures into the footer. They are the last placeholders in the page, after all of its own text. */
function withFigures(page: RenderedPage, carbon: readonly PageCarbon[]): RenderedPage {
  const fill = (html: string, figure: "grams" | "gramsWithoutFilm") =>
    carbon.reduceRight((filled, ofView) => {
      const attributes = (without: string, withFilm: string) =>
        ofView.view ? `data-without-film="${without}" data-with-film="${withFilm}"` : "";
      return replaceLast(
        filled,
        `${attributes(UNWEIGHED, UNWEIGHED)}>${UNWEIGHED}<`,
        `${attributes(ofView.gramsWithoutFilm.toFixed(3), ofView.grams.toFixed(3))}>${ofView[figure].toFixed(3)}<`,
      );
    }, html);
  const saveDataHtml = page.saveDataHtml && fill(page.saveDataHtml, "gramsWithoutFilm");
  return { ...page, html: fill(page.html, "grams"), saveDataHtml };
}

function replaceLast(text: string, from: string, to: string): string {
  const at = text.lastIndexOf(from);
  return at < 0 ? text : text.slice(0, at) + to + text.slice(at + from.length);
}

/**
 * The page and every file that it fetches. Leaves out files from other origins or from another service on this origin,
 * because the build does not know their sizes.
 */
export async function weighPage(
  { name, html, fetches }: Pick<RenderedPage, "name" | "html" | "fetches">,
  readBuiltFile: ReadBuiltFile,
): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [
    { url: name, kind: "page", bytes: (await brotliSize(Buffer.from(html))) + HEADER_BYTES },
  ];
  for (const { kind, view, urls } of fetches) {
    const url = urls[0] ?? "";
    const content = readBuiltFile(url);
    if (!content) continue;
    const bytes = isCompressible(url) ? await brotliSize(content) : content.length;
    files.push({ url, kind, bytes: bytes + HEADER_BYTES, ...(view && { view }) });
  }
  return files;
}

export function totalBytes(files: readonly FetchedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Grams of a first view by the model in docs/carbon.md: one entry, or one per screen size if they differ. */
export function carbonOf(page: string, files: readonly FetchedFile[]): PageCarbon[] {
  if (files.every(({ view }) => view === undefined)) return [carbonOfView(page, files)];
  return VIEWS.map((view) => {
    const ofView = files.filter((file) => file.view === undefined || file.view === view);
    return { ...carbonOfView(page, ofView), view };
  });
}

function carbonOfView(page: string, files: readonly FetchedFile[]): PageCarbon {
  const bytes = totalBytes(files);
  const { total: grams, rating } = MODEL.perVisit(bytes);
  const gramsWithoutFilm = MODEL.perVisit(totalBytes(files.filter(({ kind }) => kind !== "film"))).total;
  return { page, bytes, grams, gramsWithoutFilm, rating, files };
}

/** The ratings of the model with the maximum grams of each; a heavier page is rated F. */
export const RATINGS = { "A+": "0.040", A: "0.079", B: "0.145", C: "0.209", D: "0.278", E: "0.359" } as const;
/** With a film, the worst rating that a page may have depends on the screen size. */
const WORST_WITH_FILM: Readonly<Record<View, keyof typeof RATINGS>> = { phone: "A+", between: "A", large: "B" };

/** Says why a page is too heavy; `null` if it is not. */
export function tooHeavy({ page, view, grams, rating, files }: PageCarbon): string | null {
  const hasFilm = files.some(({ kind }) => kind === "film");
  const worst = hasFilm ? WORST_WITH_FILM[view ?? "between"] : "A+";
  const allowed = Object.keys(RATINGS).slice(0, Object.keys(RATINGS).indexOf(worst) + 1);
  if (allowed.includes(rating)) return null;
  const limit = `${worst}, ${RATINGS[worst]} g${view ? ` on screens of size "${view}"` : ""}`;
  const heaviest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const sizes = heaviest.map(({ url, bytes }) => `${url} ${Math.round(bytes / 1000)} KB`).join(", ");
  return `${page} emits ${grams.toFixed(3)} g CO2e a view (rating ${rating}), and may emit at most ${limit}. Its heaviest files: ${sizes}. Make it lighter; docs/carbon.md says why.`;
}

export function carbonJson(pages: readonly PageCarbon[]): string {
  const round = (grams: number) => Number(grams.toFixed(4));
  const rounded = pages.map(({ page, view, bytes, grams, gramsWithoutFilm, rating }) => ({
    page,
    ...(view && { screen: view }),
    bytes,
    grams: round(grams),
    ...(gramsWithoutFilm !== grams && { gramsWithoutFilm: round(gramsWithoutFilm) }),
    rating,
  }));
  const model = "Sustainable Web Design 4, first visit, average grid intensity of the world (494 g CO2e per kWh)";
  return `${JSON.stringify({ model, unit: "grams CO2e per view", pages: rounded }, null, 2)}\n`;
}

/** carbon.txt, syntax 0.5, which tells programs what a company discloses. */
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
    disclosure("web-page", explanationPath, "How we count this site's carbon"),
    disclosure("other", "/carbon.json", "Grams of CO2e for each page, as data"),
    "]",
    "",
    "[upstream]",
    "services = []",
    "",
  ].join("\n");
}
