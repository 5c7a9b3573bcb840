import { site as defaults, type SiteSettings } from "./site.ts";

/** The company's settings, with the program's defaults for missing ones. */
export function completeSettings(own: Partial<SiteSettings>): SiteSettings {
  return {
    ...defaults,
    ...own,
    look: { ...defaults.look, ...own.look },
    hero: { ...defaults.hero, ...own.hero },
    policyFacts: { ...defaults.policyFacts, ...own.policyFacts },
  };
}
