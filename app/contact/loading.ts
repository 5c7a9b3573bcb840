// What the form loads after it has started: the country list, and the estimate's arithmetic and figures.
import { loadJson, useLoaded } from "../use-loaded.ts";
import { type Country, readCountries } from "./countries.ts";

export type Estimator = ReturnType<typeof import("./estimate-result.tsx").createEstimator>;

/** Sorted by name. Stays empty if the list fails to load, because a country is optional. */
export function useCountries(url: string): readonly Country[] {
  const countries = useLoaded("The country list", url, loadCountries);
  return Array.isArray(countries) ? countries : [];
}

/** `null` until the visitor needs the figures and they have loaded. */
export function useEstimator(isNeeded: boolean, electricityUrl: string): Estimator | "failed" | null {
  return useLoaded("The footprint estimate", isNeeded ? electricityUrl : "", loadEstimator);
}

async function loadCountries(url: string): Promise<readonly Country[]> {
  return readCountries(await loadJson(url));
}

async function loadEstimator(electricityUrl: string): Promise<Estimator> {
  const [{ createEstimator }, electricity] = await Promise.all([
    import("./estimate-result.tsx"),
    loadJson(electricityUrl),
  ]);
  return createEstimator(electricity);
}
