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
  /** The Markdown file with its text. */
  file?: string;
  /** Of a page in `pages/`: the pages above it, from the home page down. */
  parents?: readonly Link[];
  /** The header lies over the screen's own picture instead of above it. */
  isHeaderOverlaid?: boolean;
  /** Its content would move when the footer arrives, so the first paint waits. */
  isPaintedWhole?: boolean;
  /** Styles that only this screen needs, and those that its script adds later. The answer to a post contains both. */
  styles: string;
  laterStyles?: string;
  /** `film` plays it. `form` loads React once the page has loaded and the browser is idle. */
  script?: "film" | "form";
  /** What a browser fetches for this screen, besides its script and the files that every page fetches. */
  fetches?(settings: BuildSettings): readonly PageFetch[];
  render(context: RenderContext): ReactNode;
}

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
  /** The first two are part of their pages; `form` is an address. */
  scripts: { film: PageScript; loadForm: PageScript; form: string };
  /** In the order of their names, for browsers without script. */
  countries?: readonly { code: string; name: string }[];
  /** What the build has weighed: for the footer of each page, and the page about carbon. In development there is none. */
  weights?: readonly PageWeight[];
  /** Renders the contact page for the answers to posts without script, with a marker instead of its form. */
  answered?: AnsweredPost["kind"];
}

export interface PageWeight {
  /** The name of the rendered page. */
  page: string;
  title: string;
  grams: number;
  rating: string;
}

/** A build writes its code into the page; in development, Vite serves its file. */
export type PageScript = { code: string; src?: never } | { src: string; code?: never };
