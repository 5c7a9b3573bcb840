import { co2 } from "@tgwf/co2";
import type { Footprint } from "../app/components/page-footprint.tsx";
import type { RenderedPage, RenderedSite } from "../app/render.tsx";
import type { PageFetch, RenderContext } from "../app/screen.ts";
import { brotliSize, isCompressible } from "./compress.ts";
import { problemsError } from "./page-files.ts";

/** A file that a browser receives on a first visit, with its bytes as they travel. */
export interface FetchedFile {
  url: string;
  bytes: number;
  kind: "page" | PageFetch["kind"];
}

/** One page's line of `carbon.json`. */
export interface PageCarbon extends Footprint {
  page: string;
  bytes: number;
  rating: string;
  files: readonly FetchedFile[];
}

/** `undefined` for a URL that this build writes no file for. */
export type ReadBuiltFile = (url: string) => Buffer | undefined;

const MODEL = new co2({ model: "swd", version: 4, rating: true });
/** About what the headers of one response take. */
const HEADER_BYTES = 850;
/** As long in the HTML as the footprint of a page with a film, and a little longer than that of any other page. */
const PLACEHOLDER: Footprint = { grams: 0, gramsWithoutFilm: 0.001 };

/**
 * Renders the site with each page's own footprint in its footer. Pages are rendered twice: first with a placeholder to
 * be weighed, then with the result. Rejects when a page is too heavy.
 */
export async function renderWeighed(
  renderSite: (context: RenderContext) => Promise<RenderedSite>,
  context: RenderContext,
  readBuiltFile: ReadBuiltFile,
): Promise<RenderedSite & { carbon: readonly PageCarbon[] }> {
  const { pages, comingSoon, failure } = await renderSite({ ...context, footprintOf: () => PLACEHOLDER });
  const weighed = await Promise.all(
    [...pages, comingSoon, failure].map(async (page) => ({
      file: page.file ?? `page ${page.name}`,
      carbon: carbonOf(page.name, await weighPage(page, readBuiltFile)),
    })),
  );
  const tooHeavy = weighed.flatMap(({ file, carbon }) =>
    pagesTooHeavy([carbon]).map((problem) => ({
      file,
      line: 1,
      message: `${problem} Make it lighter; docs/carbon.md says why.`,
    })),
  );
  if (tooHeavy.length > 0) throw problemsError(tooHeavy);
  const carbon = weighed.map((one) => one.carbon);
  const footprints = new Map(carbon.map((one) => [one.page, one]));
  return { ...(await renderSite({ ...context, footprintOf: (page) => footprints.get(page) ?? null })), carbon };
}

/**
 * The page itself and every file it fetches. Files from other origins, or from another service of this one, are left
 * out, because their sizes are not known here.
 */
export async function weighPage(
  { name, html, fetches }: Pick<RenderedPage, "name" | "html" | "fetches">,
  readBuiltFile: ReadBuiltFile,
): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [
    { url: name, kind: "page", bytes: (await brotliSize(Buffer.from(html))) + HEADER_BYTES },
  ];
  for (const { kind, urls } of fetches) {
    const url = urls[0] ?? "";
    const content = readBuiltFile(url);
    if (!content) continue;
    const bytes = isCompressible(url) ? await brotliSize(content) : content.length;
    files.push({ url, kind, bytes: bytes + HEADER_BYTES });
  }
  return files;
}

export function totalBytes(files: readonly FetchedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

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

/** carbon.txt, syntax 0.5: programs read there what a company discloses. */
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
