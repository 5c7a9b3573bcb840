import { startTransition, useEffect, useState } from "react";

const RETRY_MS = 1000;

export interface Country {
  code: string;
  name: string;
}

/** Sorted by name in the visitor's language. Stays empty if the list fails to load, because a country is optional. */
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

/** Reads `[{ cca2, name: { common } }]` and skips items of any other shape. */
export function readCountries(list: unknown): Country[] {
  if (!Array.isArray(list)) throw new Error("The country list is not a list.");
  const { compare } = new Intl.Collator();
  return list
    .map((item) => ({ code: item?.cca2, name: item?.name?.common }))
    .filter((item): item is Country => typeof item.code === "string" && typeof item.name === "string")
    .sort((a, b) => compare(a.name, b.name));
}

/**
 * After a reload or a step back, browsers restore the form before the country list has loaded, so they cannot restore
 * the country. The page's history entry keeps the country for as long as the browser keeps the other fields.
 */
export function rememberCountry(code: string): void {
  history.replaceState({ country: code }, "");
}

/** Acts only if the browser restored a text field, and never replaces another choice. */
export function restoreCountry(form: HTMLFormElement): void {
  const select = form.elements.namedItem("country");
  const { country } = Object(history.state) as { country?: unknown };
  const hasText = [...form.elements].some(
    (field) =>
      (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) &&
      field.type !== "checkbox" &&
      field.value !== field.defaultValue,
  );
  if (select instanceof HTMLSelectElement && select.value === "" && typeof country === "string" && hasText) {
    select.value = country;
  }
}
