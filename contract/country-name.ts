import { isKnownCountry } from "./contact-message.ts";

/** Made when the first name is needed: it takes 6 MB of a server's memory. */
let names: Intl.DisplayNames | undefined;

/** In English; what is not a country's code stays as it is. */
export function countryName(code: string): string {
  names ??= new Intl.DisplayNames("en-GB", { type: "region", fallback: "code" });
  return isKnownCountry(code) ? (names.of(code) ?? code) : code;
}
