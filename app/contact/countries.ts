import { startTransition, useEffect, useState } from "react";
import { countryName } from "../../contract/country-name.ts";

const RETRY_MS = 1000;

export interface Country {
  code: string;
  name: string;
}

/** Sorted by name. Stays empty if the list fails to load, because a country is optional. */
export function useCountries(url: string): readonly Country[] {
  const [countries, setCountries] = useState<readonly Country[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    tryTwice(() => loadCountries(url, controller.signal))
      // Rendering 250 options at once would block a slow phone.
      .then((list) => startTransition(() => setCountries(list)))
      .catch((error: unknown) => controller.signal.aborted || console.error("The country list did not load.", error));
    return () => controller.abort();
  }, [url]);
  return countries;
}

/** Does not retry requests that were cancelled because the visitor left the page; Firefox reports those as errors. */
export async function tryTwice<Result>(load: () => Promise<Result>): Promise<Result> {
  try {
    return await load();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return load();
  }
}

async function loadCountries(url: string, signal: AbortSignal): Promise<Country[]> {
  const response = await fetch(url, { signal, credentials: "omit" });
  if (!response.ok) throw new Error(`The country list answered ${response.status}.`);
  return readCountries(await response.json());
}

/**
 * Reads `[{ cca2, name: { common } }]` and skips items of any other shape. The names are English, so they are sorted
 * as in English, whatever the visitor's language.
 */
export function readCountries(list: unknown): Country[] {
  if (!Array.isArray(list)) throw new Error("The country list is not a list.");
  const { compare } = new Intl.Collator("en");
  return list
    .map((item) => ({ code: item?.cca2, name: item?.name?.common }))
    .filter((item): item is Country => typeof item.code === "string" && typeof item.name === "string")
    .sort((a, b) => compare(a.name, b.name));
}

/** The options of a country field: the list, and the chosen country even if the list does not have it. */
export function countryOptions(countries: readonly Country[], chosen: string): readonly Country[] {
  const start = { code: "", name: "Select a country" };
  const isListed = chosen === "" || countries.some(({ code }) => code === chosen);
  return [start, ...(isListed ? [] : [{ code: chosen, name: countryName(chosen) }]), ...countries];
}
