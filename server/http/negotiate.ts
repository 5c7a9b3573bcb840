import type { Encoding } from "./build-files.ts";

/** Longer lists are cut here. Browsers send shorter ones. */
const MAX_LIST_LENGTH = 300;

/** The best encoding that the client accepts: brotli, then gzip, then none. */
export function chooseEncoding(acceptEncoding = ""): Encoding {
  const list = acceptEncoding.slice(0, MAX_LIST_LENGTH);
  return accepts(list, "br") ? "br" : accepts(list, "gzip") ? "gzip" : "identity";
}

function accepts(list: string, coding: string): boolean {
  return list.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  });
}

/** Whether the client already has the version that the tag names. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  const tags = ifNoneMatch.slice(0, MAX_LIST_LENGTH).split(",");
  return tags.some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

/** `start` and `end` are both included. */
type RangeAnswer = { kind: "all" } | { kind: "part"; start: number; end: number } | { kind: "unsatisfiable" };

/** Reads a `Range` header. For several ranges or another unit, returns the whole file, as the standard allows. */
export function chooseRange(range = "", sizeBytes: number): RangeAnswer {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.slice(0, MAX_LIST_LENGTH).trim()) ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return { kind: "all" };
  const start = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return { kind: "all" };
  return start >= sizeBytes || (first === "" && Number(last) === 0)
    ? { kind: "unsatisfiable" }
    : { kind: "part", start, end };
}
