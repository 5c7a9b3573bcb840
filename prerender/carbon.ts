import { co2 } from "@tgwf/co2";
import { CARBON_PATH, RULER_CM, UNWEIGHED } from "../app/components/footer.tsx";
import type { RenderedPage } from "../app/render.tsx";
import { type PageFetch, type PageWeight, VIEWS, type View } from "../app/screen.ts";
import { CAR } from "../contract/footprint/factors.ts";
import { transferSize } from "./output.ts";
import { problemsError } from "./site-dir.ts";

export interface FetchedFile {
  url: string;
  bytes: number;
  kind: "page" | PageFetch["kind"];
  view?: View | undefined;
}

interface PageCarbon {
  page: string;
  view?: View;
  bytes: number;
  grams: number;
  rating: string;
  files: readonly FetchedFile[];
}

/** Returns `undefined` for a URL without a file in this build. */
type ReadBuiltFile = (url: string) => Buffer | undefined;

const MODEL = new co2({ model: "swd", version: 4, rating: true });
const HEADER_BYTES = 850;

/** Writes its figure into each page. Rejects if a page is too heavy. */
export async function weighSite(
  others: readonly RenderedPage[],
  readBuiltFile: ReadBuiltFile,
  renderCarbonPage: (weights: readonly PageWeight[]) => Promise<RenderedPage>,
): Promise<{ page: RenderedPage; carbon: readonly PageCarbon[] }[]> {
  const weigh = async (page: RenderedPage) => {
    const carbon = carbonOf(page.name, await weighPage(page, readBuiltFile));
    return { page: { ...page, html: withFigure(page.html, heaviestOf(carbon).grams) }, carbon };
  };
  const weighed = await Promise.all(others.map(weigh));
  const weights = weighed.map(({ page: { name, headline }, carbon }) => {
    const { grams, rating } = heaviestOf(carbon);
    return { name: name === "/" ? "Home" : headline, grams, rating };
  });
  weighed.push(await weigh(await renderCarbonPage(weights.toSorted((a, b) => b.grams - a.grams))));
  const problems = weighed.flatMap(({ page: { name, source }, carbon }) =>
    carbon.flatMap((ofView) => {
      const message = tooHeavy(ofView);
      return message === null ? [] : { file: source ?? `page ${name}`, line: 1, message };
    }),
  );
  if (problems.length > 0) throw problemsError(problems);
  return weighed;
}

/** The view on the larger screen, whose figure the page shows. */
export function heaviestOf(carbon: readonly PageCarbon[]): PageCarbon {
  return carbon.reduce((heaviest, one) => (one.grams > heaviest.grams ? one : heaviest));
}

/** How far an average petrol car drives for the same grams, by the factor of the estimate, in the precision shown. */
export function rulerCm(grams: number): number {
  const cm = (Number(grams.toFixed(3)) * 100) / CAR.petrol.kgPerUnit;
  return cm < 5 ? Number(cm.toFixed(1)) : Math.round(cm);
}

/** Writes the figures into the footer. Their placeholders are the last ones in the page, after all of its own text. */
export function withFigure(html: string, grams: number): string {
  const cm = rulerCm(grams);
  const figures = [
    [`>${UNWEIGHED.grams}<`, `>${grams.toFixed(3)}<`],
    [`>${UNWEIGHED.distance}<`, `>${cm} cm<`],
    [`"${UNWEIGHED.segment}"`, `"${UNWEIGHED.segment.slice(0, -1)}${Math.min(cm, RULER_CM)}"`],
  ] as const;
  return figures.reduce((filled, [placeholder, figure]) => {
    const at = filled.lastIndexOf(placeholder);
    return at < 0 ? filled : filled.slice(0, at) + figure + filled.slice(at + placeholder.length);
  }, html);
}

/** Leaves out files of other origins or of another service on this one: the build does not know their sizes. */
export async function weighPage(
  { name, html, fetches }: Pick<RenderedPage, "name" | "html" | "fetches">,
  readBuiltFile: ReadBuiltFile,
): Promise<FetchedFile[]> {
  const bytes = await transferSize("page.html", Buffer.from(html));
  const files: FetchedFile[] = [{ url: name, kind: "page", bytes: bytes + HEADER_BYTES }];
  for (const { kind, view, urls } of fetches) {
    const url = urls[0] ?? "";
    const content = readBuiltFile(url);
    if (content) files.push({ url, kind, bytes: (await transferSize(url, content)) + HEADER_BYTES, view });
  }
  return files;
}

export function carbonOf(page: string, files: readonly FetchedFile[]): PageCarbon[] {
  const carbonOfView = (files: readonly FetchedFile[]) => {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const { total: grams, rating } = MODEL.perVisit(bytes);
    return { page, bytes, grams, rating, files };
  };
  if (files.every(({ view }) => view === undefined)) return [carbonOfView(files)];
  return VIEWS.map((view) => ({
    ...carbonOfView(files.filter((file) => file.view === undefined || file.view === view)),
    view,
  }));
}

/** The ratings of the model with the maximum grams of each, down to the worst that is allowed. */
const RATINGS = { "A+": "0.040", A: "0.079" } as const;

/** Says why a page is too heavy; `null` if it is not. Only a page with a film may be rated A, on larger screens. */
export function tooHeavy({ page, view, grams, rating, files }: PageCarbon): string | null {
  const worst = files.some(({ kind }) => kind === "film") && view !== "phone" ? "A" : "A+";
  if (rating === "A+" || rating === worst) return null;
  const limit = `${worst}, ${RATINGS[worst]} g${view ? ` on screens of size "${view}"` : ""}`;
  const heaviest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const sizes = heaviest.map(({ url, bytes }) => `${url} ${Math.round(bytes / 1000)} KB`).join(", ");
  return `${page} emits ${grams.toFixed(3)} g CO2e a view (rating ${rating}), and may emit at most ${limit}. Its heaviest files: ${sizes}. Make it lighter; docs/carbon.md says why.`;
}

export function carbonJson(carbon: readonly PageCarbon[]): string {
  const pages = carbon.map(({ page, view, bytes, grams, rating }) => {
    return { page, ...(view && { screen: view }), bytes, grams: Number(grams.toFixed(4)), rating };
  });
  const model = "Sustainable Web Design 4, first visit, average grid intensity of the world (494 g CO2e per kWh)";
  return `${JSON.stringify({ model, unit: "grams CO2e per view", pages }, null, 2)}\n`;
}

/** carbon.txt, syntax 0.5, which tells programs what a company discloses. */
export function carbonText(siteUrl: string, builtAt: Date): string {
  const domain = new URL(siteUrl).hostname;
  return `version = "0.5"
last_updated = "${builtAt.toISOString().slice(0, 10)}"

[org]
disclosures = [
  { doc_type = "web-page", url = "${siteUrl}${CARBON_PATH}", domain = "${domain}", title = "How we count this site's carbon" },
  { doc_type = "other", url = "${siteUrl}/carbon.json", domain = "${domain}", title = "Grams of CO2e for each page, as data" },
]

[upstream]
services = []
`;
}
