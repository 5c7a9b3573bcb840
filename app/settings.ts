import { site as defaults, type SiteSettings } from "./site.ts";

/**
 * The company's settings, with the program's defaults for missing ones. `filmUrls` has the address of each film file in
 * the build.
 */
export function completeSettings(
  own: Partial<SiteSettings>,
  filmUrls: Readonly<Record<string, string>> = {},
): SiteSettings {
  const { heroFilm = defaults.heroFilm } = own;
  return {
    ...defaults,
    ...own,
    // A value of the wrong type stays as it is: the build refuses it.
    heroFilm: Array.isArray(heroFilm)
      ? heroFilm.map((source) => ({ ...source, url: filmUrls[source.url] ?? source.url }))
      : heroFilm,
    look: { ...defaults.look, ...own.look },
    hero: { ...defaults.hero, ...own.hero },
    policyFacts: { ...defaults.policyFacts, ...own.policyFacts },
  };
}
