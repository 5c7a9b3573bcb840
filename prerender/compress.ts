import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const TEXT = [".html", ".js", ".json", ".txt", ".xml", ".webmanifest", ".svg", ".ico"];

export function isCompressible(path: string): boolean {
  return TEXT.includes(extname(path));
}

/** Writes `.br` and `.gz` variants beside a text file if they are smaller. Resolves to true if it wrote them. */
export async function compressBeside(path: string, content: Buffer): Promise<boolean> {
  if (!isCompressible(path)) return false;
  const [brotli, gzipped] = await Promise.all([brotliOf(content), promisify(gzip)(content, { level: 9 })]);
  if (Math.max(brotli.length, gzipped.length) >= content.length) return false;
  await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzipped)]);
  return true;
}

/** The transfer size of a text. */
export async function brotliSize(content: Buffer): Promise<number> {
  return (await brotliOf(content)).length;
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
