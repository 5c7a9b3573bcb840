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
import { lookProblems } from "./look.ts";
import { readOwnSettings, settingsProblems, siteDirProblems } from "./site-dir.ts";

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
  await writeFile(join(folder, "site.ts"), 'export const site = {\n  referencePrefix: "acme",\n};\n');
  vi.stubEnv("SITE_DIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const http = createServer((await untilEnd(openVite())).middlewares);
  onTestFinished(() => void http.close());
  const response = await fetch(`http://127.0.0.1:${await openPort(http)}/`);
  const problem = /site\.ts:2: "site\.referencePrefix" must be two to four capital letters/;
  const text = (await response.text()).replaceAll("&quot;", '"');
  expect([response.status, text]).toEqual([500, expect.stringMatching(problem)]);
  await writeFile(join(folder, "site.ts"), "export const site = {\n  look: { hue: 25O },\n};\n");
  const broken = await fetch(response.url);
  const line = /site\.ts:2: Invalid characters after number\. app\/site\.ts shows how/;
  expect([broken.status, await broken.text()]).toEqual([500, expect.stringMatching(line)]);
});

test.each([
  [
    "a syntax error",
    "export const site = {\n\n  brand: 'X'\n  look: {},\n};\n",
    /site\.ts:4: Expected `,` or `}`.*app\/site\.ts/,
  ],
  [
    "an unknown name",
    "export const site = {\n  brand: colour,\n};\n",
    /site\.ts:2: colour is not defined\. app\/site\.ts/,
  ],
  ["no settings", "export const sites = {};\n", /site\.ts:1: It does not export "site"\. app\/site\.ts/],
])("names the line of %s in site.ts, without a stack", async (_, source, problem) => {
  const folder = await makeScratchFolder();
  await writeFile(join(folder, "site.ts"), source);
  await expect(readOwnSettings(`${folder}/`)).rejects.toThrow(problem);
});

test("names the line of each wrong setting", async () => {
  const folder = `${await makeScratchFolder()}/`;
  const own =
    "export const site = {\n  brand: ' ',\n  menu: [\n    { label: 'A' },\n    { label: 3 },\n  ],\n  colour: 1,\n  hero: {},\n};\n";
  await writeFile(join(folder, "site.ts"), own);
  const problems = await settingsProblems(await readOwnSettings(folder), folder);
  const lines = problems.map(({ line, message }) => `${line} ${/"[^"]+"/.exec(message)}`);
  expect(lines).toEqual(expect.arrayContaining(['2 "site.brand"', '5 "site.menu.1.label"', '7 "site"']));
});

test.each<[own: object, ...problems: string[]]>([
  [{}],
  [{ look: { displayFont: "display.woff2" }, heroPicture: { file: "dark.svg", alt: "Night." } }],
  [{ look: { displayFont: "serif.woff2" } }, '"site.look.displayFont" names no file ('],
  [{ look: { displayFont: "poster.jpg" } }, '"site.look.displayFont" is not a WOFF2 file ('],
  [{ heroPicture: { file: "none.jpg", alt: "A hill." } }, '"site.heroPicture.file" names no file ('],
  [{ heroPicture: { file: "poster.jpg", alt: "A hill." } }, '"site.heroPicture.file" is damaged, or is no picture ('],
  [
    { heroPicture: { file: "white.svg", alt: "Snow." } },
    '"site.heroPicture.file" is too bright behind the text: a place on its left third has 255 of 255, and may have 170.',
  ],
])("the look %j has these problems", async (own, ...problems) => {
  const folder = await makeScratchFolder();
  await cp("app/media/display.woff2", join(folder, "display.woff2"));
  await writeFile(join(folder, "poster.jpg"), (await readFile("app/media/poster.jpg")).subarray(0, 5000));
  for (const [name, colour] of [
    ["white", "#fff"],
    ["dark", "#123"],
  ]) {
    const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><path d="M0 0h16v9H0Z" fill="${colour}"/></svg>`;
    await writeFile(join(folder, `${name}.svg`), picture);
  }
  const found = await lookProblems(completeSettings(own), folder);
  expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
});

test("a folder without settings is refused", async () => {
  expect(siteDirProblems(await makeScratchFolder())).toEqual([
    { problem: expect.stringMatching(/^SITE_DIR has no site\.ts \(.+\)$/), remedy: expect.stringMatching(/^copy /) },
  ]);
  expect(siteDirProblems("app/")).toEqual([]);
});
