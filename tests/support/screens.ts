import { readdirSync } from "node:fs";

/** The specification's table of paths, repeated here to check the product against it. */
export const SCREENS = [
  { name: "home", heading: "Accelerate your path to net zero", paths: ["/"] },
  { name: "contact", heading: "Get in Touch", paths: ["/contact", "/contact-us"] },
  { name: "privacy", heading: "Privacy policy", paths: ["/privacy", "/privacy-policy"] },
  { name: "terms", heading: "Terms and conditions", paths: ["/terms", "/terms-and-conditions"] },
  {
    name: "refunds",
    heading: "Cancellations and refunds",
    paths: ["/cancellation", "/cancellations-and-refunds", "/refund"],
  },
  {
    name: "delivery",
    heading: "Shipping and delivery",
    paths: ["/delivery", "/Delivery", "/shipping", "/shipping-and-delivery"],
  },
] as const;

/** The paths of the pages that the company wrote in `app/pages/`; the repository contains none. */
export const WRITTEN_PATHS = readdirSync("app/pages", { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .map((name) => `/${name.replace(/(\/index)?\.md$/, "")}`)
  .toSorted((a, b) => a.localeCompare(b, "en"));

/** A path that will never have a page. */
export const COMING_SOON_PATH = "/no-such-page";

/** Linked from the footer or the header, without a page of their own. */
const ANNOUNCED = ["/about", "/careers", "/articles", "/partner", "/support", "/open-account", "/login"];
export const PATHS_WITHOUT_PAGE = ANNOUNCED.filter((path) => !WRITTEN_PATHS.includes(path));
