// What the form loads after it has started: the country list, and the estimate's arithmetic and figures.
import { loadJson } from "../use-loaded.ts";
import { type Country, readCountries } from "./countries.ts";

export type Estimator = Awaited<ReturnType<typeof loadEstimator>>;

/** Sorted by name. */
export async function loadCountries(url: string): Promise<readonly Country[]> {
  return readCountries(await loadJson(url));
}

export async function loadEstimator(electricityUrl: string) {
  const [{ createEstimator }, table] = await Promise.all([import("./estimate-result.tsx"), loadJson(electricityUrl)]);
  return createEstimator(table);
}
