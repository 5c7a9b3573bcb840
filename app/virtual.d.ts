/** The settings of SITE_DIR, completed with the defaults of `site.ts`, as prerender/site-dir.ts reads them. */
declare module "virtual:site" {
  export const site: import("./site-schema.ts").SiteSettings;
}

/** The texts of pages, as prerender/texts.ts reads them. */
declare module "virtual:texts" {
  type WrittenPage = import("./screens/text-pages.tsx").WrittenPage;
  type PolicyPath = "/privacy" | "/terms" | "/cancellation" | "/delivery";
  /** Those that come with the software, by their path. */
  export const ours: Readonly<Record<PolicyPath | `/assets/${"carbon" | "footprint" | "accessibility"}`, WrittenPage>>;
  /** Those of the company. */
  export const pages: readonly WrittenPage[];
}
