import { isKnownCountry } from "./contact-message.ts";

const NAMES = new Intl.DisplayNames("en-GB", { type: "region", fallback: "code" });

/** In English; what is not a country's code stays as it is. */
export function countryName(code: string): string {
  return isKnownCountry(code) ? (NAMES.of(code) ?? code) : code;
}
