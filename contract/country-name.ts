import { isKnownCountry } from "./contact-message.ts";

/** Created on first use, because it takes 6 MB of memory. */
let names: Intl.DisplayNames | undefined;

/** The English name of a country code. Any other text is returned unchanged. */
export function countryName(code: string): string {
  names ??= new Intl.DisplayNames("en-GB", { type: "region", fallback: "code" });
  return isKnownCountry(code) ? (names.of(code) ?? code) : code;
}
