import type { Resolver } from "node:dns/promises";
import type { Config } from "../../config.ts";
import { checkAddress, checkProxy } from "./check-address.ts";
import { checkBuild } from "./check-build.ts";
import { checkDatabase } from "./check-database.ts";
import { checkDisk } from "./check-disk.ts";
import { checkMailboxes, checkSmtp } from "./check-mail.ts";
import { checkSenderDomain } from "./check-sender-domain.ts";
import { checkSite } from "./check-site.ts";
import type { Finding } from "./finding.ts";
import { domainOf } from "./reserved-domain.ts";

export interface PreflightParts {
  config: Config;
  distDir: string;
  resolver: Pick<Resolver, "resolveTxt">;
}

/** All that can be known before launch, in bounded time. Sends no mail, stores nothing, and shows no secret. */
export async function runChecks({ config, distDir, resolver }: PreflightParts): Promise<Finding[]> {
  const { findings: build, site } = checkBuild(distDir, config.build);
  const contactEmail = site?.manifest.site.contactEmail ?? "";
  const mailTo = config.mailTo ?? contactEmail;
  const mailFrom = config.mailFrom ?? contactEmail;
  const homePage = site?.files.get("/")?.variants.identity.body.toString() ?? null;

  const groups = await Promise.all([
    [checkAddress(config.build.siteUrl), checkProxy(config), ...build],
    checkDisk(config.dataDir),
    checkDatabase(config),
    checkSmtp(config.smtpUrl),
    site ? checkMailboxes({ mailTo, mailFrom }) : [],
    site ? checkSenderDomain(domainOf(mailFrom), resolver) : [],
    checkSite(config.build, homePage),
  ]);
  return groups.flat();
}
