import { randomUUID } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { existsSync } from "node:fs";
import { mkdtemp, rmdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClaimsState, endsSoon, type ListedClaim } from "../contract/build-manifest.ts";
import type { BuildSettings } from "../contract/build-settings.ts";
import { type Advice, type OperatorCommand, remedyText } from "../contract/commands.ts";
import { comparableEmail } from "../contract/email-address.ts";
import { plural, visible } from "../contract/text.ts";
import { type Config, ConfigError } from "../server/config.ts";
import { errorCode, OperatorError } from "../server/errors.ts";
import { type Build, loadBuild } from "../server/http/build-files.ts";
import { MailError } from "../server/mail/mailer.ts";
import { createSmtpMailer, type SmtpLimits } from "../server/mail/smtp.ts";
import { imapProblem, openImap } from "../server/mailbox/mailbox.ts";
import { BuildMissing, DIST_DIR, outdatedSettings } from "../server/manifest.ts";
import { postEvent } from "../server/outbox/hook.ts";
import { StoreNotReady } from "../server/store/errors.ts";
import { leftFiles, requireNothingLeft } from "../server/store/sqlite.ts";
import { openStore } from "../server/store/store.ts";
import { systemClock } from "../server/time.ts";
import { postAlert } from "../server/watch/alerts.ts";
import { LOW_DISK_BYTES, LOW_DISK_REMEDY, outlivedBackups } from "../server/watch/troubles.ts";
import { table } from "./terminal/texts.ts";

/** `fail`: the site is not ready for launch. `warn`: the operator should read the detail. */
interface Finding {
  name: string;
  state: "ok" | "warn" | "fail";
  detail: string;
  remedy: string;
  command?: OperatorCommand | undefined;
}

function finding(state: Finding["state"]) {
  return (name: string, detail: string, remedy = "", command?: OperatorCommand): Finding => {
    return { name, state, detail, remedy, ...(command && { command }) };
  };
}
const [ok, warn, fail] = [finding("ok"), finding("warn"), finding("fail")];

function failures(name: string, advice: readonly Advice[]): Finding[] {
  return advice.map(({ problem, remedy = "", command }) => fail(name, problem, remedy, command));
}

const ANSWER_TIMEOUT_MS = 10_000;
const LOOK_MS = 500;
const DNS_LIMITS = { timeout: 2000, tries: 1 };

/** Takes bounded time, stores nothing and shows no secret. */
export async function runChecks(readConfig: () => Config, program: string) {
  const findings = await findAll(readConfig);
  return findings.map(({ command, remedy, ...rest }) => ({
    ...rest,
    remedy: remedyText({ remedy, command }, program),
  }));
}

async function findAll(readConfig: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return failures("settings", error.advice);
  }
  const { findings: buildFindings, build } = checkBuild(DIST_DIR, config.build);
  const { contactEmail = "", brand = "Website" } = build?.manifest.site ?? {};
  const now = new Date();
  const mailFrom = config.mailFrom ?? contactEmail;
  const groups = await Promise.all([
    checkAddress(config.build.siteUrl),
    checkServer(config.build.apiBase || config.build.siteUrl),
    checkProxy(config),
    buildFindings,
    build ? checkClaims(build.manifest.claims, now) : [],
    checkDisk(config.dataDir),
    checkDatabase(config, build?.manifest.site.facts.backupsKept),
    checkSmtp(config.smtpUrl),
    checkImap(config, config.mailTo ?? contactEmail, mailFrom),
    checkHook(config.hook, now),
    checkAlerts(config.alertUrl, brand),
    build ? [checkMailbox("MAIL_TO", config.mailTo ?? contactEmail), checkMailbox("MAIL_FROM", mailFrom)] : [],
    build ? checkSenderDomain(domainOf(mailFrom), new Resolver(DNS_LIMITS)) : [],
  ]);
  return groups.flat();
}

export function report(findings: readonly Omit<Finding, "command">[]): string {
  const rows = findings.map(({ name, state, detail, remedy }) => [
    (state === "fail" ? "FAIL" : state).padEnd(4),
    name,
    visible(remedy === "" ? detail : `${detail} -> ${remedy}`),
  ]);
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const verdict = count("fail") === 0 ? "Ready for launch" : `Not ready: ${count("fail")} failed`;
  return `${table(rows)}\n${verdict}, ${plural(count("warn"), "warning")}.\n`;
}

export function checkAddress(siteUrl: string): Finding {
  const { protocol, hostname } = new URL(siteUrl);
  const remedy = "set SITE_URL to the public address, e.g. https://www.your-company.com, then run";
  if (isReservedDomain(hostname) || /^(127\.|\[::1\]|0\.0\.0\.0)/.test(hostname)) {
    return fail("SITE_URL", `${siteUrl} is not an address that visitors can reach`, remedy, "build");
  }
  if (protocol !== "https:") return fail("SITE_URL", `${siteUrl} is not https`, remedy, "build");
  return ok("SITE_URL", siteUrl);
}

export async function checkServer(base: string): Promise<Finding> {
  const unreachable = (problem: string) =>
    fail("server", `${base}: ${problem}`, "check the server, the proxy, its certificate and the DNS record");
  try {
    const response = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const isOurs = (await response.text()).includes('"status"');
    if (response.status === 200 && isOurs) return ok("server", `${base} accepts messages`);
    if (response.status !== 503 || !isOurs) return unreachable(`/readyz answers with status ${response.status}`);
    return fail("server", `${base} runs, but cannot store messages`, "look at its log; is the database running?");
  } catch (error) {
    const { name, cause } = error as Error;
    if (name === "TimeoutError") return unreachable(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`);
    return unreachable(`no connection (${errorCode(cause) ?? name})`);
  }
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
  if (isReservedDomain(domainOf(site.contactEmail))) {
    const remedy = `set contactEmail in ${settings.siteDir}site.ts, then run`;
    findings.push(fail("placeholders", `the pages show ${site.contactEmail}`, remedy, "build"));
  }
  const unsaid = (["answerWithin", "pricePerTonne"] as const).filter((name) => site[name] === null);
  if (unsaid.length > 0) {
    const remedy = `it is worth setting them in ${settings.siteDir}site.ts`;
    findings.push(
      warn("contact", `visitors ask before they write, and the page is silent: ${unsaid.join(", ")}`, remedy),
    );
  }
  if (comingSoon.length > 0) {
    const remedy = "write these pages, or link elsewhere, as docs/writing.md describes";
    findings.push(warn("pages", `the navigation links to Coming Soon: ${comingSoon.join(", ")}`, remedy));
  }
  return { findings, build };
}

/** The default site's own sentences, which the specification fixes in part, only warn. */
export function checkClaims({ claims, unsigned, policies = [] }: ClaimsState, now: Date): Finding[] {
  const today = now.toISOString().slice(0, 10);
  const named = (some: readonly ListedClaim[]) =>
    some.map(({ text, page, until }) => `“${text}” (${until ? `${page}, until ${until}` : page})`).join(", ");
  const isOpen = ({ state, until = today }: ListedClaim) => state !== "settled" || until < today;
  const open = claims.filter((claim) => isOpen(claim) && !claim.isOurs);
  const ours = claims.filter((claim) => isOpen(claim) && claim.isOurs);
  const ending = claims.filter((claim) => !isOpen(claim) && endsSoon(claim, now));
  const findings: Finding[] = [];
  if (unsigned.length > 0) {
    const problem = `the pages are a draft: nobody has signed ${unsigned.join(", ")}`;
    findings.push(fail("claims", problem, "run", 'claims --sign "NAME"'));
  }
  if (open.length > 0) findings.push(fail("claims", `without evidence: ${named(open)}`, "run", "claims --review"));
  if (ours.length > 0) {
    const problem = `${plural(ours.length, "sentence")} of the default site without evidence`;
    findings.push(warn("claims", problem, "to see them, run", "claims"));
  }
  if (ending.length > 0)
    findings.push(
      warn("claims", `the evidence ends within a month: ${named(ending)}`, "to renew it, run", "claims --review"),
    );
  for (const problem of policies) findings.push(warn("policies", problem, "let a lawyer look at it"));
  const forbidden = claims.filter((claim) => claim.state === "settled" && claim.isForbidden && claim.shows);
  for (const { text, page, shows, until } of forbidden) {
    const evidence = `evidence: ${shows}${until ? `, until ${until}` : ""}`;
    findings.push(warn("claims", `wording that the law forbids: “${text}” (${page}); ${evidence}`, "ask a lawyer"));
  }
  const shortened = claims.filter(({ isShortened, state }) => isShortened && state === "settled");
  if (shortened.length > 0)
    findings.push(warn("claims", `the evidence counts for two years only: ${named(shortened)}`, "renew it until then"));
  return findings.length > 0 ? findings : [ok("claims", "all files are signed, and every claim has evidence")];
}

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

/** A database that the website creates or upgrades at its next start is a warning. */
export async function checkDatabase(
  config: Pick<Config, "dataDir" | "databaseUrl">,
  backupsKept?: string,
): Promise<Finding[]> {
  try {
    if (config.databaseUrl !== null) requireNothingLeft(config.dataDir);
    const store = await openStore(config);
    try {
      await store.status.ping();
      const database = ok("database", config.databaseUrl === null ? "SQLite" : "PostgreSQL");
      const left = leftFiles(config).map((file) =>
        warn("database", `${file} still holds people, although the messages are elsewhere`, "delete it"),
      );
      const outlived = await outlivedBackups(store, new Date(), backupsKept);
      return [
        database,
        ...left,
        ...outlived.map((problem) => fail("backups", problem, "make one that succeeds, or delete them")),
      ];
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (!(error instanceof StoreNotReady)) return failures("database", error.advice);
    return error.advice.map(({ problem, remedy }) => warn("database", problem, remedy ?? ""));
  }
}

const SIGN_IN_LIMITS: SmtpLimits = { connectMs: 5000, silenceMs: 5000, attemptMs: 10_000 };

export async function checkSmtp(smtpUrl: string | null, limits: SmtpLimits = SIGN_IN_LIMITS): Promise<Finding> {
  if (smtpUrl === null) {
    return fail(
      "mail server",
      "SMTP_URL is not set: messages are stored, but not sent by email",
      "set SMTP_URL, e.g. smtp://user:password@mail.your-provider.com:587",
    );
  }
  const { host: where, username } = new URL(smtpUrl);
  try {
    await createSmtpMailer(smtpUrl, systemClock, limits).tryToSignIn();
    return ok("mail server", `${where} ${username ? "accepts the sign-in" : "answers, without a sign-in"}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const said = error.words === "" ? "" : `; it says: ${error.words}`;
    return fail("mail server", `${where}: ${error.message}${said}`, "correct SMTP_URL, or ask the mail provider");
  }
}

const REFUSES_PASSWORDS = /(^|\.)(outlook|office365|office)\.com$/;

/** Opens each folder read-only. Only warns about addresses, because one mailbox may have several. */
export async function checkImap(
  { imap, smtpUrl }: Pick<Config, "imap" | "smtpUrl">,
  mailTo: string,
  mailFrom: string,
  arrivalMs = ARRIVAL_MS,
): Promise<Finding[]> {
  if (imap === null) return [];
  const { host, auth, folders } = imap;
  if (REFUSES_PASSWORDS.test(host)) {
    const problem = `${host}: Microsoft 365 refuses passwords for IMAP, so its mailboxes cannot be read`;
    return [fail("IMAP_URL", problem, "unset IMAP_URL, or forward the team's mail to a mailbox of another provider")];
  }
  const client = openImap(imap, { connectionTimeout: ANSWER_TIMEOUT_MS, greetingTimeout: ANSWER_TIMEOUT_MS });
  const findings: Finding[] = [];
  try {
    await client.connect();
    for (const folder of folders) {
      const isOpen = await client.mailboxOpen(folder, { readOnly: true }).catch(() => null);
      const missing = `${host} has no folder ${folder}`;
      const remedy = "correct the folders of IMAP_URL: names are separated by commas and URL-encoded";
      findings.push(isOpen ? ok("IMAP_URL", `${host}: ${folder} can be read`) : fail("IMAP_URL", missing, remedy));
    }
    const isReady = smtpUrl !== null && findings.every(({ state }) => state === "ok");
    if (isReady) findings.push(...(await checkTestMail(client, folders, smtpUrl, mailTo, mailFrom, arrivalMs)));
  } catch (error) {
    const remedy = "correct IMAP_URL; many providers need an app password";
    findings.push(fail("IMAP_URL", `${host}: ${imapProblem(error)}`, remedy));
  } finally {
    client.close();
  }
  const isOther = (address: string) =>
    auth.user.includes("@") && comparableEmail(address) !== comparableEmail(auth.user);
  if (isOther(mailTo)) {
    const problem = `MAIL_TO may be another mailbox than this one: answers go to ${mailTo}`;
    findings.push(warn("IMAP_URL", problem, "read the mailbox that gets them"));
  }
  if (isOther(mailFrom)) {
    const problem = `MAIL_FROM may be another mailbox than this one: replies that come back go to ${mailFrom}`;
    findings.push(warn("IMAP_URL", problem, "forward its mail to this mailbox"));
  }
  return findings;
}

const ARRIVAL_MS = 20_000;

/** Sends a mail to the team, and looks for it in the mailbox. Nothing if it cannot be sent: `checkSmtp` says why. */
async function checkTestMail(
  client: ReturnType<typeof openImap>,
  folders: readonly string[],
  smtpUrl: string,
  to: string,
  from: string,
  arrivalMs: number,
): Promise<Finding[]> {
  const word = `preflight${randomUUID().replaceAll("-", "")}`;
  const messageId = `<${word}@${domainOf(from)}>`;
  const text = "This is only a test of SMTP_URL and IMAP_URL by preflight. You may delete it.";
  const mail = { reference: word, envelope: { from, to: [to] }, from, to, subject: `Test ${word}`, text, messageId };
  const isSent = await createSmtpMailer(smtpUrl, systemClock, SIGN_IN_LIMITS)
    .send(mail)
    .then(() => true)
    .catch(() => false);
  if (!isSent) return [];
  for (const endsAtMs = performance.now() + arrivalMs; performance.now() < endsAtMs; await sleep(LOOK_MS)) {
    for (const folder of folders) {
      await client.mailboxOpen(folder, { readOnly: true });
      const [uid] = (await client.search({ subject: word }, { uid: true })) || [];
      const found = uid !== undefined && (await client.fetchOne(String(uid), { envelope: true }, { uid: true }));
      if (!found) continue;
      if (found.envelope?.messageId === messageId) return [ok("IMAP_URL", "a test mail arrived with its Message-ID")];
      const problem =
        "the mail provider replaces Message-IDs, so answers are known only by the reference in their subject";
      return [warn("IMAP_URL", problem, "keep the reference in the subject of each reply")];
    }
  }
  const problem = `a test mail to ${to} has not come into this mailbox within ${arrivalMs / 1000} s`;
  return [warn("IMAP_URL", problem, "read the mailbox that gets the mail of MAIL_TO")];
}

export async function checkHook(hook: Config["hook"], now: Date): Promise<Finding[]> {
  if (hook === null) return [];
  const failure = await postEvent(hook, { id: `ping.${randomUUID()}`, type: "ping", timestamp: now, data: {} }, now);
  const { host } = new URL(hook.url);
  if (failure === null) return [ok("HOOK_URL", `${host} accepted a signed ping`)];
  const remedy = "correct HOOK_URL and HOOK_SECRET, and make the receiver accept events of type ping";
  return [fail("HOOK_URL", `${host} did not accept a signed ping: ${failure.message}`, remedy)];
}

export async function checkAlerts(alertUrl: string | null, brand: string): Promise<Finding> {
  if (alertUrl === null) {
    const problem = "not set, so only the log and the inbox say what is wrong and what will be erased";
    return warn("ALERT_URL", problem, "set it to an address that accepts alerts, such as a chat's web hook");
  }
  const { host } = new URL(alertUrl);
  const refused = (reason: string) => {
    const remedy = "correct ALERT_URL, or ask the service that it belongs to";
    return fail("ALERT_URL", `${host} did not accept a test alert: ${reason}`, remedy);
  };
  try {
    const text = `${brand}: This is only a test of ALERT_URL by preflight. It says nothing about the state of the website.`;
    const response = await postAlert(alertUrl, { text, troubles: [] }, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    const answer = (await response.text()).trim().slice(0, 200);
    const came = `status ${response.status}${answer === "" ? "" : `: ${answer}`}`;
    if (!response.ok) return refused(came);
    return ok("ALERT_URL", `${host} accepted a test alert (${came}); check that it arrived`);
  } catch (error) {
    return refused((error as Error).message);
  }
}

function checkMailbox(name: string, address: string): Finding {
  if (!isReservedDomain(domainOf(address))) return ok(name, address);
  return fail(name, `${address} is a placeholder`, `set ${name}, e.g. ${name}=team@your-company.com`);
}

/** Only warns, because DNS may be set up last. */
export async function checkSenderDomain(domain: string, resolver: Pick<Resolver, "resolveTxt">): Promise<Finding[]> {
  // A reserved domain has no records, and is reported as a placeholder.
  if (isReservedDomain(domain)) return [];
  const lookUp = async (host: string) => (await resolver.resolveTxt(host)).map((parts) => parts.join(""));
  const check = async (name: string, remedy: string, hosts: readonly string[], isMeant: RegExp) => {
    for (const host of hosts) {
      try {
        const found = (await lookUp(host)).find((text) => isMeant.test(text));
        if (found) return ok(name, `${host}: ${found}`);
      } catch (error) {
        if (errorCode(error) === "ENODATA" || errorCode(error) === "ENOTFOUND") continue;
        const problem = `could not look up ${host}: no answer from DNS`;
        return warn(name, problem, "check the network, then run this again");
      }
    }
    return warn(name, `${domain} has none, so mail may be filtered as spam`, remedy);
  };
  // A subdomain without its own DMARC record uses the record of its parent domain.
  const labels = domain.split(".");
  const parents = labels.slice(0, -1).map((_, index) => `_dmarc.${labels.slice(index).join(".")}`);
  const dmarc = `add a TXT record at _dmarc.${domain}, e.g. "v=DMARC1; p=none; rua=mailto:you@${domain}"`;
  return Promise.all([
    check("SPF record", "add the TXT record that the mail provider specifies", [domain], /^v=spf1( |$)/i),
    check("DMARC record", dmarc, parents, /^v=DMARC1\b/i),
  ]);
}

/** Names that RFC 2606 and 6761 reserve for examples and tests: they have no sites or mailboxes. */
function isReservedDomain(domain: string): boolean {
  return /(^|\.)(example|test|invalid|localhost|local|example\.(com|net|org))$/i.test(domain);
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
