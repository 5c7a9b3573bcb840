import { co2 } from "@tgwf/co2";
import type { RenderedPage } from "../app/render.tsx";
import { type PageFetch, type PageWeight, VIEWS, type View } from "../app/screen.ts";
import { transferSize } from "./output.ts";
import type { Problem } from "./site-dir.ts";

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

/** Its views, of which the heaviest is the figure that the page shows. */
type WeighedPage = Pick<RenderedPage, "name" | "headline" | "source"> & { views: readonly PageCarbon[] };

export async function weighPages(
  pages: readonly RenderedPage[],
  readBuiltFile: ReadBuiltFile,
): Promise<readonly WeighedPage[]> {
  return Promise.all(
    pages.map(async (page) => {
      const { name, headline, source } = page;
      return { name, headline, source, views: carbonOf(name, await weighPage(page, readBuiltFile)) };
    }),
  );
}

export function weightsOf(pages: readonly WeighedPage[]): PageWeight[] {
  return pages.map(({ name, headline, views }) => {
    const { grams, rating } = heaviestOf(views);
    return { page: name, title: name === "/" ? "Home" : headline, grams, rating };
  });
}

export function weightProblems(pages: readonly WeighedPage[]): Problem[] {
  return pages.flatMap(({ name, source, views }) =>
    views.flatMap((view) => {
      const message = tooHeavy(view);
      return message === null ? [] : { file: source ?? `page ${name}`, line: 1, message };
    }),
  );
}

/** The view on the larger screen, whose figure the page shows. */
export function heaviestOf(carbon: readonly PageCarbon[]): PageCarbon {
  return carbon.reduce((heaviest, one) => (one.grams > heaviest.grams ? one : heaviest));
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
  return `${page} emits ${grams.toFixed(3)} g CO2e a view (rating ${rating}), and may emit at most ${limit}. Its heaviest files: ${sizes}. Make it lighter; app/explanations/carbon.md says why.`;
}

export function carbonJson(carbon: readonly PageCarbon[]): string {
  const pages = carbon.map(({ page, view, bytes, grams, rating }) => {
    return { page, ...(view && { screen: view }), bytes, grams: Number(grams.toFixed(4)), rating };
  });
  const model = "Sustainable Web Design 4, first visit, average grid intensity of the world (494 g CO2e per kWh)";
  return `${JSON.stringify({ model, unit: "grams CO2e per view", pages }, null, 2)}\n`;
}

/** carbon.txt, syntax 0.5, which tells programs what a company discloses; `path` is the page that explains the figures. */
export function carbonText(siteUrl: string, path: string, builtAt: Date): string {
  const domain = new URL(siteUrl).hostname;
  return `version = "0.5"
last_updated = "${builtAt.toISOString().slice(0, 10)}"

[org]
disclosures = [
  { doc_type = "web-page", url = "${siteUrl}${path}", domain = "${domain}", title = "How we count this site's carbon" },
  { doc_type = "other", url = "${siteUrl}/carbon.json", domain = "${domain}", title = "Grams of CO2e for each page, as data" },
]

[upstream]
services = []
`;
}
