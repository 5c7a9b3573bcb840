import { site as defaults } from "./site.ts";
import type { SiteSettings } from "./site-schema.ts";

/** A value of the wrong type stays as it is: the build refuses it. */
export function completeSettings(own: Partial<SiteSettings>): SiteSettings {
  const completed = <Part extends object>(all: Part, some: Part = all): Part =>
    Object(some) === some ? { ...all, ...some } : some;
  return {
    ...defaults,
    ...own,
    look: completed(defaults.look, own.look),
    hero: completed(defaults.hero, own.hero),
    policyFacts: completed(defaults.policyFacts, own.policyFacts),
  };
}
