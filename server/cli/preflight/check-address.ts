import type { Config } from "../../config.ts";
import { type Finding, fail, ok } from "./finding.ts";
import { isReservedDomain } from "./reserved-domain.ts";

/** Whether visitors can find the site under its address, safely. */
export function checkAddress(siteUrl: string): Finding {
  const { protocol, hostname } = new URL(siteUrl);
  const remedy = "set SITE_URL to the public address, e.g. https://www.your-company.com, then run: npm run build";
  if (isReservedDomain(hostname) || /^(127\.|\[::1\]|0\.0\.0\.0)/.test(hostname)) {
    return fail("SITE_URL", `${siteUrl} is not an address that visitors can reach`, remedy);
  }
  if (protocol !== "https:") return fail("SITE_URL", `${siteUrl} is not https`, remedy);
  return ok("SITE_URL", siteUrl);
}

/** This server speaks plain HTTP, so there is a proxy before a public site; visitors are told apart by what it says. */
export function checkProxy({ trustProxy, rateLimits }: Pick<Config, "trustProxy" | "rateLimits">): Finding {
  if (rateLimits.length === 0) return ok("TRUST_PROXY", "not needed: there is no limit per visitor");
  if (trustProxy.length > 0) return ok("TRUST_PROXY", trustProxy.join(", "));
  return fail(
    "TRUST_PROXY",
    "behind a proxy all visitors would share the limit of one",
    "set TRUST_PROXY to the proxy's address, e.g. loopback if it runs on this machine",
  );
}
