import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type BuildManifest,
  type BuiltFile,
  COMING_SOON_PAGE,
  FAILURE_PAGE,
  publicDir,
} from "../../contract/build-manifest.ts";
import { CACHE_CONTROL, securityHeaders } from "../../contract/response-headers.ts";
import { errorCode, isSystemError } from "../errors.ts";
import { BuildMissing, readManifest } from "../manifest.ts";

export type Encoding = "br" | "gzip" | "identity";

interface Variant {
  body: Buffer;
  /** A strong tag, so each encoding has its own. */
  etag: string;
  /** All headers of a 200 as alternating names and values, the form that Node sends fastest. */
  headers: string[];
  unchangedHeaders: string[];
}

export interface ServedFile extends BuiltFile {
  variants: Readonly<Record<Encoding, Variant>>;
  isFilm: boolean;
}

export interface Build {
  dir: string;
  manifest: BuildManifest;
  files: ReadonlyMap<string, ServedFile>;
  contact: ServedFile;
  comingSoon: ServedFile;
  failure: ServedFile;
  headers: Readonly<Record<string, string>>;
}

/** Reads the whole build once, so that no request reads the disk. */
export function loadBuild(distDir: string): Build {
  const manifest = readManifest(distDir);
  const headers = securityHeaders(manifest.settings.siteUrl);
  try {
    const files = new Map(manifest.files.map((file) => [file.url, loadFile(distDir, file, headers)]));
    const pageNamed = (name: string): ServedFile => {
      const page = files.get(`/${name}`);
      if (!page) throw new BuildMissing({ problem: `The build in dist/ has no page ${name}`, command: "build" });
      return page;
    };
    const [contact, comingSoon, failure] = [pageNamed("contact"), pageNamed(COMING_SOON_PAGE), pageNamed(FAILURE_PAGE)];
    return { dir: distDir, manifest, files, headers, contact, comingSoon, failure };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const problem = `The build in dist/ is incomplete or does not match its manifest (${errorCode(error)})`;
    throw new BuildMissing({ problem, command: "build" }, { cause: error });
  }
}

function loadFile(distDir: string, file: BuiltFile, sharedHeaders: Build["headers"]): ServedFile {
  const path = join(publicDir(distDir), file.file);
  const identity = readFileSync(path);
  const hash = createHash("sha256").update(identity).digest("base64url").slice(0, 22);
  const isFilm = file.contentType.startsWith("video/");
  const unchangedHeaders = {
    ...sharedHeaders,
    "cache-control": CACHE_CONTROL[file.cache],
    ...(file.isCompressed && { vary: "accept-encoding" }),
    ...(file.policy && { "content-security-policy": file.policy }),
    ...(isFilm && { "accept-ranges": "bytes" }),
    // Coming Soon has status 200, but search engines must not list it.
    ...(file.file === COMING_SOON_PAGE && { "x-robots-tag": "noindex" }),
  };
  const variant = (body: Buffer, tagSuffix: string, encoding?: string): Variant => {
    const etag = `"${hash}${tagSuffix}"`;
    const headers = {
      ...unchangedHeaders,
      etag,
      "content-type": file.contentType,
      "content-length": String(body.length),
      ...(encoding && { "content-encoding": encoding }),
    };
    return {
      body,
      etag,
      headers: Object.entries(headers).flat(),
      unchangedHeaders: Object.entries({ ...unchangedHeaders, etag }).flat(),
    };
  };
  const plain = variant(identity, "");
  const compressed = (end: string, encoding: Encoding) =>
    file.isCompressed ? variant(readFileSync(`${path}.${end}`), `-${end}`, encoding) : plain;
  const variants = { identity: plain, br: compressed("br", "br"), gzip: compressed("gz", "gzip") };
  return { ...file, variants, isFilm };
}
