export interface Country {
  code: string;
  name: string;
}

/** Resolves to the listed countries by name, in the order of the reader's language. */
export async function loadCountries(url: string, signal: AbortSignal): Promise<Country[]> {
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
