import { Resolver } from "node:dns/promises";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type BuildManifest, manifestFile } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { remedyText } from "../contract/commands.ts";
import {
  checkAlerts,
  checkBuild,
  checkDatabase,
  checkDisk,
  checkMailboxes,
  checkSenderDomain,
  checkSite,
  checkSmtp,
  judgeSpace,
} from "../server/desk/preflight-checks.ts";
import { loadBuild } from "../server/http/build-files.ts";
import { LOW_DISK_BYTES } from "../server/watch/troubles.ts";
import { openApp } from "./support/app.ts";
import { startDnsServer, startSilentDnsServer } from "./support/dns-server.ts";
import { openStoreInProcess, RETENTION } from "./support/in-process-store.ts";
import { startMailServer } from "./support/mail-server.ts";
import { listen, openPort } from "./support/raw-http.ts";
import { startReceiver } from "./support/receiver.ts";
import { runCli } from "./support/run-cli.ts";
import { findFreePort } from "./support/run-server.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const postgres = await sharePostgres();
afterAll(() => postgres.stop());

const homePage = () => loadBuild("dist").files.get("/")?.variants.identity.body.toString() ?? "";

function resolverOf(server: string, limits = {}): Resolver {
  const resolver = new Resolver(limits);
  resolver.setServers([server]);
  return resolver;
}

/** Serves the built site until the test ends. */
async function serveSite(): Promise<string> {
  const subject = await openApp();
  onTestFinished(() => subject.close());
  return `http://127.0.0.1:${await listen(subject)}`;
}

describe("the build", () => {
  const { settings } = parseBuildSettings({});
  const findingsOf = (distDir: string, env = {}) => checkBuild(distDir, parseBuildSettings(env).settings).findings;
  const linesOf = (distDir: string, env = {}) =>
    findingsOf(distDir, env).map(({ name, state, detail }) => `${state} ${name}: ${detail}`);

  test("is missing, or was made by another version", async () => {
    const distDir = join(await makeScratchFolder(), "dist");
    expect(linesOf(distDir)).toEqual(["fail build: There is no build to serve in dist/"]);
    await writeFile(manifestFile(distDir), JSON.stringify({ settings, site: {}, unset: [], files: [] }));
    expect(linesOf(distDir)).toEqual(["fail build: The build in dist/ is from another version of the program"]);
  });

  test("was made with other settings, promises to delete messages earlier, and has placeholders", () => {
    const SITE_URL = "https://www.brighter-carbon.com";
    const env = {
      SITE_URL,
      RETENTION: "delivered=31d,failed=89d,quarantined=keep",
      HOOK_URL: "https://crm.example.org/hook",
    };
    const failed = findingsOf("dist", env).filter(({ name }) => name === "build");
    expect(failed.map((finding) => `${finding.state}: ${finding.detail} -> ${remedyText(finding)}`)).toEqual([
      `fail: SITE_URL is "${SITE_URL}", but the pages were built with "http://localhost:3000" -> run: npm run build`,
      "fail: RETENTION keeps messages longer than the privacy policy says (delivered 31 days instead of 30 days, quarantined until deleted by hand instead of 14 days) -> shorten RETENTION, or run this with the same RETENTION: npm run build",
      "fail: HOOK_URL is set, but the privacy policy does not say that messages are passed on -> run this with the same HOOK_URL: npm run build",
    ]);
    const lines = linesOf("dist");
    expect(lines).toContain("fail placeholders: unset: governing law (policyFacts.governingLaw in app/site.ts)");
    expect(lines).toContain("fail placeholders: unset: LinkedIn link (social in app/site.ts)");
    // Coming Soon pages are intended, so this is not a problem.
    expect(lines).toContainEqual(expect.stringMatching(/^ok pages: Coming Soon, but linked: \/.+, \//));
    expect(lines.at(-1)).toMatch(/^fail contact email: the pages show .+\.example, which is a placeholder$/);
  });

  test("is ready", async () => {
    const distDir = join(await makeScratchFolder(), "dist");
    const built = JSON.parse(readFileSync(manifestFile("dist"), "utf8")) as BuildManifest;
    const site = { ...built.site, contactEmail: "hello@brighter-carbon.com" };
    await writeFile(manifestFile(distDir), JSON.stringify({ ...built, site, unset: [], files: [] }));
    expect(findingsOf(distDir).map(({ state }) => state)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});

test("the disk is writable (the check leaves no trace), not writable, or almost full", async () => {
  const folder = await makeScratchFolder();
  expect(await checkDisk(folder)).toMatchObject({ detail: expect.stringMatching(/^\d+ MB free in /) });
  expect(await checkDisk(join(folder, "a", "b"))).toMatchObject({ detail: expect.stringMatching(/ free in .+b$/) });
  expect(readdirSync(folder)).toEqual([]);
  expect(await checkDisk("/proc/self")).toMatchObject({ state: "fail", remedy: expect.stringContaining("DATA_DIR") });
  expect([-1, 0].map((more) => judgeSpace("data", LOW_DISK_BYTES + more).state)).toEqual(["fail", "ok"]);
});

describe("the database", () => {
  /** The first finding, as `state: detail -> remedy`. */
  const judge = async (config: Parameters<typeof checkDatabase>[0]) => {
    const [{ state, detail, remedy } = { state: "", detail: "", remedy: "" }] = await checkDatabase(config);
    return `${state}: ${detail}${remedy && ` -> ${remedy}`}`;
  };

  test("SQLite: missing, current, older, newer, another program's", async () => {
    const dataDir = await makeScratchFolder();
    const config = { dataDir, databaseUrl: null };
    const setVersion = (version: number) => {
      const db = new DatabaseSync(join(dataDir, "messages.db"));
      db.exec(`UPDATE meta SET value = '${version}' WHERE name = 'schema_version'`);
      db.close();
    };
    expect(await judge(config)).toMatch(/^warn: There are no messages in .+ -> start the website first, or/);
    expect(readdirSync(dataDir)).toEqual([]);
    await (await openStoreInProcess(config)).close();
    expect(await judge(config)).toBe("ok: SQLite");
    setVersion(1);
    expect(await judge(config)).toMatch(/^warn: .+ by an older version .+ -> restart the website with this version/);
    setVersion(99);
    expect(await judge(config)).toMatch(/^fail: .+ by a newer version/);
    await writeFile(join(dataDir, "messages.db"), "x".repeat(5000));
    expect(await judge(config)).toMatch(/^fail: .+ is not a database of this program/);
  });

  test("PostgreSQL: empty, current, unavailable; the password is not shown", async () => {
    const dataDir = await makeScratchFolder();
    const databaseUrl = await postgres.createDatabase();
    expect(await judge({ dataDir, databaseUrl })).toMatch(/^warn: The message database is empty -> start the website/);
    await (await openStoreInProcess({ dataDir, databaseUrl })).close();
    expect(await judge({ dataDir, databaseUrl })).toBe("ok: PostgreSQL");
    const wrong = await judge({ dataDir, databaseUrl: databaseUrl.replace("test-only", "hunter2") });
    expect(wrong).toMatch(/^fail: .*password authentication failed/);
    expect(wrong).not.toContain("hunter2");
    const away = `postgres://u:hunter2@127.0.0.1:${await findFreePort()}/x`;
    expect(await checkDatabase({ dataDir, databaseUrl: away })).toMatchObject([{ name: "database", state: "fail" }]);
  });
});

describe("the mail server", () => {
  test("accepts or refuses the sign-in, and the password is not shown", async () => {
    const server = await startMailServer({ hasTls: true });
    onTestFinished(() => server.close());
    server.expectPassword("hunter2");
    const url = (password: string) =>
      `smtp://website:${password}@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`;
    expect(await checkSmtp(url("hunter2"))).toMatchObject({
      state: "ok",
      detail: `127.0.0.1:${server.port} accepts the sign-in`,
    });
    const refused = await checkSmtp(url("hunter3"));
    expect(refused).toMatchObject({ state: "fail", detail: expect.stringMatching(/refused the sign-in/) });
    expect(JSON.stringify(refused)).not.toContain("hunter3");
    expect(server.mails).toEqual([]);
  });

  test("does not answer, does not exist or is not set, and mailboxes are placeholders", async () => {
    const server = await startMailServer();
    onTestFinished(() => server.close());
    server.behave({ kind: "hang-before-greeting" });
    const limits = { connectMs: 200, silenceMs: 200, attemptMs: 400 };
    expect(await checkSmtp(`smtp://127.0.0.1:${server.port}`, limits)).toMatchObject({
      state: "fail",
      detail: expect.stringMatching(/ETIMEDOUT/),
    });
    expect(await checkSmtp(`smtp://127.0.0.1:${await findFreePort()}`)).toMatchObject({
      state: "fail",
      detail: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(await checkSmtp(null)).toMatchObject({ state: "fail", remedy: expect.stringMatching(/^set SMTP_URL/) });
    const mailboxes = checkMailboxes({ mailTo: "team@brighter-carbon.com", mailFrom: "x@mail.example.com" });
    expect(mailboxes.map(({ name, state }) => `${name} ${state}`)).toEqual(["MAIL_TO ok", "MAIL_FROM fail"]);
  });
});

describe("the sender's domain", () => {
  const SPF = `v=spf1 ${"include:a-long-name-of-a-provider.net ".repeat(8)}-all`;

  test("has SPF, and DMARC of its own or of its parent domain", async () => {
    const records = { "mail.company.com": ["other", SPF], "_dmarc.company.com": ["v=DMARC1; p=reject"] };
    const resolver = resolverOf(await startDnsServer(records));
    expect(await checkSenderDomain("mail.company.com", resolver)).toMatchObject([
      { name: "SPF record", state: "ok", detail: `mail.company.com: ${SPF}` },
      { name: "DMARC record", state: "ok", detail: "_dmarc.company.com: v=DMARC1; p=reject" },
    ]);
  });

  test.each([
    { records: { "company.com": ["other"] }, spf: "warn", detail: /has none/ },
    { records: { "company.com": [] }, spf: "warn", detail: /has none/ },
    { records: { "company.com": ["v=spf1 -all", "v=spf1 ~all"] }, spf: "warn", detail: /has 2 SPF records/ },
    { records: {}, spf: "fail", detail: /there is no domain company\.com/ },
  ])("lacks them: $detail", async ({ records, spf, detail }) => {
    const found = await checkSenderDomain("company.com", resolverOf(await startDnsServer({ ...records })));
    expect(found).toMatchObject([
      { state: spf, detail: expect.stringMatching(detail) },
      { name: "DMARC record", state: "warn", remedy: expect.stringContaining("_dmarc.company.com") },
    ]);
  });

  test("cannot be looked up if DNS does not answer", async () => {
    const found = await checkSenderDomain(
      "company.com",
      resolverOf(await startSilentDnsServer(), { timeout: 200, tries: 1 }),
    );
    expect(found).toMatchObject([
      { state: "warn", detail: "could not look up company.com: no answer from DNS" },
      { state: "warn", detail: "could not look up _dmarc.company.com: no answer from DNS" },
    ]);
  });
});

describe("the site", () => {
  const answering = async (status: number, text: string) => {
    const server = createServer((_request, response) => response.writeHead(status).end(text));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${await openPort(server)}`;
  };
  const states = async (siteUrl: string, apiBase = "") =>
    (await checkSite({ siteUrl, apiBase }, homePage())).map(({ name, state }) => `${name} ${state}`);

  test("is ours, and ready", async () => {
    const url = await serveSite();
    expect(await states(url)).toEqual(["home page ok", "server ok"]);
    expect(await states(await answering(200, homePage()), url)).toEqual(["home page ok", "server ok"]);
  });

  test("belongs to another program, cannot accept messages, fails, or does not exist", async () => {
    expect(await states(await answering(200, "Welcome to nginx!"))).toEqual(["home page warn", "server fail"]);
    const busy = await checkSite(
      { siteUrl: await answering(503, '{"status":"store unavailable"}'), apiBase: "" },
      null,
    );
    expect(busy).toMatchObject([
      { state: "fail", detail: expect.stringMatching(/status 503$/) },
      { state: "fail", detail: expect.stringMatching(/runs, but cannot store messages$/) },
    ]);
    const [page, ready] = await checkSite({ siteUrl: `http://127.0.0.1:${await findFreePort()}`, apiBase: "" }, null);
    expect([page?.state, ready?.state]).toEqual(["fail", "fail"]);
    expect(page?.detail).toMatch(/no connection \(ECONNREFUSED\)$/);
  });
});

test("ALERT_URL gets a test alert, and the check shows the answer without the URL's secret", async () => {
  const KEEP = { deliveredMs: null, failedMs: null, quarantinedMs: null };
  const check = (alertUrl: string | null) => checkAlerts({ alertUrl, retention: RETENTION }, "Brighter");
  expect(await checkAlerts({ alertUrl: null, retention: KEEP }, "Brighter")).toEqual([]);
  expect(await check(null)).toMatchObject([
    { state: "warn", name: "ALERT_URL", detail: expect.stringContaining("only the log and the inbox announce") },
  ]);
  const receiver = await startReceiver();
  const url = `http://127.0.0.1:${receiver.port}/services/hunter2`;
  expect(await check(url)).toMatchObject([
    { state: "ok", detail: expect.stringMatching(/^127\.0\.0\.1:\d+ accepted a test alert \(status 2\d\d/) },
  ]);
  expect(receiver.posts.map(({ body }) => body)).toEqual([
    {
      text: "Brighter: This is only a test of ALERT_URL by preflight. It says nothing about the state of the website.",
      troubles: [],
    },
  ]);
  receiver.close();
  const [finding] = await check(url);
  expect(finding).toMatchObject({
    state: "fail",
    detail: expect.stringMatching(/did not accept a test alert: ECONN/),
  });
  expect(JSON.stringify(finding)).not.toContain("hunter2");
});

test("npm run preflight shows every check and no secret, and exits with 1 if a check fails", async () => {
  const dataDir = join(await makeScratchFolder(), "data");
  await mkdir(dataDir);
  const mailServer = await startMailServer();
  onTestFinished(() => mailServer.close());
  const SMTP_URL = `smtp://website:hunter2@127.0.0.1:${mailServer.port}`;
  const env = { SITE_URL: await serveSite(), DATA_DIR: dataDir, SMTP_URL };
  const { code, out, err } = await runCli(env, "preflight");
  expect(err).toBe("");
  const seen = out.split("\n").map((line) => /^(ok|warn|FAIL) +((?:\S+ )*\S+) {2}/.exec(line)?.slice(1, 3).join(" "));
  const failed = ["SITE_URL", "TRUST_PROXY", "build", "placeholders", "contact email", "mail server", "MAIL_TO"];
  const good = ["warn database", "ok home page", "ok server"];
  expect(seen).toEqual(expect.arrayContaining([...failed.map((name) => `FAIL ${name}`), ...good]));
  expect(out).toMatch(/ disk +\d+ MB free in /);
  expect(out).toMatch(/ footprint +DESNZ /);
  expect(out).toMatch(/\nNot ready: \d+ failed, \d warnings?\.\n$/);
  expect(out).not.toContain("hunter2");
  expect(code).toBe(1);
});

test("npm run preflight shows every wrong setting, and nothing else", async () => {
  const { code, out } = await runCli({ PORT: "x", SMTP_URL: "mail.company.com" }, "preflight");
  expect(out).toMatch(
    /^FAIL {2}settings {2}PORT is not a port number -> e\.g\. PORT=3000\nFAIL {2}settings {2}SMTP_URL/,
  );
  expect(out).toMatch(/\n\nNot ready: 2 failed, 0 warnings\.\n$/);
  expect(code).toBe(1);
});
