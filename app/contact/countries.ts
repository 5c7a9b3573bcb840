import type { FormOfBuild } from "../../contract/build-manifest.ts";
import { countryName } from "../../contract/contact-message.ts";

export type Country = FormOfBuild["countries"][number];

export async function loadCountries(url: string): Promise<readonly Country[]> {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return readCountries(await response.json());
}

/** Skips items of any other shape. The names are English, so they are sorted as in English for every visitor. */
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
