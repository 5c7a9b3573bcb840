import { startTransition, useEffect, useState } from "react";

export interface Country {
  code: string;
  name: string;
}

/** The countries by name, in the order of the visitor's language. Stays empty if they fail to load: a country is optional. */
export function useCountries(url: string): readonly Country[] {
  const [countries, setCountries] = useState<readonly Country[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    loadCountries(url, controller.signal)
      // Rendering 250 options at once would block a slow phone.
      .then((list) => startTransition(() => setCountries(list)))
      .catch((error: unknown) => controller.signal.aborted || console.error("The country list did not load.", error));
    return () => controller.abort();
  }, [url]);
  return countries;
}

async function loadCountries(url: string, signal: AbortSignal): Promise<Country[]> {
  const response = await fetch(url, { signal, credentials: "omit" });
  if (!response.ok) throw new Error(`The country list answered ${response.status}.`);
  return readCountries(await response.json());
}

/** Reads `[{ cca2, name: { common } }]`; an item of another shape is left out. */
export function readCountries(list: unknown): Country[] {
  if (!Array.isArray(list)) throw new Error("The country list is not a list.");
  const { compare } = new Intl.Collator();
  return list
    .map((item) => ({ code: item?.cca2, name: item?.name?.common }))
    .filter((item): item is Country => typeof item.code === "string" && typeof item.name === "string")
    .sort((a, b) => compare(a.name, b.name));
}
