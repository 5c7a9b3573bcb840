import { pages } from "virtual:texts";
import { ACCESSIBILITY_PATH } from "./components/footer.tsx";
import { CARBON_PATH } from "./components/ruler.tsx";
import { FOOTPRINT_PATH } from "./contact/questions.ts";
import type { Screen } from "./screen.ts";
import { contact } from "./screens/contact.tsx";
import { comingSoon, failure } from "./screens/fallbacks.tsx";
import { home } from "./screens/home.tsx";
import {
  accessibility,
  carbon,
  delivery,
  footprint,
  pageScreen,
  privacy,
  refunds,
  terms,
} from "./screens/text-pages.tsx";

export interface Route {
  /** The first path is the canonical one; the others are aliases of it. */
  paths: readonly [string, ...string[]];
  screen: Screen;
}

/** The paths of our own screens. No file of `app/pages/` may take one. */
const SPECIFIED: readonly Route[] = [
  { paths: ["/"], screen: home },
  { paths: ["/contact", "/contact-us"], screen: contact },
  { paths: ["/privacy", "/privacy-policy"], screen: privacy },
  { paths: ["/terms", "/terms-and-conditions"], screen: terms },
  { paths: ["/cancellation", "/cancellations-and-refunds", "/refund"], screen: refunds },
  { paths: ["/delivery", "/Delivery", "/shipping", "/shipping-and-delivery"], screen: delivery },
  { paths: [CARBON_PATH], screen: carbon },
  { paths: [FOOTPRINT_PATH], screen: footprint },
  { paths: [ACCESSIBILITY_PATH], screen: accessibility },
];
export const SPECIFIED_PATHS: readonly string[] = SPECIFIED.flatMap(({ paths }) => paths);

/** Every path that has a screen of its own. Matching is exact; any other path shows Coming Soon. */
export const ROUTES: readonly Route[] = [
  ...SPECIFIED,
  ...pages.map((page): Route => ({ paths: [page.path], screen: pageScreen(page, pages) })),
];

export const COMING_SOON = comingSoon;
export const FAILURE = failure;
