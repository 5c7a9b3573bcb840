import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import { CARBON_PATH } from "../app/carbon-path.ts";
import { unsetFacts } from "../app/policies/facts.tsx";
import type { RenderContext } from "../app/render-context.ts";
import { site } from "../app/site.ts";
import { socialCardPath } from "../app/social-card-path.ts";
import {
  type BuildManifest,
  type BuiltFile,
  FAILURE_PAGE,
  MANIFEST_FILE,
  NOT_FOUND_PAGE,
} from "../contract/build-manifest.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import { carbonJson, carbonText } from "./carbon.ts";
import { compressBeside } from "./compress.ts";
import { contentSecurityPolicy, drawingSecurityPolicy } from "./content-security-policy.ts";
import { HEADERS_FILE, headersFile } from "./headers-file.ts";
import { renderWeighed } from "./render-weighed.ts";
import type { Renderer } from "./site-plugin.ts";
import { drawSocialCard } from "./social-cards.ts";
import { technicalFiles } from "./technical-files.ts";

interface SiteBuild {
  renderer: Renderer;
  context: RenderContext;
  outDir: string;
  /** Holds the assets that the renderer's own build emitted. */
  rendererDir: string;
}

const CONTENT_TYPE: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".ico": "image/x-icon",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".woff2": "font/woff2",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
};

/** As Vite names what it emits. */
const HAS_HASH = /^(assets|media)\/[^/]+-[\w-]{8}\.\w+$/;

/** Writes every file of the site and the manifest that describes them; returns the policy facts that are unset. */
export async function writeSite({ renderer, context, outDir, rendererDir }: SiteBuild): Promise<string[]> {
  const { settings } = context;
  for (const folder of ["assets", "media"])
    await cp(join(rendererDir, folder), join(outDir, folder), { recursive: true });
  const indexedPaths = renderer.ROUTES.flatMap(({ screen, paths }) => (screen.isIndexed ? paths[0] : []));
  for (const [file, content] of await technicalFiles(settings, indexedPaths)) await write(outDir, file, content);

  const { pages, comingSoon, failure, carbon } = await renderWeighed(renderer, context, outDir);
  for (const { paths, headline, html } of pages) {
    for (const path of paths) await writePage(outDir, pageFile(path), html);
    await write(outDir, socialCardPath(paths[0] ?? "/"), await drawSocialCard(headline));
  }
  // The settings may name another film than the project's, or none.
  for (const film of await readdir(join(outDir, "media")))
    if (!pages.some(({ html }) => html.includes(film))) await rm(join(outDir, "media", film));
  await write(outDir, NOT_FOUND_PAGE, comingSoon.html);
  await write(outDir, FAILURE_PAGE, failure.html);
  await write(outDir, "carbon.json", carbonJson(carbon));
  await write(outDir, "carbon.txt", carbonText(settings.siteUrl, CARBON_PATH, new Date()));

  const names = (await readdir(outDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(outDir, join(entry.parentPath, entry.name)))
    .filter((name) => !join(outDir, name).startsWith(rendererDir));
  const files: BuiltFile[] = [];
  for (const name of names.sort()) {
    const file = await builtFile(outDir, name, settings);
    const light = savingDataFile(name);
    if (light !== name && names.includes(light)) file.savingDataFile = light;
    if (!name.endsWith(".save-data.html")) files.push(file);
  }

  const unset = unsetFacts(settings);
  const { brand, contactEmail, referencePrefix } = site;
  const identity = { brand, contactEmail, referencePrefix };
  const manifest: BuildManifest = { settings, site: identity, unset, files };
  await write(outDir, MANIFEST_FILE, JSON.stringify(manifest, null, 1));
  await write(outDir, HEADERS_FILE, headersFile(manifest));
  return unset;
}

/** A folder with an index, the one form that every static host understands. */
function pageFile(path: string): string {
  return join(path.slice(1), "index.html");
}

/** Without script a page cannot ask whether its visitor saves data, so who says so gets it without the film. */
async function writePage(outDir: string, file: string, html: string): Promise<void> {
  await write(outDir, file, html);
  const light = html.replace(/<noscript><video[\s\S]*?<\/noscript>/, "");
  if (light !== html) await write(outDir, savingDataFile(file), light);
}

function savingDataFile(pageFile: string): string {
  return pageFile.replace(/\.html$/, ".save-data.html");
}

async function write(outDir: string, file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(outDir, file)), { recursive: true });
  await writeFile(join(outDir, file), content);
}

async function builtFile(outDir: string, file: string, settings: BuildSettings): Promise<BuiltFile> {
  const extension = extname(file);
  const contentType = CONTENT_TYPE[extension];
  if (!contentType) throw new Error(`prerender/write-site.ts knows no content type for ${file}; add its extension.`);
  const content = await readFile(join(outDir, file));
  const isPage = extension === ".html";
  return {
    url: `/${file.replace(/(^|\/)index\.html$/, "")}`,
    file,
    contentType,
    isCompressed: await compressBeside(join(outDir, file), content),
    cache: HAS_HASH.test(file) ? "immutable" : "revalidate",
    kind: file.startsWith("media/") ? "media" : isPage ? "page" : "file",
    ...(isPage && { policy: contentSecurityPolicy(String(content), settings, site.heroFilm) }),
    ...(extension === ".svg" && { policy: drawingSecurityPolicy(String(content)) }),
  };
}
