import type { Resolver } from "node:dns/promises";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { isReservedDomain } from "./reserved-domain.ts";

type Records = { kind: "found"; texts: string[] } | { kind: "none" } | { kind: "no-domain" } | { kind: "no-answer" };

/** Whether other mail servers can tell that mails from this domain are ours: its SPF and DMARC records. */
export async function checkSenderDomain(domain: string, resolver: Pick<Resolver, "resolveTxt">): Promise<Finding[]> {
  // A placeholder is reported as such; there is nothing to look up.
  if (isReservedDomain(domain)) return [];
  return Promise.all([checkSpf(domain, resolver), checkDmarc(domain, resolver)]);
}

async function checkSpf(domain: string, resolver: Pick<Resolver, "resolveTxt">): Promise<Finding> {
  const name = "SPF record";
  const records = await lookUp(domain, resolver);
  if (records.kind === "no-domain") return fail(name, `there is no domain ${domain}`, "correct MAIL_FROM");
  if (records.kind === "no-answer") return noAnswer(name, domain);
  const policies = textsOf(records).filter((text) => /^v=spf1( |$)/i.test(text));
  if (policies.length === 1) return ok(name, `${domain}: ${policies[0]}`);
  return policies.length > 1
    ? warn(name, `${domain} has ${policies.length} of them, which counts as none`, "merge them into one")
    : warn(name, `${domain} has none, so mails may land in spam`, "add the TXT record that the mail provider names");
}

/** A subdomain without a record of its own goes by that of the domain above it. */
async function checkDmarc(domain: string, resolver: Pick<Resolver, "resolveTxt">): Promise<Finding> {
  const name = "DMARC record";
  for (let parent = domain; parent.includes("."); parent = parent.slice(parent.indexOf(".") + 1)) {
    const records = await lookUp(`_dmarc.${parent}`, resolver);
    if (records.kind === "no-answer") return noAnswer(name, `_dmarc.${parent}`);
    const policy = textsOf(records).find((text) => /^v=DMARC1\b/i.test(text));
    if (policy) return ok(name, `_dmarc.${parent}: ${policy}`);
  }
  return warn(
    name,
    `${domain} has none, so mails may land in spam`,
    `add a TXT record at _dmarc.${domain}, e.g. "v=DMARC1; p=none; rua=mailto:you@${domain}"`,
  );
}

function noAnswer(name: string, host: string): Finding {
  return warn(name, `could not look up ${host}: no answer from DNS`, "check the network, then run this again");
}

function textsOf(records: Records): string[] {
  return records.kind === "found" ? records.texts : [];
}

async function lookUp(host: string, resolver: Pick<Resolver, "resolveTxt">): Promise<Records> {
  try {
    return { kind: "found", texts: (await resolver.resolveTxt(host)).map((parts) => parts.join("")) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENODATA") return { kind: "none" };
    return code === "ENOTFOUND" ? { kind: "no-domain" } : { kind: "no-answer" };
  }
}
