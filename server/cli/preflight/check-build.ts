import type { BuildSettings } from "../../../contract/build-settings.ts";
import { BuildMissing, type HeldSite, holdSite } from "../../http/held-files.ts";
import { type Finding, fail, ok } from "./finding.ts";
import { domainOf, isReservedDomain } from "./reserved-domain.ts";

const VARIABLES = { siteUrl: "SITE_URL", apiBase: "API_BASE", countriesUrl: "COUNTRIES_URL" } as const;

/** Whether the pages are built, with the present settings, and with nothing left to fill in. */
export function checkBuild(distDir: string, wanted: BuildSettings): { findings: Finding[]; site: HeldSite | null } {
  const site = readBuild(distDir);
  if (!site) return { findings: [fail("build", "there is none in dist/", "run: npm run build")], site };
  const { settings, unset, site: identity } = site.manifest;

  const findings = (Object.keys(VARIABLES) as (keyof BuildSettings)[]).flatMap((key) =>
    settings[key] === wanted[key]
      ? []
      : fail(
          "build",
          `${VARIABLES[key]} is "${wanted[key]}", but the pages were built with "${settings[key]}"`,
          "run: npm run build",
        ),
  );
  if (findings.length === 0) findings.push(ok("build", `${site.files.size} files, built with the present settings`));
  for (const fact of unset) findings.push(fail("policies", `unset: ${fact}`, "set it, then run: npm run build"));
  if (unset.length === 0) findings.push(ok("policies", "no placeholder is left"));
  findings.push(
    isReservedDomain(domainOf(identity.contactEmail))
      ? fail(
          "contact e-mail",
          `the pages show ${identity.contactEmail}, which is a placeholder`,
          "set contactEmail in app/site.ts, then run: npm run build",
        )
      : ok("contact e-mail", identity.contactEmail),
  );
  return { findings, site };
}

function readBuild(distDir: string): HeldSite | null {
  try {
    return holdSite(distDir);
  } catch (error) {
    if (error instanceof BuildMissing) return null;
    throw error;
  }
}
