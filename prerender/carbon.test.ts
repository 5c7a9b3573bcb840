import { expect, test } from "vitest";
import { carbonJson, carbonOf, carbonText, pagesTooHeavy } from "./carbon.ts";
import type { FetchedFile } from "./page-weight.ts";

const page = (bytes: number): FetchedFile => ({ url: "/", kind: "page", bytes });
const film = (bytes: number): FetchedFile => ({ url: "/media/film.mp4", kind: "film", bytes });

test("100 KB emit what the model says they do", () => {
  expect(carbonOf("/", [page(100_000)])).toMatchObject({ bytes: 100_000, rating: "A+" });
  expect(carbonOf("/", [page(100_000)]).grams).toBeCloseTo(0.01482, 5);
});

test("a film counts, and leaving it out is worth its bytes", () => {
  const { grams, gramsWithoutFilm } = carbonOf("/", [page(50_000), film(300_000)]);
  expect(grams / gramsWithoutFilm).toBeCloseTo(7, 5);
});

test("a page above A+ is too heavy, unless it has a film and reaches A", () => {
  const tooHeavy = (...files: FetchedFile[]) => pagesTooHeavy([carbonOf("/", files)]);
  expect(tooHeavy(page(260_000))).toEqual([]);
  expect(tooHeavy(page(280_000))).toEqual([
    "/ emits 0.041 g CO2e a view (rating A), and may emit at most A+, 0.040 g. Its heaviest files: / 280 KB.",
  ]);
  expect(tooHeavy(page(50_000), film(450_000))).toEqual([]);
  expect(tooHeavy(page(50_000), film(500_000))).toEqual([
    expect.stringContaining("at most A, 0.079 g. Its heaviest files: /media/film.mp4 500 KB, / 50 KB."),
  ]);
});

test("tells programs in JSON, and where it says so in carbon.txt", () => {
  const pages = [carbonOf("/", [page(50_000), film(300_000)]), carbonOf("/contact", [page(100_000)])];
  expect(JSON.parse(carbonJson(pages)).pages).toEqual([
    { page: "/", bytes: 350_000, grams: 0.0519, gramsWithoutFilm: 0.0074, rating: "A" },
    { page: "/contact", bytes: 100_000, grams: 0.0148, rating: "A+" },
  ]);
  const text = carbonText("https://www.example.com", "/assets/carbon", new Date("2026-11-15T10:00:00Z"));
  expect(text).toContain('version = "0.5"\nlast_updated = "2026-11-15"\n\n[org]\ndisclosures = [\n');
  expect(text).toContain(
    'doc_type = "web-page", url = "https://www.example.com/assets/carbon", domain = "www.example.com"',
  );
});
