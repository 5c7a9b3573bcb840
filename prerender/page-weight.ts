import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliSize, isCompressible } from "./compress.ts";

export interface FetchedFile {
  url: string;
  bytes: number;
  kind: "page" | "script" | "font" | "picture" | "film" | "data";
}

/** The headers of one answer, about. */
const HEADER_BYTES = 850;

/** What is fetched for a first view, by where the page names it. Browsers take the first form of a picture or film. */
const NAMED_BY: readonly [FetchedFile["kind"], RegExp][] = [
  ["font", /<link rel="preload" href="([^"]+)" as="font"/],
  ["picture", /<link rel="icon" href="([^"]+)" type="image\/svg\+xml"/],
  ["picture", /<picture><source type="image\/avif" srcset="([^"]+)"/i],
  ["script", /import\("([^"]+)"\)/],
  ["data", /<link rel="manifest" href="([^"]+)"/],
  ["data", /data-countries-url="([^"]+)"/],
  ["film", /<source data-src="([^"]+)"/],
];

/**
 * Every file that a browser receives on a first visit to a page, with its bytes as they travel. Files from other origins
 * are left out, since their sizes are not known here.
 */
export async function weighPage(path: string, html: string, outDir: string): Promise<FetchedFile[]> {
  const files: FetchedFile[] = [
    { url: path, kind: "page", bytes: (await brotliSize(Buffer.from(html))) + HEADER_BYTES },
  ];
  for (const [kind, pattern] of NAMED_BY) {
    const url = pattern.exec(html)?.[1];
    if (!url?.startsWith("/")) continue;
    const content = readFileSync(join(outDir, url));
    const bytes = isCompressible(url) ? await brotliSize(content) : content.length;
    files.push({ url, kind, bytes: bytes + HEADER_BYTES });
  }
  return files;
}

export function totalBytes(files: readonly FetchedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
