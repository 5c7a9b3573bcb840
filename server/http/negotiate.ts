import type { Encoding } from "./build-files.ts";

/** Longer lists than any browser sends are read up to here. */
const MAX_LIST_LENGTH = 300;
/** Browsers send only a few different values. */
const MAX_CACHED = 50;
const cache = new Map<string, Encoding>();

/** The best encoding that the client accepts: brotli, then gzip, then none. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return "identity";
  const cached = cache.get(acceptEncoding);
  if (cached) return cached;
  const encoding = accepts(acceptEncoding, "br") ? "br" : accepts(acceptEncoding, "gzip") ? "gzip" : "identity";
  if (cache.size < MAX_CACHED) cache.set(acceptEncoding, encoding);
  return encoding;
}

function accepts(header: string, coding: string): boolean {
  return items(header).some((part) => {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  });
}

function items(header: string): string[] {
  return header.slice(0, MAX_LIST_LENGTH).split(",");
}

/** Whether the client already has the version that the tag names. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  return items(ifNoneMatch).some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** `start` and `end` are both included. */
type RangeAnswer = { kind: "all" } | { kind: "part"; start: number; end: number } | { kind: "unsatisfiable" };

/** Reads a `Range` header. Several ranges at once, or another unit, get the whole file, which the standard allows. */
export function chooseRange(range: string | undefined, sizeBytes: number): RangeAnswer {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return { kind: "all" };
  const start = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return { kind: "all" };
  return start >= sizeBytes || (first === "" && Number(last) === 0)
    ? { kind: "unsatisfiable" }
    : { kind: "part", start, end };
}
