import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { factTexts, unsetFacts } from "../app/facts.ts";
import type { RenderedPage } from "../app/render.tsx";
import type { RenderContext } from "../app/screen.ts";
import { type BuildManifest, MANIFEST_VERSION, manifestFile, publicDir } from "../contract/build-manifest.ts";
import { programName } from "../contract/commands.ts";
import { NEXT_FACTORS_DUE } from "../contract/footprint/factors.ts";
import { carbonJson, carbonText, weighPages, weightProblems, weightsOf } from "./carbon.ts";
import { listOpen, readClaims } from "./claims.ts";
import { announcedPaths, findBrokenLinks } from "./links.ts";
import { contentSecurityPolicy, HEADERS_FILE, headersFile, type OutputFile, writeOutput } from "./output.ts";
import { lookFiles } from "./pictures.ts";
import { type CompanySettings, problemsError, refusal, settingStrings, siteFolder } from "./site-dir.ts";
import { createSocialCards } from "./social-card.ts";
import { technicalFiles } from "./technical-files.ts";
import { findPathProblems, type SiteTexts } from "./texts.ts";

interface SiteBuild {
  renderer: typeof import("../app/render.tsx");
  context: RenderContext;
  company: CompanySettings;
  texts: SiteTexts;
  /** What Vite made for browsers, each with a hash in its name. */
  emitted: readonly OutputFile[];
  distDir: string;
  isDraft: boolean;
}

export async function writeSite(build: SiteBuild): Promise<void> {
  const { renderer, context, company, texts, emitted, distDir, isDraft } = build;
  const { settings } = context;
  const { site } = company;
  const { ROUTES, SPECIFIED_PATHS } = renderer;
  const indexedPaths = ROUTES.flatMap(({ screen, paths }) => (screen.isIndexed ? paths[0] : []));
  const fixed = [...emitted, ...(await technicalFiles(settings, indexedPaths, site))];
  const strings = await settingStrings(site, settings.siteDir);
  const pagePaths = ROUTES.map(({ paths }) => paths);
  const filePaths = [...fixed.map(({ file }) => `/${file}`), "/carbon.json", "/carbon.txt"];
  const taken = findPathProblems(texts.pages, SPECIFIED_PATHS);
  const targets = { settings, pages: pagePaths, filePaths, taken };
  const problems = [...texts.problems, ...taken, ...findBrokenLinks(texts.texts, strings, targets)];
  if (problems.length > 0) throw problemsError(problems);

  const report = await readClaims({ ...company, siteDir: settings.siteDir, texts: texts.texts });
  const open = listOpen(report, programName(process.env));
  if (open !== "" && !isDraft) throw refusal(open);

  const contents = new Map(fixed.map(({ file, content }) => [`/${file}`, Buffer.from(content)]));
  const weigh = (pages: readonly RenderedPage[]) => weighPages(pages, (url) => contents.get(url));
  const others = await weigh(await renderer.renderPages(context));
  const carbonPage = await renderer.renderCarbonPage({ ...context, weights: weightsOf(others) });
  const weighed = [...others, ...(await weigh([carbonPage]))];
  const heavy = weightProblems(weighed);
  if (heavy.length > 0) throw problemsError(heavy);

  // Renders each page again with its figure, which changes its weight by a few bytes.
  const final = { ...context, weights: weightsOf(weighed) };
  const pages = [...(await renderer.renderPages(final)), await renderer.renderCarbonPage(final)];
  const carbon = weighed.flatMap(({ views }) => views);
  // The settings may name another film, or none.
  const used = new Set(pages.flatMap(({ fetches }) => fetches.flatMap(({ urls }) => urls)));
  const media = await lookFiles(site, siteFolder(settings.siteDir));
  const mediaFile = (name: string) => media.get(name) ?? `app/media/${name}`;
  const draw = await createSocialCards(site, {
    poster: mediaFile("poster.jpg"),
    displayFont: mediaFile("display.woff2"),
  });
  const cards = pages
    .filter(({ name }) => name.startsWith("/"))
    .map(async ({ name, headline }) => ({ file: renderer.socialCard(name).slice(1), content: await draw(headline) }));
  const outputs: OutputFile[] = [
    ...fixed.filter(({ file }) => !file.startsWith("media/") || used.has(`/${file}`)),
    ...pages.flatMap((page) => {
      const policy = contentSecurityPolicy(page, settings);
      return page.files.map((file) => ({ file, content: page.html, policy }));
    }),
    ...(await Promise.all(cards)),
    { file: "carbon.json", content: carbonJson(carbon) },
    { file: "carbon.txt", content: carbonText(settings.siteUrl, renderer.CARBON_PATH, new Date()) },
  ];
  const files = await Promise.all(outputs.map((output) => writeOutput(distDir, output)));

  const unset = unsetFacts(site, settings);
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
      facts: factTexts(site, settings),
      mails: texts.mails,
    },
    unset,
    comingSoon: announcedPaths(strings, pagePaths),
    claims: {
      claims: report.claims,
      unsigned: report.unsigned.map(({ file }) => file),
      policies: report.policies,
    },
    form: await renderer.renderAnswerPages(final),
    files: files.sort((a, b) => (a.file < b.file ? -1 : 1)),
  };
  await writeFile(manifestFile(distDir), JSON.stringify(manifest, null, 1));
  await writeFile(join(publicDir(distDir), HEADERS_FILE), headersFile(manifest));
  if (unset.length > 0 && !isDraft)
    console.log(`To do before launch, shown as placeholders until then:\n  ${unset.join("\n  ")}`);
  if (open !== "") console.log(open);
  if (Date.now() >= Date.parse(NEXT_FACTORS_DUE)) {
    console.log("New factors for the footprint estimate are due: a developer follows contract/footprint/factors.ts.");
  }
}
