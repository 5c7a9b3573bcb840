import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RenderContext } from "../app/screen.ts";
import { type BuildManifest, MANIFEST_VERSION, manifestFile } from "../contract/build-manifest.ts";
import { programName } from "../contract/commands.ts";
import { NEXT_FACTORS_DUE } from "../contract/footprint/factors.ts";
import { carbonJson, carbonText, weighSite, withFigure } from "./carbon.ts";
import { listOpen, readClaims } from "./claims.ts";
import { announcedPaths, findBrokenLinks } from "./links.ts";
import { contentSecurityPolicy, HEADERS_FILE, headersFile, type OutputFile, writeOutput } from "./output.ts";
import { drawSocialCard, lookFiles } from "./pictures.ts";
import { problemsError, refusal, settingStrings, siteFolder } from "./site-dir.ts";
import { technicalFiles } from "./technical-files.ts";
import { findPathProblems, type SiteTexts } from "./texts.ts";

interface SiteBuild {
  renderer: typeof import("../app/render.tsx");
  context: RenderContext;
  texts: SiteTexts;
  /** What Vite made for browsers, each with a hash in its name. */
  emitted: readonly OutputFile[];
  outDir: string;
  isDraft: boolean;
}

export async function writeSite({ renderer, context, texts, emitted, outDir, isDraft }: SiteBuild): Promise<void> {
  const { settings } = context;
  const { site, ROUTES, SPECIFIED_PATHS } = renderer;
  const indexedPaths = ROUTES.flatMap(({ screen, paths }) => (screen.isIndexed ? paths[0] : []));
  const fixed = [...emitted, ...(await technicalFiles(settings, indexedPaths, site))];
  const strings = await settingStrings(site, settings.siteDir);
  const pagePaths = ROUTES.map(({ paths }) => paths);
  const filePaths = [...fixed.map(({ file }) => `/${file}`), "/carbon.json", "/carbon.txt"];
  const taken = findPathProblems(texts.pages, SPECIFIED_PATHS);
  const targets = { settings, pages: pagePaths, filePaths, taken };
  const problems = [...texts.problems, ...taken, ...findBrokenLinks(texts.texts, strings, targets)];
  if (problems.length > 0) throw problemsError(problems);

  const report = await readClaims({ site, siteDir: settings.siteDir, texts: texts.texts });
  const open = listOpen(report, programName(process.env));
  if (open !== "" && !isDraft) throw refusal(open);

  const contents = new Map(fixed.map(({ file, content }) => [`/${file}`, Buffer.from(content)]));
  const weighed = await weighSite(
    await renderer.renderSite(context),
    (url) => contents.get(url),
    (weights) => renderer.renderCarbonPage({ ...context, weights }),
  );

  const carbon = weighed.flatMap((one) => one.carbon);
  // The settings may name another film, or none.
  const used = new Set(weighed.flatMap(({ page }) => page.fetches.flatMap(({ urls }) => urls)));
  const poster = (await lookFiles(site, siteFolder(settings.siteDir))).get("poster.jpg") ?? "app/media/poster.jpg";
  const outputs: OutputFile[] = [
    ...fixed.filter(({ file }) => !file.startsWith("media/") || used.has(`/${file}`)),
    ...weighed.flatMap(({ page }) => {
      const policy = contentSecurityPolicy(page, settings);
      return page.files.map((file) => ({ file, content: page.html, policy }));
    }),
    { file: renderer.SOCIAL_CARD.slice(1), content: await drawSocialCard(site.look, poster) },
    { file: "carbon.json", content: carbonJson(carbon) },
    { file: "carbon.txt", content: carbonText(settings.siteUrl, new Date()) },
  ];
  const files = await Promise.all(outputs.map((output) => writeOutput(outDir, output)));

  const unset = renderer.unsetFacts(settings);
  const form = await renderer.renderAnswerPages(context);
  const { grams } = carbon.find(({ page }) => page === "/contact") ?? { grams: 0 };
  const manifest: BuildManifest = {
    version: MANIFEST_VERSION,
    settings,
    site: {
      brand: site.brand,
      contactEmail: site.contactEmail,
      referencePrefix: site.referencePrefix,
      pricePerTonne: site.pricePerTonne,
      answerWithin: site.answerWithin,
      mailSignature: site.mailSignature,
      facts: renderer.factTexts(settings),
      mails: texts.mails,
    },
    unset,
    comingSoon: announcedPaths(strings, pagePaths),
    claims: { claims: report.claims, unsigned: report.unsigned.map(({ file }) => file) },
    form: {
      ...form,
      pages: { sent: withFigure(form.pages.sent, grams), refused: withFigure(form.pages.refused, grams) },
    },
    files: files.sort((a, b) => (a.file < b.file ? -1 : 1)),
  };
  await writeFile(manifestFile(outDir), JSON.stringify(manifest, null, 1));
  await writeFile(join(outDir, HEADERS_FILE), headersFile(manifest));
  if (unset.length > 0 && !isDraft)
    console.log(`To do before launch, shown as placeholders until then:\n  ${unset.join("\n  ")}`);
  if (open !== "") console.log(open);
  if (Date.now() >= Date.parse(NEXT_FACTORS_DUE)) {
    console.log("New factors for the footprint estimate are due: a developer follows contract/footprint/factors.ts.");
  }
}
