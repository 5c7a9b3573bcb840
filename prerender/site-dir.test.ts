import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { site } from "../app/site.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { untilEnd } from "../tests/support/until-end.ts";
import { contextOf, openVite } from "../tests/support/vite-server.ts";
import { loadRenderer } from "./load-renderer.ts";
import { settingsProblems, siteDirProblems } from "./site-dir.ts";

const PRICE = { amount: 25, currency: "EUR" };

test("a folder outside the project replaces settings and pages; missing settings have the default", async () => {
  const folder = await makeScratchFolder();
  const policyFacts = { companyNumber: "123" };
  const own = { brand: "Solar Hill", policyFacts, pricePerTonne: PRICE, answerWithin: "two working days" };
  await writeFile(join(folder, "site.ts"), `export const site = ${JSON.stringify(own)};\n`);
  await mkdir(join(folder, "pages"));
  await writeFile(join(folder, "pages/about.mdx"), "---\ntitle: About\ndescription: Us.\n---\n\nWho *we* are.\n");
  vi.stubEnv("SITE_DIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const renderer = await loadRenderer(await untilEnd(openVite()));
  expect(renderer.site).toEqual({ ...site, ...own, policyFacts: { ...site.policyFacts, companyNumber: "123" } });
  const context = contextOf(process.env);
  expect(await renderer.renderPath("/about", context)).toMatch(/<title>About \| Solar Hill<.+Who <em>we<\/em> are\./s);
  const contact = await renderer.renderPath("/contact", context);
  expect(contact).toContain('data-answer-within="two working days"');
  expect(contact).toContain(`data-price="${JSON.stringify(PRICE).replaceAll('"', "&quot;")}" data-answer-within="two`);
  expect(renderer.unsetFacts(context.settings)).toContain(
    `governing law (policyFacts.governingLaw in ${folder}/site.ts)`,
  );
});

test("a folder without settings is refused", async () => {
  expect(siteDirProblems(await makeScratchFolder())).toEqual([
    { problem: expect.stringMatching(/^SITE_DIR has no site\.ts \(.+\)$/), remedy: expect.stringMatching(/^copy /) },
  ]);
  expect(siteDirProblems("app/")).toEqual([]);
});

const NO_PRICE = '"pricePerTonne" is not valid; e.g. { amount: 25, currency: "EUR" }, or null for none.';
test.each<[settings: Record<string, unknown>, ...problems: unknown[]]>([
  [{ ...site }],
  [{ pricePerTonne: PRICE, answerWithin: "two working days" }],
  [{ pricePerTonne: null, answerWithin: null }],
  ...[25, "25 EUR", {}, { ...PRICE, amount: 0 }, { ...PRICE, amount: "25" }, { ...PRICE, currency: " " }].map(
    (pricePerTonne): [Record<string, unknown>, string] => [{ pricePerTonne }, NO_PRICE],
  ),
  [{ answerWithin: "" }, '"answerWithin" is not valid; e.g. "two working days", or null for none.'],
  [
    { heroFilm: [], brnad: "x", menu: "none" },
    '"menu" must be of type list, not string.',
    expect.stringMatching(/^There is no setting "brnad"\. The settings are: brand, legalName, /),
  ],
])("the settings %j have these problems", (settings, ...problems) => {
  expect(settingsProblems(settings).toSorted()).toEqual(problems);
});
