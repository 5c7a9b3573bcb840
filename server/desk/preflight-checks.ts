import { randomUUID } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { existsSync } from "node:fs";
import { mkdtemp, rmdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ClaimsState, ListedClaim } from "../../contract/build-manifest.ts";
import type { BuildSettings } from "../../contract/build-settings.ts";
import type { Advice, OperatorCommand } from "../../contract/commands.ts";
import { areFactorsDue, FACTORS_NAME, FACTORS_REMEDY, NEXT_FACTORS_DUE } from "../../contract/footprint/factors.ts";
import { type Config, ConfigError } from "../config.ts";
import { type Build, loadBuild } from "../http/build-files.ts";
import { errorCode } from "../log.ts";
import { MailError } from "../mail/mailer.ts";
import { type SmtpLimits, tryToSignIn } from "../mail/smtp.ts";
import { BuildMissing, DIST_DIR, outdatedSettings } from "../manifest.ts";
import { OperatorError } from "../operator-error.ts";
import { failureOf, postEvent } from "../outbox/hook.ts";
import { findLeftMessages } from "../store/archive.ts";
import { openStore } from "../store/open-store.ts";
import { StoreNotReady } from "../store/store.ts";
import { DAY_MS } from "../time.ts";
import { postAlert } from "../watch/alerts.ts";
import { LOW_DISK_BYTES, LOW_DISK_REMEDY } from "../watch/troubles.ts";

/** The result of one check. `fail`: the site is not ready for launch. `warn`: the operator should read the detail. */
export interface Finding {
  name: string;
  state: "ok" | "warn" | "fail";
  detail: string;
  /** How to fix it; empty if the state is `ok`. */
  remedy: string;
  /** The command that ends the remedy. */
  command?: OperatorCommand | undefined;
}

function finding(state: Finding["state"]) {
  return (name: string, detail: string, remedy = "", command?: OperatorCommand): Finding => {
    return { name, state, detail, remedy, ...(command && { command }) };
  };
}
export const [ok, warn, fail] = [finding("ok"), finding("warn"), finding("fail")];

function failures(name: string, advice: readonly Advice[]): Finding[] {
  return advice.map(({ problem, remedy = "", command }) => fail(name, problem, remedy, command));
}

const ANSWER_TIMEOUT_MS = 10_000;
const DNS_LIMITS = { timeout: 2000, tries: 1 };

type Dns = Pick<Resolver, "resolveTxt">;

/**
 * Runs every check in bounded time. Sends no mail, posts a ping to HOOK_URL and a test to ALERT_URL, stores nothing,
 * and shows no secret.
 */
export async function runChecks(readConfig: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Invalid settings make all other checks pointless.
    return failures("settings", error.advice);
  }

  const { findings: buildFindings, build } = checkBuild(DIST_DIR, config.build);
  const { contactEmail = "", brand = "Website" } = build?.manifest.site ?? {};
  const mailTo = config.mailTo ?? contactEmail;
  const mailFrom = config.mailFrom ?? contactEmail;
  const homePage = build?.files.get("/")?.variants.identity.body.toString() ?? null;

  const now = new Date();
  const groups = await Promise.all([
    checkAddress(config.build.siteUrl),
    checkProxy(config),
    buildFindings,
    build ? checkClaims(build.manifest.claims, now) : [],
    checkFactors(now),
    checkDisk(config.dataDir),
    checkDatabase(config),
    checkSmtp(config.smtpUrl),
    checkHook(config.hook, now),
    checkAlerts(config, brand),
    build ? checkMailboxes({ mailTo, mailFrom }) : [],
    build ? checkSenderDomain(domainOf(mailFrom), new Resolver(DNS_LIMITS)) : [],
    checkSite(config.build, homePage),
  ]);
  return groups.flat();
}

/** Whether visitors can reach the site at its address, over HTTPS. */
export function checkAddress(siteUrl: string): Finding {
  const { protocol, hostname } = new URL(siteUrl);
  const remedy = "set SITE_URL to the public address, e.g. https://www.your-company.com, then run";
  if (isReservedDomain(hostname) || /^(127\.|\[::1\]|0\.0\.0\.0)/.test(hostname)) {
    return fail("SITE_URL", `${siteUrl} is not an address that visitors can reach`, remedy, "build");
  }
  if (protocol !== "https:") return fail("SITE_URL", `${siteUrl} is not https`, remedy, "build");
  return ok("SITE_URL", siteUrl);
}

/** The server supports only HTTP, so a public site needs a proxy, which sends the visitors' addresses. */
export function checkProxy({ trustProxy, rateLimits }: Pick<Config, "trustProxy" | "rateLimits">): Finding {
  if (rateLimits.length === 0) return ok("TRUST_PROXY", "not needed: there is no limit per visitor");
  if (trustProxy.length > 0) return ok("TRUST_PROXY", trustProxy.join(", "));
  return fail(
    "TRUST_PROXY",
    "behind a proxy, all visitors would share one visitor's limit",
    "set TRUST_PROXY to the proxy's address, e.g. loopback if it runs on this machine",
  );
}

/** Whether the pages are built with the current settings and contain no placeholders. */
export function checkBuild(distDir: string, wanted: BuildSettings): { findings: Finding[]; build: Build | null } {
  let build: Build;
  try {
    build = loadBuild(distDir);
  } catch (error) {
    if (!(error instanceof BuildMissing)) throw error;
    return { findings: failures("build", error.advice), build: null };
  }
  const { settings, unset, comingSoon, site } = build.manifest;

  const findings = failures("build", outdatedSettings(settings, wanted));
  if (findings.length === 0) findings.push(ok("build", `${build.files.size} files, built with the current settings`));
  for (const fact of unset) findings.push(fail("placeholders", `unset: ${fact}`, "set it, then run", "build"));
  if (unset.length === 0) findings.push(ok("placeholders", "all are set"));
  if (comingSoon.length > 0) findings.push(ok("pages", `Coming Soon, but linked: ${comingSoon.join(", ")}`));
  if (isReservedDomain(domainOf(site.contactEmail))) {
    const remedy = `set contactEmail in ${settings.siteDir}site.ts, then run`;
    findings.push(
      fail("contact email", `the pages show ${site.contactEmail}, which is a placeholder`, remedy, "build"),
    );
  } else findings.push(ok("contact email", site.contactEmail));
  return { findings, build };
}

/** Evidence that ends within a month is announced. */
const CLAIMS_NOTICE_DAYS = 31;

/**
 * Whether the company has signed its files, and has evidence for its claims. The default site's own sentences, which
 * the specification fixes in part, only warn.
 */
export function checkClaims({ claims, unsigned }: ClaimsState, now: Date): Finding[] {
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const [today, soon] = [now.getTime(), now.getTime() + CLAIMS_NOTICE_DAYS * DAY_MS].map(dayOf) as [string, string];
  const hasEnded = ({ state, until }: ListedClaim) =>
    state === "expired" || (state === "settled" && until && until < today);
  const isOpen = (claim: ListedClaim) => claim.state !== "settled" || hasEnded(claim);
  const list = (some: readonly ListedClaim[], what: string) => {
    const texts = some.map(({ text, page, shows, until }) => {
      return `“${text}” (${[page, ...(shows ? [shows] : []), ...(until ? [`until ${until}`] : [])].join("; ")})`;
    });
    return `${what} (${texts.length}): ${texts.join(", ")}`;
  };
  const open = claims.filter(isOpen);
  const own = open.filter(({ isOurs }) => !isOurs);
  const ours = open.filter(({ isOurs }) => isOurs);
  const ending = claims.filter((claim) => !isOpen(claim) && claim.until && claim.until <= soon);
  const forbidden = claims.filter((claim) => claim.isForbidden && !isOpen(claim));
  const findings = [
    ...(unsigned.length > 0
      ? [fail("claims", `nobody has signed ${unsigned.join(", ")}`, "run", 'claims --sign "NAME"' as const)]
      : []),
    ...(own.length > 0 ? [fail("claims", list(own, "without evidence"), "run", "claims --write" as const)] : []),
    ...(ours.length > 0
      ? [warn("claims", list(ours, "the default site's own, without evidence"), "add evidence, or reword them")]
      : []),
    ...(ending.length > 0 ? [warn("claims", list(ending, "the evidence ends within a month"), "renew it")] : []),
    ...(forbidden.length > 0
      ? [warn("claims", list(forbidden, "forbidden by law, with evidence or denied"), "ask a lawyer")]
      : []),
  ];
  return findings.length > 0 ? findings : [ok("claims", "all files are signed, and every claim has evidence")];
}

/** Whether the footprint estimate should get newer factors, which are published once a year. */
export function checkFactors(now: Date): Finding {
  if (!areFactorsDue(now)) return ok("footprint", `${FACTORS_NAME}, newer factors are due by ${NEXT_FACTORS_DUE}`);
  return warn("footprint", `${FACTORS_NAME}: newer factors were due by ${NEXT_FACTORS_DUE}`, FACTORS_REMEDY);
}

/** Whether the data folder is writable and has free space. Leaves nothing behind. */
export async function checkDisk(dataDir: string): Promise<Finding> {
  // The server creates its folder on start; a check does not, because it may run as another user.
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    await rmdir(await mkdtemp(join(folder, ".preflight-")));
  } catch (error) {
    // The systemd unit creates it, as root.
    if (folder !== dataDir) {
      const remedy = "start the service, which creates it; without systemd, create it for the server's user";
      return warn("disk", `${dataDir} does not exist yet, and this user may not create it`, remedy);
    }
    const remedy = "make it writable for the server's user, or set DATA_DIR to another folder";
    return fail("disk", `${dataDir} is not writable (${errorCode(error) ?? "unknown reason"})`, remedy);
  }
  const { bavail, bsize } = await statfs(folder);
  return judgeSpace(dataDir, bavail * bsize);
}

export function judgeSpace(dataDir: string, freeBytes: number): Finding {
  const detail = `${Math.floor(freeBytes / 2 ** 20)} MB free in ${dataDir}`;
  return freeBytes >= LOW_DISK_BYTES ? ok("disk", detail) : fail("disk", detail, LOW_DISK_REMEDY);
}

/**
 * Opens the database as an operator's command does, and writes to it as `/readyz` does. A database that the website
 * creates or upgrades at its next start is a warning.
 */
export async function checkDatabase(config: Pick<Config, "dataDir" | "databaseUrl">): Promise<Finding[]> {
  const left = findLeftMessages(config);
  const found = [ok("database", config.databaseUrl === null ? "SQLite" : "PostgreSQL")];
  try {
    const store = await openStore(config, { maxConnections: 1 });
    try {
      await store.status.ping();
      if (left && (await store.messages.find(left.newest)) === null) found.push(...failures("database", [left.advice]));
    } finally {
      await store.close();
    }
    return found;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (!(error instanceof StoreNotReady)) return failures("database", error.advice);
    const notReady = error.advice.map(({ problem, remedy }) => warn("database", problem, remedy ?? ""));
    return left ? [...notReady, ...failures("database", [left.advice])] : notReady;
  }
}

const SIGN_IN_LIMITS: SmtpLimits = { connectMs: 5000, silenceMs: 5000, attemptMs: 10_000 };

/** Whether the mail server accepts our sign-in. Sends nothing. */
export async function checkSmtp(smtpUrl: string | null, limits: SmtpLimits = SIGN_IN_LIMITS): Promise<Finding> {
  if (smtpUrl === null) {
    return fail(
      "mail server",
      "SMTP_URL is not set: messages are stored, but not sent by email",
      "set SMTP_URL, e.g. smtp://user:password@mail.your-provider.com:587",
    );
  }
  const { hostname, port, username } = new URL(smtpUrl);
  const where = port ? `${hostname}:${port}` : hostname;
  try {
    await tryToSignIn(smtpUrl, limits);
    return ok("mail server", `${where} ${username ? "accepts the sign-in" : "answers, without a sign-in"}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const said = error.words === "" ? "" : `; it says: ${error.words}`;
    return fail("mail server", `${where}: ${error.message}${said}`, "correct SMTP_URL, or ask the mail provider");
  }
}

/** Whether the receiver at HOOK_URL accepts a signed event. */
export async function checkHook(hook: Config["hook"], now: Date): Promise<Finding[]> {
  if (hook === null) return [];
  const answer = await postEvent(hook, { id: `ping.${randomUUID()}`, type: "ping", timestamp: now, data: {} }, now);
  const { host } = new URL(hook.url);
  const failure = failureOf(answer);
  const text = "text" in answer && answer.text !== "" ? `: ${answer.text.slice(0, 200)}` : "";
  const status = "status" in answer ? ` (status ${answer.status})` : "";
  if (failure === null) return [ok("HOOK_URL", `${host} accepted a signed ping${status}${text}`)];
  const remedy = "correct HOOK_URL and HOOK_SECRET, and make the receiver accept events of type ping";
  return [fail("HOOK_URL", `${host} did not accept a signed ping: ${failure.message}${text}`, remedy)];
}

/** Whether alerts arrive: posts a test alert. Without them, the operator may not hear of an erasure. */
export async function checkAlerts(
  { alertUrl, retention }: Pick<Config, "alertUrl" | "retention">,
  brand: string,
): Promise<Finding[]> {
  if (alertUrl === null) {
    if (Object.values(retention).every((keptMs) => keptMs === null)) return [];
    const problem = "not set, so only the log and the inbox announce that messages will be erased";
    return [warn("ALERT_URL", problem, "set it to an address that accepts alerts, such as a chat's web hook")];
  }
  const { host } = new URL(alertUrl);
  const refused = (reason: string) => {
    const remedy = "correct ALERT_URL, or ask the service that it belongs to";
    return [fail("ALERT_URL", `${host} did not accept a test alert: ${reason}`, remedy)];
  };
  try {
    const text = `${brand}: This is only a test of ALERT_URL by preflight. It says nothing about the state of the website.`;
    const response = await postAlert(alertUrl, { text, troubles: [] }, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    const answer = (await response.text()).trim().slice(0, 200);
    const came = `status ${response.status}${answer === "" ? "" : `: ${answer}`}`;
    if (!response.ok) return refused(came);
    return [ok("ALERT_URL", `${host} accepted a test alert (${came}); check that it arrived`)];
  } catch (error) {
    return refused((error as Error).message);
  }
}

/** Whether the mail addresses are real, not placeholders. */
export function checkMailboxes({ mailTo, mailFrom }: { mailTo: string; mailFrom: string }): Finding[] {
  return Object.entries({ MAIL_TO: mailTo, MAIL_FROM: mailFrom }).map(([name, address]) =>
    isReservedDomain(domainOf(address))
      ? fail(name, `${address} is a placeholder`, `set ${name}, e.g. ${name}=team@your-company.com`)
      : ok(name, address),
  );
}

/** Whether other mail servers can verify the site's mails: checks the domain's SPF and DMARC records. */
export async function checkSenderDomain(domain: string, resolver: Dns): Promise<Finding[]> {
  // A reserved domain has no records, and is reported as a placeholder.
  if (isReservedDomain(domain)) return [];
  return Promise.all([checkSpf(domain, resolver), checkDmarc(domain, resolver)]);
}

async function checkSpf(domain: string, resolver: Dns): Promise<Finding> {
  const name = "SPF record";
  const records = await lookUp(domain, resolver);
  if (records === "no domain") return fail(name, `there is no domain ${domain}`, "correct MAIL_FROM");
  if (records === "no answer") return noAnswer(name, domain);
  const policies = records.filter((text) => /^v=spf1( |$)/i.test(text));
  if (policies.length === 1) return ok(name, `${domain}: ${policies[0]}`);
  return policies.length > 1
    ? warn(name, `${domain} has ${policies.length} SPF records, but only one is allowed`, "merge them into one")
    : warn(
        name,
        `${domain} has none, so mail may be filtered as spam`,
        "add the TXT record that the mail provider specifies",
      );
}

/** A subdomain without its own record uses the record of its parent domain. */
async function checkDmarc(domain: string, resolver: Dns): Promise<Finding> {
  const name = "DMARC record";
  for (let parent = domain; parent.includes("."); parent = parent.slice(parent.indexOf(".") + 1)) {
    const records = await lookUp(`_dmarc.${parent}`, resolver);
    if (records === "no answer") return noAnswer(name, `_dmarc.${parent}`);
    if (records === "no domain") continue;
    const policy = records.find((text) => /^v=DMARC1\b/i.test(text));
    if (policy) return ok(name, `_dmarc.${parent}: ${policy}`);
  }
  return warn(
    name,
    `${domain} has none, so mail may be filtered as spam`,
    `add a TXT record at _dmarc.${domain}, e.g. "v=DMARC1; p=none; rua=mailto:you@${domain}"`,
  );
}

function noAnswer(name: string, host: string): Finding {
  return warn(name, `could not look up ${host}: no answer from DNS`, "check the network, then run this again");
}

async function lookUp(host: string, resolver: Dns): Promise<string[] | "no domain" | "no answer"> {
  try {
    return (await resolver.resolveTxt(host)).map((parts) => parts.join(""));
  } catch (error) {
    if (errorCode(error) === "ENODATA") return [];
    return errorCode(error) === "ENOTFOUND" ? "no domain" : "no answer";
  }
}

/** Whether the site's address shows our home page, and whether the server there accepts messages. */
export async function checkSite(
  { siteUrl, apiBase }: Pick<BuildSettings, "siteUrl" | "apiBase">,
  homePage: string | null,
): Promise<Finding[]> {
  return Promise.all([checkHomePage(siteUrl, homePage), checkReady(apiBase || siteUrl)]);
}

async function checkHomePage(siteUrl: string, homePage: string | null): Promise<Finding> {
  const answer = await get(`${siteUrl}/`);
  if ("problem" in answer) return unreachable("home page", siteUrl, answer.problem);
  if (answer.status !== 200) return unreachable("home page", siteUrl, `status ${answer.status}`);
  if (answer.text === homePage) return ok("home page", `${siteUrl} shows this build`);
  return warn(
    "home page",
    `${siteUrl} answers, but not with the home page of this build`,
    "restart the server after a build; with a CDN, upload dist/ or empty its cache",
  );
}

async function checkReady(base: string): Promise<Finding> {
  const answer = await get(`${base}/readyz`);
  if ("problem" in answer) return unreachable("server", base, answer.problem);
  if (answer.status === 200 && answer.text.includes('"ready"')) return ok("server", `${base} accepts messages`);
  if (answer.status === 503) {
    return fail("server", `${base} runs, but cannot store messages`, "look at its log; is the database running?");
  }
  return unreachable("server", base, `/readyz answers with status ${answer.status}`);
}

function unreachable(name: string, url: string, problem: string): Finding {
  return fail(name, `${url}: ${problem}`, "check the server, the proxy and the DNS record");
}

async function get(url: string): Promise<{ status: number; text: string } | { problem: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { name, cause } = error as Error;
    if (name === "TimeoutError") return { problem: `no answer within ${ANSWER_TIMEOUT_MS / 1000} s` };
    return { problem: `no connection (${errorCode(cause) ?? name})` };
  }
}

/** Names that RFC 2606 and 6761 reserve for examples and tests: they have no sites or mailboxes. */
function isReservedDomain(domain: string): boolean {
  return /(^|\.)(example|test|invalid|localhost|local|example\.(com|net|org))$/i.test(domain);
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
