import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BuildManifest, type BuiltFile, MANIFEST_FILE, NOT_FOUND_PAGE } from "../../contract/build-manifest.ts";
import { CACHE_CONTROL, securityHeaders } from "../../contract/response-headers.ts";

export type Encoding = "br" | "gzip" | "identity";

export interface HeldVariant {
  body: Buffer;
  /** Strong, so each encoding has its own. */
  etag: string;
  /** All of the answer's headers, names and values in turn: the form that costs Node the least to send. */
  headers: string[];
  /** Those of a 304. */
  unchangedHeaders: string[];
}

/** A file of the build, ready to be sent. */
export interface HeldFile extends BuiltFile {
  variants: Readonly<Record<Encoding, HeldVariant>>;
  /** For visitors who save data, where that differs. */
  savingData: HeldFile | null;
}

/** A film: too large to hold, and asked for by ranges. */
export interface MediaFile extends BuiltFile {
  path: string;
  sizeBytes: number;
  etag: string;
}

export interface HeldSite {
  manifest: BuildManifest;
  files: ReadonlyMap<string, HeldFile>;
  media: ReadonlyMap<string, MediaFile>;
  /** What every answer carries, whatever it is about. */
  headers: Readonly<Record<string, string>>;
}

/** There is nothing to serve; the message says what to do. */
export class BuildMissing extends Error {
  override readonly name = "BuildMissing";
}

/** Reads a whole build once; from then on no request touches the disk but for films. */
export function holdSite(distDir: string): HeldSite {
  const manifest = readManifest(distDir);
  const headers = securityHeaders(manifest.settings.siteUrl);
  const files = new Map<string, HeldFile>();
  const media = new Map<string, MediaFile>();
  for (const file of manifest.files) {
    if (file.kind === "media") media.set(file.url, mediaFile(distDir, file));
    else files.set(file.url, heldFile(distDir, file, headers));
  }
  return { manifest, files, media, headers };
}

function readManifest(distDir: string): BuildManifest {
  try {
    return JSON.parse(readFileSync(join(distDir, MANIFEST_FILE), "utf8"));
  } catch {
    throw new BuildMissing("There is no build to serve in dist/; run: npm run build");
  }
}

function heldFile(distDir: string, file: BuiltFile, common: HeldSite["headers"]): HeldFile {
  const path = join(distDir, file.file);
  const identity = readFileSync(path);
  const hash = createHash("sha256").update(identity).digest("base64url").slice(0, 22);
  const unchangedHeaders = {
    ...common,
    "cache-control": CACHE_CONTROL[file.cache],
    ...(file.isCompressed && { vary: file.savingDataFile ? "accept-encoding, save-data" : "accept-encoding" }),
    ...(file.policy && { "content-security-policy": file.policy }),
    // Not an error, but nothing to be found by a search engine.
    ...(file.file === NOT_FOUND_PAGE && { "x-robots-tag": "noindex" }),
  };
  const variant = (body: Buffer, mark: string, encoding?: string): HeldVariant => {
    const etag = `"${hash}${mark}"`;
    const headers = {
      ...unchangedHeaders,
      etag,
      "content-type": file.contentType,
      "content-length": String(body.length),
      ...(encoding && { "content-encoding": encoding }),
    };
    return { body, etag, headers: listed(headers), unchangedHeaders: listed({ ...unchangedHeaders, etag }) };
  };
  const plain = variant(identity, "");
  const variants = file.isCompressed
    ? {
        identity: plain,
        br: variant(readFileSync(`${path}.br`), "-br", "br"),
        gzip: variant(readFileSync(`${path}.gz`), "-gz", "gzip"),
      }
    : { identity: plain, br: plain, gzip: plain };
  const light = file.savingDataFile;
  const savingData = light && file.file !== light ? heldFile(distDir, { ...file, file: light }, common) : null;
  return { ...file, variants, savingData };
}

function listed(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}

/** Its name holds a hash of its content, which therefore serves as its tag. */
function mediaFile(distDir: string, file: BuiltFile): MediaFile {
  const path = join(distDir, file.file);
  return { ...file, path, sizeBytes: statSync(path).size, etag: `"${file.file.replaceAll(/[^\w.-]/g, "-")}"` };
}
