import { startTransition, useEffect, useState } from "react";

const RETRY_MS = 1000;

export interface Country {
  code: string;
  name: string;
}

/** The countries by name, in the order of the visitor's language. Stays empty if they fail to load: a country is optional. */
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

/** Firefox reports requests that were cancelled because the visitor left the page; those are not tried again. */
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

/** Reads `[{ cca2, name: { common } }]`; an item of another shape is left out. */
export function readCountries(list: unknown): Country[] {
  if (!Array.isArray(list)) throw new Error("The country list is not a list.");
  const { compare } = new Intl.Collator();
  return list
    .map((item) => ({ code: item?.cca2, name: item?.name?.common }))
    .filter((item): item is Country => typeof item.code === "string" && typeof item.name === "string")
    .sort((a, b) => compare(a.name, b.name));
}

/**
 * After a reload or on the way back, browsers restore what was typed before the list of countries has loaded, so they
 * cannot restore the country. The page's entry in the history keeps it, which lives as long as what they restore.
 */
export function rememberCountry(code: string): void {
  history.replaceState({ country: code }, "");
}

/** Only together with a text that the browser restored, and never in place of another choice. */
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
