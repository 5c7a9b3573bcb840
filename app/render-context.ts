import type { BuildSettings } from "../contract/build-settings.ts";
import type { ScreenScript } from "./screen.ts";

/** How a page gets its script: written into it, or fetched from an address. */
export type PageScript = { code: string } | { url: string };

export interface RenderContext {
  settings: BuildSettings;
  scripts: Readonly<Record<ScreenScript, PageScript>>;
}
