import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { CARBON_PATH } from "../app/components/carbon-figure.tsx";
import type { RenderedPage } from "../app/render.tsx";
import type { RenderContext } from "../app/screen.ts";
import {
  type BuildManifest,
  type BuiltFile,
  FAILURE_PAGE,
  MANIFEST_VERSION,
  manifestFile,
  NOT_FOUND_PAGE,
} from "../contract/build-manifest.ts";
import { programName } from "../contract/commands.ts";
import { CACHE_CONTROL, CONTENT_TYPE, NOTHING_POLICY, securityHeaders } from "../contract/response-headers.ts";
import { carbonJson, carbonText, weighSite, withFigure } from "./carbon.ts";
import { listOpen, readClaims } from "./claims.ts";
import { compressBeside } from "./compress.ts";
import { contentSecurityPolicy } from "./content-security-policy.ts";
import { electricityTable } from "./electricity.ts";
import { announcedPaths, findBrokenLinks } from "./links.ts";
import { lookFiles } from "./look.ts";
import { type FilePath, findPathProblems, type PageFiles, problemsError } from "./page-files.ts";
import { drawSocialCard } from "./pictures.ts";
import { refusal } from "./refusal.ts";
import { siteFolder } from "./site-dir.ts";
import { type OutputFile, technicalFiles } from "./technical-files.ts";
import type { SiteTexts } from "./texts.ts";

interface SiteBuild {
  renderer: typeof import("../app/render.tsx");
  context: RenderContext;
  pageFiles: PageFiles;
  texts: SiteTexts;
  outDir: string;
  /** Contains the assets that the pages import. */
  rendererDir: string;
  /** A draft may have open claims and files that nobody has signed. */
  isDraft: boolean;
}

/** Tasks before launch. */
interface OpenPoints {
  /** The policy facts and links that are unset. */
  unset: readonly string[];
  /** What stops a build that is no draft, as text. */
  open: string;
}

/** Writes every file of the site and the manifest that describes them. */
export async function writeSite(build: SiteBuild): Promise<OpenPoints> {
  const { renderer, context, pageFiles, texts, outDir, rendererDir, isDraft } = build;
  const { settings } = context;
  const { site } = renderer;
  const indexedPaths = renderer.ROUTES.flatMap(({ screen, paths }) => (screen.isIndexed ? paths[0] : []));
  const fixed = [
    ...(await emittedFiles(outDir, "assets")),
    ...(await emittedFiles(rendererDir, "assets")),
    ...(await emittedFiles(rendererDir, "media")),
    ...(await technicalFiles(settings, indexedPaths, site)),
  ];
  const { pages: compiled, paths, problems } = pageFiles;
  const pathProblems = findPathProblems(paths, renderer.SPECIFIED_PATHS);
  const isRefused = ({ file, path }: FilePath) =>
    !compiled.some((page) => page.path === path) || pathProblems.some((problem) => problem.file === file);
  const targets = {
    siteUrl: settings.siteUrl,
    filePaths: [...fixed.map(({ file }) => `/${file}`), "/carbon.json", "/carbon.txt"],
    refused: paths.filter(isRefused),
  };
  const draft = await renderer.renderSite(context);
  const refused = [...problems, ...texts.problems, ...pathProblems, ...(await findBrokenLinks(draft, targets))];
  if (refused.length > 0) throw problemsError(refused);

  const today = new Date().toISOString().slice(0, 10);
  const report = await readClaims({ site, siteDir: settings.siteDir, texts: texts.texts, today });
  const open = listOpen(report, programName(process.env));
  if (open !== "" && !isDraft) throw refusal(open);

  const contents = new Map(fixed.map(({ file, content }) => [`/${file}`, Buffer.from(content)]));
  const { pages, comingSoon, failure, carbon } = await weighSite(
    draft,
    (url) => contents.get(url),
    (weights) => renderer.renderCarbonPage({ ...context, weights }),
  );

  // The settings may name another film, or none.
  const used = new Set(pages.flatMap(({ fetches }) => fetches.flatMap(({ urls }) => urls)));
  const pageFile = (file: string, page: RenderedPage): OutputFile => ({
    file,
    content: page.html,
    policy: contentSecurityPolicy(page, settings),
  });
  const poster = (await lookFiles(site, siteFolder(settings.siteDir))).get("poster.jpg") ?? "app/media/poster.jpg";
  const outputs: OutputFile[] = [
    ...fixed.filter(({ file }) => !file.startsWith("media/") || used.has(`/${file}`)),
    // A folder with an index.html, which every static host serves at the folder's path.
    ...pages.flatMap((page) => page.paths.map((path) => pageFile(join(path.slice(1), "index.html"), page))),
    pageFile(NOT_FOUND_PAGE, comingSoon),
    pageFile(FAILURE_PAGE, failure),
    { file: renderer.SOCIAL_CARD.slice(1), content: await drawSocialCard(site.look, poster) },
    { file: "carbon.json", content: carbonJson(carbon) },
    { file: "carbon.txt", content: carbonText(settings.siteUrl, CARBON_PATH, new Date()) },
  ];
  const files = await Promise.all(outputs.map((output) => writeOutput(outDir, output)));

  const unset = renderer.unsetFacts(settings);
  const facts = renderer.factsOf(settings);
  const { brand, contactEmail, referencePrefix, pricePerTonne, answerWithin, mailSignature } = site;
  const form = await renderer.renderForm(context);
  const { grams } = carbon.find(({ page }) => page === "/contact") ?? { grams: 0 };
  const manifest: BuildManifest = {
    version: MANIFEST_VERSION,
    settings,
    site: {
      brand,
      contactEmail,
      referencePrefix,
      pricePerTonne,
      answerWithin,
      mailSignature,
      facts,
      mails: texts.mails,
    },
    unset,
    comingSoon: announcedPaths(draft),
    claims: { claims: report.claims, unsigned: report.unsigned.map(({ file }) => file) },
    electricity: electricityTable(),
    form: {
      ...form,
      pages: { sent: withFigure(form.pages.sent, grams), refused: withFigure(form.pages.refused, grams) },
    },
    files: files.sort((a, b) => (a.file < b.file ? -1 : 1)),
  };
  await writeFile(manifestFile(outDir), JSON.stringify(manifest, null, 1));
  await write(outDir, HEADERS_FILE, headersFile(manifest));
  return { unset, open };
}

/** The files that Vite wrote into a folder, each with a hash in its name. */
async function emittedFiles(dir: string, folder: "assets" | "media"): Promise<OutputFile[]> {
  const names = await readdir(join(dir, folder));
  return Promise.all(
    names.map(async (name) => ({ file: `${folder}/${name}`, content: await readFile(join(dir, folder, name)) })),
  );
}

/** Names that Vite gives to the files it emits. */
const HAS_HASH = /^(assets|media)\/[^/]+-[\w-]{8}\.\w+$/;

/** Writes a file, plain and compressed. */
async function writeOutput(outDir: string, { file, content, policy }: OutputFile): Promise<BuiltFile> {
  const contentType = CONTENT_TYPE[extname(file)];
  if (!contentType) throw new Error(`contract/response-headers.ts has no content type for ${file}; add its extension.`);
  const isCompressed = await writeCompressed(outDir, file, content);
  return {
    url: `/${file.replace(/(^|\/)index\.html$/, "")}`,
    file,
    contentType,
    isCompressed,
    cache: HAS_HASH.test(file) ? "immutable" : "revalidate",
    kind: file.endsWith(".html") ? "page" : "file",
    ...(policy && { policy }),
  };
}

async function writeCompressed(outDir: string, file: string, content: string | Uint8Array): Promise<boolean> {
  await write(outDir, file, content);
  return compressBeside(join(outDir, file), Buffer.from(content));
}

async function write(outDir: string, file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(outDir, file)), { recursive: true });
  await writeFile(join(outDir, file), content);
}

/** Netlify, Cloudflare Pages and similar hosts read this file. Neither they nor our server publish it. */
const HEADERS_FILE = "_headers";
const POLICY = "content-security-policy";

/**
 * Makes a static host send the same headers as our server. If two rules match a path, some hosts join the values and
 * others take the last one. So no header is in two rules that match the same path: headers that differ between files
 * are written for each file.
 */
function headersFile({ settings, files }: BuildManifest): string {
  const rule = (path: string, headers: object) => {
    const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
    return `${path}\n${lines.join("")}`;
  };
  const { [POLICY]: _, ...everywhere } = securityHeaders(settings.siteUrl);
  const ofFiles = files.flatMap(({ url, file, cache, policy = NOTHING_POLICY }) => {
    const isError = file === NOT_FOUND_PAGE || file === FAILURE_PAGE;
    const headers = {
      [POLICY]: policy,
      "cache-control": CACHE_CONTROL[cache],
      ...(isError && { "x-robots-tag": "noindex" }),
    };
    // Some hosts serve a folder's page at the folder's name, others at the name with a slash.
    const paths = file.endsWith("/index.html") ? [url, `${url}/`] : [url];
    return paths.map((path) => rule(path, headers));
  });
  return [rule("/*", everywhere), ...ofFiles].join("\n");
}
