// What the form loads after it has started: the country list, and the estimate's arithmetic and figures.
import { startTransition, useEffect, useState } from "react";
import { type Country, readCountries } from "./countries.ts";

const RETRY_MS = 1000;

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

/** Loads once. An empty address means that the result is not needed yet. */
function useLoaded<Result>(what: string, url: string, load: (url: string) => Promise<Result>) {
  const [loaded, setLoaded] = useState<Result | "failed" | null>(null);
  const isWanted = url !== "" && loaded === null;
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    tryTwice(() => load(url))
      .catch((error: unknown) => {
        if (isCurrent) console.error(`${what} did not load.`, error);
        return "failed" as const;
      })
      // Rendering 250 countries at once would block a slow phone.
      .then((result) => isCurrent && startTransition(() => setLoaded(result)));
    return () => {
      isCurrent = false;
    };
  }, [isWanted, what, url, load]);
  return loaded;
}

/** Waits before it tries again: Firefox reports requests as failed when the visitor leaves the page. */
async function tryTwice<Result>(load: () => Promise<Result>): Promise<Result> {
  try {
    return await load();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return load();
  }
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

async function loadJson(url: string) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response.json();
}
