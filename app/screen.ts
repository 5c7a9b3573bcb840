import type { ReactNode } from "react";
import type { BuildSettings } from "../contract/build-settings.ts";

/** One screen of the site: what its page says of itself, and what it shows between header and footer. */
export interface Screen {
  name: string;
  title: string;
  /** What its social card says. */
  headline: string;
  description: string;
  /** Shown by search engines and listed in the sitemap. */
  isIndexed: boolean;
  /** The header lies over the screen's own picture instead of above it. */
  isHeaderOverlaid?: boolean;
  /** Styles that only this screen needs. */
  styles: string;
  /** The one script of the screen, if it needs any. */
  script?: ScreenScript;
  render(settings: BuildSettings): ReactNode;
}

/** `film` is written into the page itself; `contact` is fetched once the page is up and the browser idle. */
export type ScreenScript = "film" | "contact";
