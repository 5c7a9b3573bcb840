import { site as defaults } from "./site.ts";
import type { SiteSettings } from "./site-schema.ts";

/**
 * The company's settings, with the program's defaults for missing ones. `filmUrls` has the address of each film file in
 * the build. A value of the wrong type stays as it is: the build refuses it.
 */
export function completeSettings(
  own: Partial<SiteSettings>,
  filmUrls: Readonly<Record<string, string>> = {},
): SiteSettings {
  const { heroFilm = defaults.heroFilm } = own;
  const completed = <Part extends object>(all: Part, some: Part = all): Part =>
    Object(some) === some ? { ...all, ...some } : some;
  return {
    ...defaults,
    ...own,
    heroFilm: Array.isArray(heroFilm)
      ? heroFilm.map((source) => ({ ...source, url: filmUrls[source.url] ?? source.url }))
      : heroFilm,
    look: completed(defaults.look, own.look),
    hero: completed(defaults.hero, own.hero),
    policyFacts: completed(defaults.policyFacts, own.policyFacts),
  };
}
