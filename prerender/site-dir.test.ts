import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { completeSettings } from "../app/settings.ts";
import { site } from "../app/site.ts";
import { openPort } from "../tests/support/raw-http.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { untilEnd } from "../tests/support/until-end.ts";
import { contextOf, openVite } from "../tests/support/vite-server.ts";
import { loadRenderer } from "./load-renderer.ts";
import { lookFiles, lookProblems } from "./look.ts";
import { siteDirProblems } from "./site-dir.ts";

const PRICE = { amount: 25, currency: "EUR" };

test("a folder outside the project replaces settings and pages; missing settings have the default", async () => {
  const folder = await makeScratchFolder();
  const policyFacts = { companyNumber: "123" };
  const own = {
    brand: "Solar Hill",
    policyFacts,
    pricePerTonne: PRICE,
    answerWithin: { amount: 2, unit: "working days" },
  };
  await writeFile(join(folder, "site.ts"), `export const site = ${JSON.stringify(own)};\n`);
  await mkdir(join(folder, "pages"));
  await writeFile(join(folder, "pages/about.md"), "---\ntitle: About\ndescription: Us.\n---\n\nWho *we* are.\n");
  vi.stubEnv("SITE_DIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const renderer = await loadRenderer(await untilEnd(openVite()));
  expect(renderer.site).toEqual({ ...site, ...own, policyFacts: { ...site.policyFacts, companyNumber: "123" } });
  const context = contextOf(process.env);
  expect(await renderer.renderPath("/about", context)).toMatch(/<title>About \| Solar Hill<.+Who <em>we<\/em> are\./s);
  const contact = await renderer.renderPath("/contact", context);
  const settings = /data-settings="([^"]+)"/.exec(contact)?.[1]?.replaceAll("&quot;", '"') ?? "";
  expect(JSON.parse(settings)).toMatchObject({ price: PRICE, answerWithin: "2 working days", brand: "Solar Hill" });
  expect(renderer.unsetFacts(context.settings)).toContain(
    `governing law (policyFacts.governingLaw in ${folder}/site.ts)`,
  );
});

test("the development server refuses what the build refuses", async () => {
  const folder = await makeScratchFolder();
  await writeFile(join(folder, "site.ts"), 'export const site = { referencePrefix: "acme" };\n');
  vi.stubEnv("SITE_DIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const http = createServer((await untilEnd(openVite())).middlewares);
  onTestFinished(() => void http.close());
  const response = await fetch(`http://127.0.0.1:${await openPort(http)}/`);
  const problem = /site\.ts:1: "site\.referencePrefix" must be two to four capital letters/;
  const text = (await response.text()).replaceAll("&quot;", '"');
  expect([response.status, text]).toEqual([500, expect.stringMatching(problem)]);
});

test.each<[own: object, ...problems: string[]]>([
  [{}],
  [{ look: { displayFont: "display.woff2" } }],
  [{ look: { displayFont: "serif.ttf" } }, '"look.displayFont" names no file'],
  [
    { look: { colours: { amber: "#f00", ink: "red" } } },
    'There is no colour "amber" in "look.colours". The colours are: brand, ',
    'The colour "amber" in "look.colours" is not valid',
    'The colour "ink" in "look.colours" is not valid',
  ],
  [{ look: { displayFont: "damaged.woff2" } }, '"look.displayFont" is damaged ('],
  [{ heroPicture: { file: "none.jpg", alt: "A hill." } }, '"heroPicture.file" names no file'],
  [{ heroPicture: { file: "damaged.jpg", alt: "A hill." } }, '"heroPicture.file" is damaged, or is no picture ('],
  [
    { heroPicture: { file: "white.svg", alt: "Snow." } },
    'The colour "snow" on the left third of "heroPicture" has a contrast of 2.41:1, and needs 4.5:1.',
  ],
  [{ heroFilm: [{ url: "https://film.example/sea.mp4", type: "video/mp4" }] }],
  [
    { heroFilm: ["none.mp4", "text.webm", "display.woff2", "long.mp4"].map((url) => ({ url, type: "" })) },
    '"heroFilm" names no file',
    'text.webm in "heroFilm" is not an MP4 or WebM film.',
    'display.woff2 in "heroFilm" is not an MP4 or WebM film.',
    'long.mp4 in "heroFilm" has 451 KB, and may have at most 450 KB; docs/carbon.md says why.',
    '"heroFilm" names a file, so "heroPicture" must be the film\'s first frame.',
  ],
])("the look %j has these problems", async (own, ...problems) => {
  const folder = await makeScratchFolder();
  await cp("app/media/display.woff2", join(folder, "display.woff2"));
  for (const [file, damaged] of [
    ["app/media/display.woff2", "damaged.woff2"],
    ["app/media/poster.jpg", "damaged.jpg"],
  ] as const) {
    await writeFile(join(folder, damaged), (await readFile(file)).subarray(0, 5000));
  }
  const white =
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><path d="M0 0h16v9H0Z" fill="#fff"/></svg>';
  await writeFile(join(folder, "white.svg"), white);
  await writeFile(join(folder, "text.webm"), "No film.");
  await writeFile(join(folder, "long.mp4"), `....ftyp${"x".repeat(450_001)}`);
  const found = await lookProblems(completeSettings(own), folder);
  expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
});

test("the fallback of a company's font has its metrics", async () => {
  const own = completeSettings({ look: { ...site.look, displayFont: "display.woff2" } });
  const { displayFallback, media } = await lookFiles(own, "app/media");
  expect([...media]).toEqual([["display.woff2", "app/media/display.woff2"]]);
  // As measured by hand in base.css, with another text.
  const adjusted = [...displayFallback.matchAll(/size-adjust:([\d.]+)%;ascent-override:([\d.]+)%/g)];
  const numbers = adjusted.flatMap(([, size, ascent]) => [Number(size), Number(ascent)]);
  for (const [index, expected] of [102.3, 90.9, 95.9, 97].entries()) {
    expect(Math.abs((numbers[index] ?? 0) - expected)).toBeLessThan(1);
  }
});

test("a folder without settings is refused", async () => {
  expect(siteDirProblems(await makeScratchFolder())).toEqual([
    { problem: expect.stringMatching(/^SITE_DIR has no site\.ts \(.+\)$/), remedy: expect.stringMatching(/^copy /) },
  ]);
  expect(siteDirProblems("app/")).toEqual([]);
});
