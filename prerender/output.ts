import { createHash, hash } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { RenderedPage } from "../app/render.tsx";
import {
  type BuildManifest,
  type BuiltFile,
  COMING_SOON_PAGE,
  FAILURE_PAGE,
  publicDir,
} from "../contract/build-manifest.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import { CACHE_CONTROL, CONTENT_TYPE, NOTHING_POLICY, securityHeaders } from "../contract/response-headers.ts";

/**
 * Moves what `buildDraft` writes into `draftDir`, a folder in `distDir`, to `distDir` when it is complete. Removes what a
 * killed build has left.
 */
export async function replaceWhenBuilt(
  distDir: string,
  draftDir: string,
  buildDraft: () => Promise<void>,
): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  try {
    await remove(draftDir);
    await buildDraft();
    for (const part of await readdir(draftDir)) {
      await remove(join(distDir, part));
      await rename(join(draftDir, part), join(distDir, part));
    }
  } finally {
    await remove(draftDir);
  }
}

export interface OutputFile {
  file: string;
  content: string | Uint8Array;
  policy?: string;
}

/** Names that Vite gives to the files it emits. */
const HAS_HASH = /^(assets|media)\/[^/]+-[\w-]{8}\.\w+$/;

export async function writeOutput(distDir: string, { file, content, policy }: OutputFile): Promise<BuiltFile> {
  const contentType = CONTENT_TYPE[extname(file)];
  if (!contentType) throw new Error(`contract/response-headers.ts has no content type for ${file}; add its extension.`);
  const path = join(publicDir(distDir), file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return {
    url: `/${file.replace(/(^|\/)index\.html$/, "")}`,
    file,
    contentType,
    isCompressed: await compressBeside(path, Buffer.from(content)),
    cache: HAS_HASH.test(file) ? "immutable" : "revalidate",
    ...(policy && { policy }),
  };
}

const TEXT = [".html", ".js", ".json", ".txt", ".xml", ".webmanifest", ".svg", ".ico"];

/** Writes `.br` and `.gz` variants beside a text file if they are smaller. Resolves to true if it wrote them. */
export async function compressBeside(path: string, content: Buffer): Promise<boolean> {
  if (!TEXT.includes(extname(path))) return false;
  const [brotli, gzipped] = await Promise.all([brotliOf(content), promisify(gzip)(content, { level: 9 })]);
  if (Math.max(brotli.length, gzipped.length) >= content.length) return false;
  await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzipped)]);
  return true;
}

export async function transferSize(url: string, content: Buffer): Promise<number> {
  return TEXT.includes(extname(url)) ? (await brotliOf(content)).length : content.length;
}

const compressed = new Map<string, Promise<Buffer>>();

/** Compresses each content only once: the build weighs pages before it writes them, and aliases share a page. */
function brotliOf(content: Buffer): Promise<Buffer> {
  const key = hash("sha256", content);
  const known = compressed.get(key);
  if (known) return known;
  const result = promisify(brotliCompress)(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  compressed.set(key, result);
  return result;
}

/** Allows only the origins in the settings, and inline styles and scripts only by their hashes. */
export function contentSecurityPolicy(
  { inlineStyles, inlineScripts, fetches }: Pick<RenderedPage, "inlineStyles" | "inlineScripts" | "fetches">,
  settings: BuildSettings,
): string {
  const films = fetches.filter(({ kind }) => kind === "film").flatMap(({ urls }) => urls);
  const directives: Readonly<Record<string, readonly string[]>> = {
    "default-src": ["'none'"],
    "script-src": ["'self'", ...inlineScripts.map(hashSource)],
    "style-src": inlineStyles.map(hashSource),
    "img-src": ["'self'"],
    "font-src": ["'self'"],
    "media-src": ["'self'", ...films.map(originOf)],
    "manifest-src": ["'self'"],
    "connect-src": ["'self'", originOf(settings.apiBase), originOf(settings.countriesUrl)],
    "form-action": ["'self'", originOf(settings.apiBase)],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${[...new Set(sources)].filter(Boolean).join(" ")}`)
    .join("; ");
}

/** Some browsers apply an SVG's policy even to a picture, so the policy must allow the SVG's own style. */
export function svgSecurityPolicy(inlineStyle: string): string {
  return `${NOTHING_POLICY}; style-src ${hashSource(inlineStyle)}`;
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Empty for a path on this site. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "";
}

/** Netlify, Cloudflare Pages and similar hosts read this file. Neither they nor our server publish it. */
export const HEADERS_FILE = "_headers";
const POLICY = "content-security-policy";

/**
 * Makes a static host send the same headers as our server. If two rules match a path, some hosts join the values and
 * others take the last one. So no header is in two rules that match the same path: headers that differ between files
 * are written for each file.
 */
export function headersFile({ settings, files }: BuildManifest): string {
  const rule = (path: string, headers: object) => {
    const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
    return `${path}\n${lines.join("")}`;
  };
  const { [POLICY]: _, ...everywhere } = securityHeaders(settings.siteUrl);
  const ofFiles = files.flatMap(({ url, file, cache, policy = NOTHING_POLICY }) => {
    const isError = file === COMING_SOON_PAGE || file === FAILURE_PAGE;
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
