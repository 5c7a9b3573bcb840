import { inspect } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CarbonFigure } from "../app/components/footer.tsx";
import type { RenderedPage } from "../app/render.tsx";
import { type PageFetch, VIEWS, type View } from "../app/screen.ts";
import {
  carbonOf,
  carbonText,
  type FetchedFile,
  heaviestOf,
  rulerCm,
  tooHeavy,
  weighPage,
  weighSite,
  withFigure,
} from "./carbon.ts";

const page = (bytes: number): FetchedFile => ({ url: "/", kind: "page", bytes });
const film = (bytes: number): FetchedFile => ({ url: "/media/film.mp4", kind: "film", bytes });

test("100 KB emit what the model says, and the figure is that of the larger screen", () => {
  const grams = expect.closeTo(0.01482, 5);
  expect(carbonOf("/", [page(100_000)])).toMatchObject([{ bytes: 100_000, rating: "A+", grams }]);
  const both = carbonOf("/", [page(50_000), { ...film(50_000), view: "other" }]);
  expect([both.length, heaviestOf(both).grams]).toEqual([2, grams]);
});

test("a page must reach A+; with a film A+ on a phone and A on other screens", () => {
  const problemsOf = (bytes: number) => carbonOf("/", [page(bytes)]).map(tooHeavy);
  expect(problemsOf(260_000)).toEqual([null]);
  expect(problemsOf(280_000)).toEqual([
    "/ emits 0.041 g CO2e a view (rating A), and may emit at most A+, 0.040 g. Its heaviest files: / 280 KB. Make it lighter; docs/carbon.md says why.",
  ]);
  const problemsOn = (bytes: Record<View, number>) => {
    const files = VIEWS.map((view) => ({ ...film(bytes[view]), view }));
    return carbonOf("/", [page(50_000), ...files]).flatMap((carbon) => tooHeavy(carbon) ?? []);
  };
  expect(problemsOn({ phone: 210_000, other: 450_000 })).toEqual([]);
  expect(problemsOn({ phone: 230_000, other: 500_000 })).toEqual([
    expect.stringContaining('at most A+, 0.040 g on screens of size "phone". Its heaviest files: /media/film.mp4 230'),
    expect.stringContaining('at most A, 0.079 g on screens of size "other".'),
  ]);
  const pictures = VIEWS.map((view) => ({ url: "/a.avif", kind: "picture" as const, bytes: 230_000, view }));
  for (const carbon of carbonOf("/", [page(50_000), ...pictures])) expect(tooHeavy(carbon)).toContain("at most A+");
});

test("carbon.txt names the page that explains the figures", () => {
  const text = carbonText("https://www.example.com", new Date("2026-11-15T10:00:00Z"));
  expect(text).toContain('version = "0.5"\nlast_updated = "2026-11-15"\n\n[org]\ndisclosures = [\n');
  expect(text).toContain('url = "https://www.example.com/assets/carbon", domain = "www.example.com"');
});

const HEADERS = 850;
const HTML = `<p>${"text ".repeat(500)}</p>`;
const BUILT: Readonly<Record<string, Buffer>> = {
  "/font.woff2": Buffer.alloc(20_000),
  "/list.json": Buffer.from(JSON.stringify(Array(500).fill("country"))),
  "/best.avif": Buffer.alloc(3000),
  "/fallback.jpg": Buffer.alloc(9000),
  "/film.mp4": Buffer.alloc(300_000),
};
const read = (url: string) => BUILT[url];
const brotliBytes = (content: string | Buffer = "") => brotliCompressSync(content).length;
const fetch = (kind: PageFetch["kind"], ...urls: string[]): PageFetch => ({ kind, urls });

test("a page's weight includes its files, with text compressed, and their response headers", async () => {
  const own = [fetch("font", "/font.woff2"), fetch("data", "/list.json")];
  const otherFormats = fetch("picture", "/best.avif", "/fallback.jpg");
  const ofOthers = [fetch("film", "https://film.example/a.mp4", "/film.mp4"), fetch("data", "/api/countries")];
  const fetches = [...own, otherFormats, ...ofOthers, fetch("film")];
  expect(await weighPage({ name: "/", html: HTML, fetches }, read)).toEqual([
    { url: "/", kind: "page", bytes: brotliBytes(HTML) + HEADERS },
    { url: "/font.woff2", kind: "font", bytes: 20_000 + HEADERS },
    { url: "/list.json", kind: "data", bytes: brotliBytes(BUILT["/list.json"]) + HEADERS },
    { url: "/best.avif", kind: "picture", bytes: 3000 + HEADERS },
  ]);
});

function pageNamed(name: string, fetches: readonly PageFetch[] = []): RenderedPage {
  const html = renderToStaticMarkup(<CarbonFigure />);
  return { name, html, fetches, headline: name, files: [], source: null, inlineStyles: [], inlineScripts: [] };
}
const CARBON_PAGE = pageNamed("/assets/carbon");

test.each([
  [0.047, 23],
  [0.0166, 8],
  [0.01, 4.8],
  [0, 0],
])("%d g are %d cm by petrol car, in the sentence and on the ruler", (grams, cm) => {
  expect(rulerCm(grams)).toBe(cm);
  const html = withFigure(renderToStaticMarkup(<CarbonFigure />), grams);
  expect(html).toContain(`<b>${cm} cm</b> <span>by petrol car`);
  expect(html).toContain(`>${grams.toFixed(3)}</span> g CO₂e, model)`);
  expect(html).toContain(`d="M0 4h${cm}"`);
  expect(html).not.toContain("#");
});

test("each page shows its own figure, of the larger screen; the page about carbon lists those of the others", async () => {
  const film = { ...fetch("film", "/film.mp4"), view: "other" as const };
  const failure = pageNamed("error");
  failure.html = `<b>#.###</b>${failure.html}`;
  let listed: unknown;
  const weighed = await weighSite([pageNamed("/", [film]), failure], read, async (weights) => {
    listed = weights;
    return CARBON_PAGE;
  });
  const carbon = weighed.flatMap((one) => one.carbon);
  expect(carbon.map(({ page, view }) => view ?? page)).toEqual([...VIEWS, "error", "/assets/carbon"]);
  const grams = carbon.find(({ view }) => view === "other")?.grams ?? 0;
  expect(grams).toBeGreaterThan(0.04);
  expect(listed).toEqual([
    { name: "Home", grams, rating: "A" },
    { name: "error", grams: expect.any(Number), rating: "A+" },
  ]);
  const shown = (html = "") => /<span data-fact="grams">([^<]+)</.exec(html)?.[1];
  expect(weighed.map(({ page }) => shown(page.html))).toEqual([grams.toFixed(3), "0.000", "0.000"]);
  // Only the footer's placeholder becomes a figure.
  expect(weighed[1]?.page.html).toMatch(/^<b>#\.###<\/b>/);
});

test("a build with a page that is too heavy fails", async () => {
  const films = Array<PageFetch>(2).fill(fetch("film", "/film.mp4"));
  const error = await weighSite([pageNamed("/", films)], read, async () => CARBON_PAGE).catch((reason) => reason);
  // As Vite prints it: without a stack.
  expect(inspect(error)).toMatch(/^The pages cannot be built:\npage \/:1: \/ emits .* Make it lighter; .*why\.$/);
});
