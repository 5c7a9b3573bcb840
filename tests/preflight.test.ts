import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type BuildManifest, type ListedClaim, manifestFile, publicDir } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { remedyText } from "../contract/commands.ts";
import {
  checkAddress,
  checkAlerts,
  checkBuild,
  checkClaims,
  checkDatabase,
  checkDisk,
  checkProxy,
  checkSenderDomain,
  checkServer,
  checkSmtp,
  judgeSpace,
  report,
} from "../desk/preflight.ts";
import { LOW_DISK_BYTES } from "../server/watch/troubles.ts";
import { finish, store as send } from "./store-contract/samples.ts";
import { openApp } from "./support/app.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { startMailServer } from "./support/mail-server.ts";
import { listen, openPort } from "./support/raw-http.ts";
import { startReceiver } from "./support/receiver.ts";
import { runCli } from "./support/run-cli.ts";
import { findFreePort } from "./support/run-server.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const postgres = await sharePostgres();
afterAll(() => postgres.stop());

test.each([
  ["http://localhost:3000", "fail", " is not an address that visitors can reach"],
  ["https://www.example.com", "fail", " is not an address that visitors can reach"],
  ["http://www.brighter-carbon.com", "fail", " is not https"],
  ["https://www.brighter-carbon.com", "ok", ""],
])("a launch at %s: %s", (siteUrl, state, problem) => {
  expect(checkAddress(siteUrl)).toMatchObject({ state, detail: siteUrl + problem });
});

test("a limit per visitor needs TRUST_PROXY", () => {
  const rateLimits = [{ count: 5, windowMs: 600_000 }];
  expect(checkProxy({ trustProxy: [], rateLimits })).toMatchObject({ state: "fail" });
  expect(checkProxy({ trustProxy: ["loopback"], rateLimits })).toMatchObject({ state: "ok" });
  expect(checkProxy({ trustProxy: [], rateLimits: [] })).toMatchObject({ state: "ok" });
});

test("a draft and ended evidence fail; evidence that ends soon and the default site's own sentences warn", () => {
  const lines = (own: Partial<ListedClaim>[], unsigned: string[] = [], policies: string[] = []) => {
    const claim = { text: "We are green", page: "/about", where: "about.md:5", isForbidden: false, isOurs: false };
    const claims = own.map((one): ListedClaim => ({ ...claim, state: "settled", ...one }));
    const findings = checkClaims({ claims, unsigned, policies }, new Date("2026-11-20T12:00:00Z"));
    return findings.map(({ state, detail }) => `${state}: ${detail}`);
  };
  const named = "“We are green” (/about";
  for (const [own, line] of [
    [{ until: "2027-11-20" }, "ok: all files are signed, and every claim has evidence"],
    [{ state: "open" }, `fail: without evidence: ${named})`],
    [{ until: "2026-11-19" }, `fail: without evidence: ${named}, until 2026-11-19)`],
    [{ until: "2026-12-20" }, `warn: the evidence ends within a month: ${named}, until 2026-12-20)`],
    [{ state: "withoutEvidence", isOurs: true }, "warn: 1 sentence of the default site without evidence"],
  ] as const)
    expect(lines([own])).toEqual([line]);
  const forbidden = { isForbidden: true, shows: "an audit", until: "2027-11-20" };
  expect(lines([forbidden])).toEqual([
    "warn: wording that the law forbids: “We are green” (/about); evidence: an audit, until 2027-11-20",
  ]);
  expect(lines([{ until: "2027-11-20", isShortened: true }])).toEqual([
    `warn: the evidence counts for two years only: ${named}, until 2027-11-20)`,
  ]);
  expect(lines([], [], ["policies/privacy.md is older"])).toEqual(["warn: policies/privacy.md is older"]);
  expect(lines([], ["pages/about.md"])).toEqual(["fail: the pages are a draft: nobody has signed pages/about.md"]);
});

test("the build is missing or from another version, was made with other settings and has placeholders, or is ready", async () => {
  const { settings } = parseBuildSettings({});
  const findingsOf = (distDir: string, env = {}) => checkBuild(distDir, parseBuildSettings(env).settings).findings;
  const linesOf = (distDir: string, env = {}) =>
    findingsOf(distDir, env).map((one) => `${one.state} ${one.name}: ${one.detail} -> ${remedyText(one)}`);
  const distDir = await makeScratchFolder();
  expect(linesOf(distDir)).toEqual(["fail build: There is no build to serve in dist/ -> run: npm run build"]);
  await writeFile(manifestFile(distDir), JSON.stringify({ settings, site: {}, unset: [], files: [] }));
  expect(linesOf(distDir)).toEqual([expect.stringContaining("from another version of the program")]);

  const lines = linesOf("dist", { RETENTION: "delivered=31d", HOOK_URL: "https://crm.example.org/hook" });
  expect(lines.slice(0, 2)).toEqual([
    "fail build: RETENTION keeps messages longer than the privacy policy says (delivered 31 days instead of 30 days) -> shorten RETENTION, or run this with the same RETENTION: npm run build",
    "fail build: HOOK_URL is set, but the privacy policy does not say that messages are passed on -> run this with the same HOOK_URL: npm run build",
  ]);
  const built = JSON.parse(readFileSync(manifestFile("dist"), "utf8")) as BuildManifest;
  expect(built.unset).toContain("governing law (policyFacts.governingLaw in app/site.ts)");
  const unset = built.unset.map((fact) => `fail placeholders: unset: ${fact} -> set it, then run: npm run build`);
  expect(lines).toEqual(expect.arrayContaining(unset));
  expect(lines).toContainEqual(
    expect.stringMatching(/^fail placeholders: the pages show .+\.example -> set contactEmail/),
  );
  expect(lines.at(-2)).toBe(
    "warn contact: visitors ask before they write, and the page is silent: answerWithin, pricePerTonne -> it is worth setting them in app/site.ts",
  );
  expect(lines.at(-1)).toMatch(/^warn pages: the navigation links to Coming Soon: \/.+, \//);

  const said = { answerWithin: { amount: 2, unit: "hours" }, pricePerTonne: { amount: 25, currency: "EUR" } };
  const site = { ...built.site, ...said, contactEmail: "hello@brighter-carbon.com" };
  await symlink(resolve(publicDir("dist")), publicDir(distDir));
  await writeFile(manifestFile(distDir), JSON.stringify({ ...built, site, unset: [], comingSoon: [] }));
  expect(findingsOf(distDir).map(({ state }) => state)).toEqual(["ok"]);
});

test("the disk is writable (the check leaves no trace), not writable, or almost full", async () => {
  const folder = await makeScratchFolder();
  expect(await checkDisk(join(folder, "a", "b"))).toMatchObject({ detail: expect.stringMatching(/ free in .+b$/) });
  expect(readdirSync(folder)).toEqual([]);
  expect(await checkDisk("/proc/self")).toMatchObject({ state: "fail", remedy: expect.stringContaining("DATA_DIR") });
  expect([-1, 0].map((more) => judgeSpace("data", LOW_DISK_BYTES + more).state)).toEqual(["fail", "ok"]);
});

test("the database is empty, current, no database, or refuses the password, which is not shown", async () => {
  const dataDir = await makeScratchFolder();
  const judge = async (databaseUrl: string | null = null) => {
    const [first] = await checkDatabase({ dataDir, databaseUrl });
    return `${first?.state}: ${first?.detail} -> ${first?.remedy}`;
  };
  expect(await judge()).toMatch(/^warn: .+ -> start the website first, or/);
  await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
  expect(await judge()).toBe("ok: SQLite -> ");
  await writeFile(join(dataDir, "messages.db"), "x".repeat(5000));
  expect(await judge()).toMatch(/^fail: .+ is not a database of this program/);
  await rm(join(dataDir, "messages.db"));
  const wrong = await judge((await postgres.createDatabase()).replace("test-only", "hunter2"));
  expect(wrong).toMatch(/^fail: .*password authentication failed/);
  expect(wrong).not.toContain("hunter2");
});

test("the messages.db that DATABASE_URL replaced is named, and what waits in it fails", async () => {
  const [dataDir, databaseUrl] = [await makeScratchFolder(), await postgres.createDatabase()];
  await (await openStoreInProcess({ dataDir, databaseUrl })).close();
  const judge = async () =>
    (await checkDatabase({ dataDir, databaseUrl })).map(({ state, detail }) => `${state}: ${detail}`);
  expect(await judge()).toEqual(["ok: PostgreSQL"]);
  const file = join(dataDir, "messages.db");
  const own = await openStoreInProcess({ dataDir, databaseUrl: null });
  await send(own);
  await finish(own, "delivered");
  expect(await judge()).toEqual([
    "ok: PostgreSQL",
    `warn: ${file} still holds people, although the messages are elsewhere`,
  ]);
  await send(own);
  await own.close();
  expect(await judge()).toEqual([`fail: DATABASE_URL is set, and 1 delivery in ${file} would never be sent`]);
});

test("backups that are older than the privacy policy says are named", async () => {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const name = "2026-01-01-031500.db";
  await store.archive.backup(join(dataDir, name), new Date());
  const judge = async () =>
    (await checkDatabase({ dataDir, databaseUrl: null }, "14 days")).map(({ detail }) => detail);
  expect(await judge()).toEqual(["SQLite"]);
  await utimes(join(dataDir, name), 0, 0);
  expect(await judge()).toEqual(["SQLite", `Older than the 14 days of the privacy policy: ${name}`]);
});

test("the mail server accepts or refuses the sign-in, or is not set; its password is not shown", async () => {
  const server = await untilEnd(startMailServer({ hasTls: true }));
  server.expectPassword("hunter2");
  const url = (password: string) => `smtp://website:${password}@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`;
  const accepted = { state: "ok", detail: `127.0.0.1:${server.port} accepts the sign-in` };
  expect(await checkSmtp(url("hunter2"))).toMatchObject(accepted);
  const refused = await checkSmtp(url("hunter3"));
  expect(refused).toMatchObject({ state: "fail", detail: expect.stringMatching(/refused the sign-in/) });
  expect(JSON.stringify(refused)).not.toContain("hunter3");
  expect(server.mails).toEqual([]);
  expect(await checkSmtp(null)).toMatchObject({ state: "fail", remedy: expect.stringMatching(/^set SMTP_URL/) });
});

test("the sender's domain has SPF and DMARC, also of its parent domain; without them, the check only warns", async () => {
  const found = async (domain: string, records: Readonly<Record<string, string[][]>>) => {
    const resolveTxt = async (name: string) =>
      records[name] ?? Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" }));
    const findings = await checkSenderDomain(domain, { resolveTxt });
    return findings.map(({ name, state, detail }) => `${state} ${name}: ${detail}`);
  };
  const records = {
    "mail.company.com": [["other"], ["v=spf1 include:", "provider.net -all"]],
    "_dmarc.company.com": [["v=DMARC1; p=reject"]],
  };
  expect(await found("mail.company.com", records)).toEqual([
    "ok SPF record: mail.company.com: v=spf1 include:provider.net -all",
    "ok DMARC record: _dmarc.company.com: v=DMARC1; p=reject",
  ]);
  const none = "company.com has none, so mail may be filtered as spam";
  const warnings = [`warn SPF record: ${none}`, `warn DMARC record: ${none}`];
  expect(await found("company.com", { "company.com": [["other"]] })).toEqual(warnings);
});

test("a server that cannot store, is another program, or does not answer fails", async () => {
  const answering = async (status: number, text: string) => {
    const server = createServer((_request, response) => response.writeHead(status).end(text));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${await openPort(server)}`;
  };
  for (const [url, problem] of [
    [await answering(503, '{"status":"store unavailable"}'), /runs, but cannot store messages$/],
    [await answering(200, "Welcome to nginx!"), /answers with status 200$/],
    [`http://127.0.0.1:${await findFreePort()}`, /no connection \(ECONNREFUSED\)$/],
  ] as const)
    expect(await checkServer(url)).toMatchObject({ state: "fail", detail: expect.stringMatching(problem) });
});

test("ALERT_URL gets a test alert, and the check shows the answer without the URL's secret", async () => {
  const check = (alertUrl: string | null) => checkAlerts(alertUrl, "Brighter");
  expect(await check(null)).toMatchObject({ state: "warn", detail: expect.stringContaining("only the log") });
  const receiver = await startReceiver();
  const url = `http://127.0.0.1:${receiver.port}/services/hunter2`;
  const detail = expect.stringMatching(/^127\.0\.0\.1:\d+ accepted a test alert \(status 2\d\d/);
  expect(await check(url)).toMatchObject({ state: "ok", detail });
  expect(receiver.posts).toHaveLength(1);
  receiver.close();
  const refused = JSON.stringify(await check(url));
  expect(refused).toContain("did not accept a test alert: ECONN");
  expect(refused).not.toContain("hunter2");
});

test("npm run preflight shows every check and no secret, and exits with 1 if a check fails", async () => {
  const dataDir = join(await makeScratchFolder(), "data");
  await mkdir(dataDir);
  const mailServer = await untilEnd(startMailServer());
  const SMTP_URL = `smtp://website:hunter2@127.0.0.1:${mailServer.port}`;
  const SITE_URL = `http://127.0.0.1:${await listen(await untilEnd(openApp()))}`;
  const env = { SITE_URL, DATA_DIR: dataDir, SMTP_URL };
  const { code, out, err } = await runCli(env, "preflight");
  expect(err).toBe("");
  const seen = out.split("\n").map((line) => /^(ok|warn|FAIL) +((?:\S+ )*\S+) {2}/.exec(line)?.slice(1, 3).join(" "));
  const failed = ["SITE_URL", "TRUST_PROXY", "build", "placeholders", "mail server", "MAIL_TO"];
  const good = ["warn database", "ok server", "warn pages"];
  expect(seen).toEqual(expect.arrayContaining([...failed.map((name) => `FAIL ${name}`), ...good]));
  expect(out).toMatch(/ disk +\d+ MB free in /);
  expect(out).toMatch(/\nNot ready: \d+ failed, \d warnings?\.\n$/);
  expect(out).not.toContain("hunter2");
  expect(code).toBe(1);
  const wrong = await runCli({ PORT: "x", SMTP_URL: "mail.company.com" }, "preflight");
  expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/^FAIL .+\nFAIL .+\n\nNot ready: 2 failed/) });
});

test("warnings allow a launch, and text of other systems is escaped", () => {
  const warning = { name: "SPF record", state: "warn", detail: "\u001b[31m", remedy: "add it" } as const;
  expect(report([warning])).toBe("warn  SPF record  \\u{1b}[31m -> add it\n\nReady for launch, 1 warning.\n");
});
