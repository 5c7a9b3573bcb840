import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createServer, isRunnableDevEnvironment, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { RenderedSite } from "../../app/render.tsx";
import type { RenderContext } from "../../app/screen.ts";
import { parseBuildSettings } from "../../contract/build-settings.ts";
import config from "../../vite.config.ts";
import { readPageFiles } from "../page-files.ts";
import { writeSite } from "../write-site.ts";
import { checkClaims, hasErrors, reportText } from "./check.ts";
import { checkSiteClaims, siteTexts } from "./site-claims.ts";

type Renderer = typeof import("../../app/render.tsx");

const CONTEXT: RenderContext = {
  settings: parseBuildSettings({}).settings,
  scripts: { film: { code: "" }, contact: { url: "/contact.js" } },
  electricityUrl: "/electricity.json",
  isSavingData: false,
};

let server: ViteDevServer;
let renderer: Renderer;
let rendered: RenderedSite;
beforeAll(async () => {
  const options = { middlewareMode: true, ws: false, watch: null } as const;
  server = await createServer({ ...config, configFile: false, logLevel: "warn", server: options });
  const { ssr } = server.environments;
  if (!isRunnableDevEnvironment(ssr)) throw new Error("Vite's ssr environment cannot run modules.");
  renderer = await ssr.runner.import<Renderer>("/app/render.tsx");
  rendered = await renderer.renderSite(CONTEXT);
});
afterAll(() => server.close());

/** The site after somebody has changed a few words of the home page. */
function withHomeChanged(site: RenderedSite, from: string, to: string): RenderedSite {
  const pages = site.pages.map((page) => (page.name === "/" ? { ...page, html: page.html.replace(from, to) } : page));
  expect(pages).not.toEqual(site.pages);
  return { ...site, pages };
}

test("our own words raise neither an error nor a warning", async () => {
  const report = await checkSiteClaims(rendered);
  expect(report.findings).toEqual([]);
  expect(reportText(report)).toContain("found 0 errors and 0 warnings.");
});

test("every page is read with its title, description, labels and social card, and so are form, settings and mails", () => {
  const texts = new Map(
    siteTexts(rendered).map(({ name, blocks }) => [name, blocks.map(({ part, text }) => `${part}: ${text.trim()}`)]),
  );
  const paths = renderer.ROUTES.map((route) => route.paths[0]);
  expect([...texts.keys()]).toEqual([...paths, "coming-soon", "error", "contact form", "settings", "mail to the team"]);
  for (const words of [
    "title: Brighter Carbon: Carbon Offsetting Made Easy",
    "description: Accelerate your path to net zero. First light over hills with wind turbines and solar panels.",
    "text: Hide film",
    "label: Brighter Carbon, home",
    "social card: Accelerate your path to net zero",
    "social card: Carbon Offsetting Made Easy",
  ])
    expect(texts.get("/")).toContain(words);
  expect(texts.get("coming-soon")).toContain("text: Something amazing is on the way! Stay tuned.");
  expect(texts.get("error")).toContain("text: 500 Internal Server Error");
  expect(texts.get("contact form")).toContain(
    "text: Your reference is 0. We will answer by e-mail. Your estimate went with it: about 0 kg CO2e a year.",
  );
  expect(texts.get("contact form")).toContain(
    "text: Nothing you typed is lost. Please check your connection and press Submit again.",
  );
  expect(texts.get("contact form")).toContain("text: Enter your name.");
  expect(texts.get("settings")).toContain("contactTagline: Carbon Offsetting for a Brighter Future");
  expect(texts.get("settings")).toContain("acknowledgement.body: Thank you for writing to {brand}.");
  expect(texts.get("settings")?.join()).not.toContain("/privacy");
  expect(texts.get("mail to the team")?.join()).toContain(
    "A visitor wrote through the contact form of Brighter Carbon.",
  );
});

test("a claim that only visitors who save data see is found", async () => {
  const [home, ...others] = rendered.pages;
  if (!home) throw new Error("There is no home page.");
  const pages = [{ ...home, saveDataHtml: "<p>We are carbon neutral.</p>" }, ...others];
  expect(hasErrors(checkClaims(siteTexts({ ...rendered, pages }), [], new Date(), []))).toBe(true);
});

test("a sentence about the brand is about us", async () => {
  const claim = "The world knows that Brighter Carbon is climate neutral.";
  const report = await checkSiteClaims({ ...rendered, formAlerts: `<p>${claim}</p>` });
  expect(report.findings.map(({ sentence }) => sentence)).toEqual([claim]);
});

test("a changed word on the home page stops the build, before anything is written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "claims-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ["assets", "media"]) await mkdir(join(folder, name));
  const changed: Renderer = {
    ...renderer,
    renderSite: async (context) =>
      withHomeChanged(await renderer.renderSite(context), "Credits do not make you", "Credits make you"),
  };
  const pageFiles = await readPageFiles("app/pages");
  const build = writeSite({ renderer: changed, context: CONTEXT, pageFiles, outDir: folder, rendererDir: folder });
  await expect(build).rejects.toThrow(
    /^error in \/ \(text\): Credits make you or a product carbon neutral: they pay .*rule 1, neutral claim: .*found 1 error and 0 warnings\.\ndocs\/claims\.md says what to do\.$/s,
  );
  expect(await readdir(folder)).toEqual(["assets", "media"]);
});

test("a warning does not stop it", () => {
  const changed = withHomeChanged(rendered, "renewable power projects", "clean power projects");
  const report = checkClaims(siteTexts(changed), [], new Date(), []);
  expect(report.findings.map(({ rule }) => rule.number)).toEqual([2]);
  expect(hasErrors(report)).toBe(false);
});

test("npm run claims says what it looked for and found", { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/claims.ts"]);
  expect(stdout).toMatch(/^Looked for:\n {2}1\. .+\n {2}7\. .+found 0 errors and 0 warnings\.\n[^\n]*no legal advice/s);
});
