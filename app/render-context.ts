import type { BuildSettings } from "../contract/build-settings.ts";
import type { ScreenScript } from "./screen.ts";

/** How a page gets its script: written into it, or fetched from an address. */
export type PageScript = { code: string } | { url: string };

/** What one first view of a page emits, by the model of docs/carbon.md. */
export interface Footprint {
  grams: number;
  /** For a visitor who does without the film; the same on a page that has none. */
  gramsWithoutFilm: number;
}

export interface RenderContext {
  settings: BuildSettings;
  scripts: Readonly<Record<ScreenScript, PageScript>>;
  /** By a page's first path, or its screen's name where it has no path. Nothing is known in development. */
  footprintOf(page: string): Footprint | null;
}
