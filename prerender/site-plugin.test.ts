import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { join } from "node:path";
import { createServer, resolveConfig, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { unsetFacts } from "../app/facts.ts";
import type { RenderContext } from "../app/screen.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { textOf } from "../tests/support/html.ts";
import { openPort } from "../tests/support/raw-http.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { untilEnd } from "../tests/support/until-end.ts";
import config from "../vite.config.ts";
import { lookProblems } from "./pictures.ts";
import { readSettings, settingsProblems } from "./site-dir.ts";
import { loadRenderer } from "./site-plugin.ts";
import { readTexts } from "./texts.ts";

/** Vite on the sources of the site, without a port. */
function openVite() {
  const options = { middlewareMode: true, ws: false, watch: null } as const;
  return createServer({ ...config, configFile: false, logLevel: "warn", server: options });
}

/** What a page is rendered with when these variables are set. */
const contextOf = (env: Readonly<Record<string, string | undefined>>): RenderContext => ({
  settings: parseBuildSettings(env).settings,
  scripts: { film: { src: "/film.js" }, loadForm: { src: "/load-form.js" }, form: "/contact.js" },
});

let server: ViteDevServer;
beforeAll(async () => {
  server = await openVite();
});
afterAll(() => server.close());

function setVariable(name: string, value: string): void {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

async function makeSiteDir(own: object): Promise<string> {
  const folder = await makeScratchFolder();
  await writeFile(join(folder, "site.ts"), `export const site = ${JSON.stringify(own)};\n`);
  setVariable("SITE_DIR", folder);
  return folder;
}

const OWN_HOST = { SITE_URL: "https://www.a.example", API_BASE: "https://www.a.example/api" };
const OTHER_HOSTS = { ...OWN_HOST, API_BASE: "https://api.a.example", COUNTRIES_URL: "https://b.example/all" };
test.each<[env: Record<string, string>, says: string[], neverSays?: RegExp]>([
  [
    {},
    [
      "Delivered messages are deleted automatically after 30 days.",
      "Copies in our backups are deleted up to 14 days later.",
      "a log, which is kept for up to 15 days.",
      "we delete nothing before our team has been informed",
      "While a message waits for delivery, we keep it. If you asked us to restrict a message, we keep it until",
    ],
    /passed on to the system/,
  ],
  [
    { RETENTION: "delivered=36h,failed=keep,quarantined=7d" },
    [
      "Delivered messages are deleted automatically after 36 hours.",
      "Messages that could not be delivered are kept until we delete them by hand.",
      "Messages held back as suspected spam are deleted automatically after 7 days.",
    ],
  ],
  [OWN_HOST, ["It makes no third-party requests"]],
  [OTHER_HOSTS, ["which sees your network address: api.a.example, b.example."], /third-party requests/],
  [
    { HOOK_URL: "https://crm.example.com/hook" },
    ["is also passed on to the system in which we keep our correspondence"],
    /crm\.example\.com/,
  ],
])("the privacy policy built with %j is true", async (env, says, neverSays) => {
  const { renderPath } = await loadRenderer(server);
  const policy = textOf((await renderPath("/privacy", contextOf(env))).replaceAll("<!-- -->", ""));
  for (const words of says) expect(policy).toContain(words);
  if (neverSays) expect(policy).not.toMatch(neverSays);
});

test("a bad variable stops the build with one clear line", async () => {
  setVariable("SITE_DIR", "tests");
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`left with ${code}`);
  });
  await expect(resolveConfig({ ...config, configFile: false }, "build")).rejects.toThrow("left with 1");
  expect(printed.mock.calls).toEqual([[expect.stringMatching(/^SITE_DIR has no site\.ts \(.+\); copy /)]]);
});

test("a folder outside the project replaces settings and pages; missing settings have the default", async () => {
  const own = {
    brand: "Solar Hill",
    policyFacts: { companyNumber: "123" },
    pricePerTonne: { amount: 25, currency: "EUR" },
    answerWithin: { amount: 2, unit: "working days" },
    social: [
      { network: "Facebook", href: null },
      { network: "LinkedIn", href: "/li" },
    ],
  };
  const folder = await makeSiteDir(own);
  await mkdir(join(folder, "pages"));
  await writeFile(join(folder, "pages/about.md"), "---\ntitle: About\ndescription: Us.\n---\n\nWho *we* are.\n");
  const renderer = await loadRenderer(await untilEnd(openVite()));
  const { site } = await readSettings(`${folder}/`);
  const { site: defaults } = await readSettings("app/");
  expect(site).toEqual({ ...defaults, ...own, policyFacts: { ...defaults.policyFacts, companyNumber: "123" } });
  const context = contextOf(process.env);
  expect(await renderer.renderPath("/about", context)).toMatch(/<title>About \| Solar Hill<.+Who <em>we<\/em> are\./s);
  const contact = await renderer.renderPath("/contact", context);
  // A network without an address is not shown.
  expect(contact).toContain('aria-label="LinkedIn"');
  expect(contact).not.toContain('aria-label="Facebook"');
  const settings = /data-settings="([^"]+)"/.exec(contact)?.[1]?.replaceAll("&quot;", '"') ?? "";
  expect(JSON.parse(settings)).toMatchObject({
    price: own.pricePerTonne,
    answerWithin: "2 working days",
    assurance: `We answer within 2 working days. Credits for a tonne cost 25 EUR. ${site.legalName}, company number 123.`,
    brand: "Solar Hill",
  });
  expect(unsetFacts(site, context.settings)).toContain(`governing law (policyFacts.governingLaw in ${folder}/site.ts)`);
});

test("a policy of the company takes the place of ours at its path, and no other name is a policy", async () => {
  const folder = await makeSiteDir({});
  await mkdir(join(folder, "policies"));
  const policy = "---\ntitle: Our refunds\ndescription: Money back.\n---\n\n## Always\n\nAsk {brand}.\n";
  await writeFile(join(folder, "policies/refunds.md"), policy);
  const { renderPath } = await loadRenderer(await untilEnd(openVite()));
  const page = await renderPath("/refund", contextOf(process.env));
  expect(page).toMatch(/<h1>Our refunds<.+>1\. Always<.+Ask Brighter Carbon\./s);
  expect(await renderPath("/terms", contextOf(process.env))).toContain("binding arbitration");
  await writeFile(join(folder, "policies/cookies.md"), policy);
  const { texts, problems } = await readTexts(`${folder}/`);
  expect(texts.flatMap(({ file }) => (file.startsWith(folder) ? file.slice(folder.length) : []))).toEqual([
    "/policies/refunds.md",
  ]);
  expect(problems).toMatchObject([
    { message: "There is no such policy. Name it privacy.md, terms.md, refunds.md, delivery.md." },
  ]);
});

test("the development server refuses what the build refuses", async () => {
  await makeSiteDir({ referencePrefix: "acme" });
  const http = createHttpServer((await untilEnd(openVite())).middlewares);
  onTestFinished(() => void http.close());
  const response = await fetch(`http://127.0.0.1:${await openPort(http)}/`);
  const problem = /site\.ts:1: "site\.referencePrefix" must be two to four capital letters/;
  const text = (await response.text()).replaceAll("&quot;", '"');
  expect([response.status, text]).toEqual([500, expect.stringMatching(problem)]);
});

test.each<[own: object, ...problems: string[]]>([
  [{}],
  [{ look: { displayFont: "display.woff2" }, heroPicture: { file: "dark.svg", alt: "Night." } }],
  [{ look: { displayFont: "serif.woff2" } }, '"site.look.displayFont" names no file ('],
  [{ look: { displayFont: "poster.jpg" } }, '"site.look.displayFont" is damaged, or is no WOFF2 file of one font ('],
  [{ look: { displayFont: "cut.woff2" } }, '"site.look.displayFont" is damaged, or is no WOFF2 file of one font ('],
  [{ heroPicture: { file: "none.jpg", alt: "A hill." } }, '"site.heroPicture.file" names no file ('],
  [{ heroPicture: { file: "poster.jpg", alt: "A hill." } }, '"site.heroPicture.file" is damaged, or is no picture ('],
  [{ heroPicture: { file: "white.svg", alt: "Snow." } }, '"site.heroPicture.file" is too bright behind the text: '],
])("the look %j has these problems", async (own, ...problems) => {
  const folder = await makeScratchFolder();
  await cp("app/media/display.woff2", join(folder, "display.woff2"));
  await writeFile(join(folder, "cut.woff2"), (await readFile("app/media/display.woff2")).subarray(0, 5000));
  await writeFile(join(folder, "poster.jpg"), (await readFile("app/media/poster.jpg")).subarray(0, 5000));
  for (const [name, colour] of Object.entries({ white: "#fff", dark: "#123" })) {
    const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><path d="M0 0h16v9H0Z" fill="${colour}"/></svg>`;
    await writeFile(join(folder, `${name}.svg`), picture);
  }
  await writeFile(join(folder, "site.ts"), `export const site = ${JSON.stringify(own)};`);
  const found = await lookProblems((await readSettings(`${folder}/`)).site, folder);
  expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
});

test.each([
  ["site = {\n\n  brand: 'X'\n  look: {},\n}", /site\.ts:4: Expected `,` or `}`.*app\/site\.ts/],
  ["site = {\n  brand: colour,\n}", /site\.ts:2: colour is not defined\. app\/site\.ts/],
  ["sites = {}", /site\.ts:1: It does not export "site"\. app\/site\.ts/],
])("names the line of a mistake in site.ts: %j", async (source, problem) => {
  const folder = await makeScratchFolder();
  await writeFile(join(folder, "site.ts"), `export const ${source};\n`);
  await expect(readSettings(`${folder}/`)).rejects.toThrow(problem);
});

test("names the line of each wrong setting", async () => {
  const folder = `${await makeScratchFolder()}/`;
  const own =
    "export const site = {\n  brand: ' ',\n  menu: [\n    { label: 'A' },\n    { label: 3 },\n  ],\n  colour: 1,\n};\n";
  await writeFile(join(folder, "site.ts"), own);
  const problems = await settingsProblems((await readSettings(folder)).site, folder);
  const lines = problems.map(({ line, message }) => `${line} ${/"[^"]+"/.exec(message)}`);
  expect(lines).toEqual(expect.arrayContaining(['2 "site.brand"', '5 "site.menu.1.label"', '7 "site"']));
});
