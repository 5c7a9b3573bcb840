import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CarbonFigure } from "../app/components/footer.tsx";
import type { RenderedPage } from "../app/render.tsx";
import { type PageFetch, VIEWS, type View } from "../app/screen.ts";
import { type BuildManifest, manifestFile } from "../contract/build-manifest.ts";
import {
  carbonOf,
  carbonText,
  type FetchedFile,
  heaviestOf,
  tooHeavy,
  weighPage,
  weighPages,
  weightProblems,
  weightsOf,
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
    "/ emits 0.041 g CO2e a view (rating A), and may emit at most A+, 0.040 g. Its heaviest files: / 280 KB. Make it lighter; app/explanations/carbon.md says why.",
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
  const text = carbonText("https://www.example.com", "/assets/carbon", new Date("2026-11-15T10:00:00Z"));
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
  return { name, html: HTML, fetches, headline: name, files: [], source: null, inlineStyles: [], inlineScripts: [] };
}

test.each([
  [0.047, "23 cm"],
  [0.0166, "8 cm"],
  [0.01, "4.8 cm"],
  [0, "0 cm"],
])("%d g are %s by petrol car, in the sentence and on the ruler", (grams, distance) => {
  const html = renderToStaticMarkup(<CarbonFigure grams={grams} />);
  expect(html).toContain(`<b>${distance}</b> <span>by petrol car`);
  expect(html).toContain(`>${grams.toFixed(3)}</span> g CO₂e, model)`);
  expect(html).toContain(`d="M0 4h${Number.parseFloat(distance)}"`);
  expect(html).not.toContain("#");
});

test("a page's figure is that of the larger screen; the list for the page about carbon calls / Home", async () => {
  const film = { ...fetch("film", "/film.mp4"), view: "other" as const };
  const weighed = await weighPages([pageNamed("/", [film]), pageNamed("error")], read);
  const carbon = weighed.flatMap(({ views }) => views);
  expect(carbon.map(({ page, view }) => view ?? page)).toEqual([...VIEWS, "error"]);
  const grams = carbon.find(({ view }) => view === "other")?.grams ?? 0;
  expect(grams).toBeGreaterThan(0.04);
  expect(weightsOf(weighed)).toEqual([
    { page: "/", title: "Home", grams, rating: "A" },
    { page: "error", title: "error", grams: expect.any(Number), rating: "A+" },
  ]);
});

test("a page that is too heavy is a problem of its file", async () => {
  const films = Array<PageFetch>(2).fill(fetch("film", "/film.mp4"));
  const written = { ...pageNamed("/film", films), source: "pages/film.md" };
  const problems = weightProblems(await weighPages([pageNamed("/", films), written, pageNamed("/a")], read));
  expect(problems).toEqual(
    ["page /", "pages/film.md"].map((file) => ({
      file,
      line: 1,
      message: expect.stringMatching(/ emits .* Make it lighter/),
    })),
  );
});

const { form } = JSON.parse(readFileSync(manifestFile("dist"), "utf8")) as BuildManifest;
const { pages } = JSON.parse(readFileSync("dist/site/carbon.json", "utf8")) as {
  pages: { page: string; grams: number }[];
};

test.each([
  ["the contact page", "/contact", readFileSync("dist/site/contact/index.html", "utf8")],
  ["the answer to a post", "/contact", form.pages.sent],
  ["the page that lists the others", "/assets/carbon", readFileSync("dist/site/assets/carbon/index.html", "utf8")],
])("in the build, %s shows its own figure", (_, name, html) => {
  const grams = pages.find(({ page }) => page === name)?.grams ?? 0;
  expect(grams).toBeGreaterThan(0);
  expect(/<span data-fact="grams">([^<]+)</.exec(html)?.[1]).toBe(grams.toFixed(3));
});
