import type { ReactNode } from "react";
import type { BuildSettings } from "../contract/build-settings.ts";
import type { AnsweredPost } from "../contract/send-email-answer.ts";
import type { Link } from "./site-schema.ts";

export interface Screen {
  name: string;
  title: string;
  headline: string;
  description: string;
  /** Shown by search engines and listed in the sitemap. */
  isIndexed: boolean;
  /** For a page from a file: the file, and the parent pages from the home page down. */
  written?: { file: string; parents: readonly Link[] };
  /** The header lies over the screen's own picture instead of above it. */
  isHeaderOverlaid?: boolean;
  /** Its content would move when the footer arrives, so the first paint waits. */
  isPaintedWhole?: boolean;
  /** Styles that only this screen needs, and those that its script adds later. The answer to a post contains both. */
  styles: string;
  laterStyles?: string;
  codeBeforePaint?: string;
  script?: ScreenScript;
  /** What a browser fetches for this screen, besides its script and the files that every page fetches. */
  fetches?(settings: BuildSettings): readonly PageFetch[];
  render(context: RenderContext): ReactNode;
}

/** `film` is written into the page itself; `contact` is fetched once the page has loaded and the browser is idle. */
type ScreenScript = "film" | "contact";

/** A browser takes the first whose condition is true. home.css repeats the condition. */
export const VIEW_MEDIA = {
  phone: "(max-width: 560px), (max-width: 960px) and (max-height: 480px)",
  other: undefined,
} as const;
export type View = keyof typeof VIEW_MEDIA;
export const VIEWS = Object.keys(VIEW_MEDIA) as readonly View[];

export interface PageFetch {
  kind: "font" | "picture" | "script" | "film" | "data";
  view?: View;
  /** The same content in several formats, best first; a browser fetches the first format that it supports. */
  urls: readonly string[];
}

export interface RenderContext {
  settings: BuildSettings;
  scripts: Readonly<Record<ScreenScript, PageScript>>;
  /** In the order of their names, for browsers without script. */
  countries?: readonly { code: string; name: string }[];
  /** The other pages, heaviest first, for the page about carbon. */
  weights?: readonly PageWeight[];
  /** Renders the contact page for the answers to posts without script, with a marker instead of its form. */
  answered?: AnsweredPost["kind"];
}

export interface PageWeight {
  name: string;
  grams: number;
  rating: string;
}

export type PageScript = { code: string } | { url: string };
