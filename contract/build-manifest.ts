import type { BuildSettings } from "./build-settings.ts";
import type { CACHE_CONTROL } from "./response-headers.ts";

/** `dist/.build.json`: all that the server knows of the pages it serves. */
export interface BuildManifest {
  settings: BuildSettings;
  site: SiteIdentity;
  /** Policy facts still shown as placeholders: to be set before launch. */
  unset: string[];
  files: BuiltFile[];
}

export interface SiteIdentity {
  brand: string;
  contactEmail: string;
  /** The letters every message reference starts with. */
  referencePrefix: string;
}

export interface BuiltFile {
  /** The decoded path that asks for it, without a trailing slash. */
  url: string;
  /** Its place in `dist/`, where `.br` and `.gz` variants lie beside it if `isCompressed`. */
  file: string;
  contentType: string;
  isCompressed: boolean;
  cache: keyof typeof CACHE_CONTROL;
  /** `page` is HTML; `media` is streamed from disk, by ranges; the rest is held in memory. */
  kind: "page" | "file" | "media";
  /** Sent in its place to visitors who save data, where that differs; lies in `dist/` in the same forms. */
  savingDataFile?: string;
  /** Its `Content-Security-Policy`, where it needs more than nothing: a page's, a drawing's. */
  policy?: string;
}

export const MANIFEST_FILE = ".build.json";
/** Coming Soon, for every path that has no page, and the screen for failures of the server. */
export const NOT_FOUND_PAGE = "404.html";
export const FAILURE_PAGE = "500.html";
