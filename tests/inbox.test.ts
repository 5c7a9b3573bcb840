import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type BuildManifest, MANIFEST_FILE } from "../contract/build-manifest.ts";
import type { ContactMessage } from "../contract/contact-message.ts";
import {
  type Action,
  type ActionAnswer,
  CHANGES_WAIT_MS,
  CHANNELS,
  type ChangeNotice,
  type CountryCount,
  type ExportPart,
  type MessageDetail,
  type MessageItem,
  type MessagePage,
  type Overview,
  type People,
  type Person,
  type PersonAnswer,
} from "../contract/inbox.ts";
import { electricityTable } from "../prerender/electricity.ts";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { findFreePort, startServer } from "../scripts/run-server.ts";
import { DEFAULT_PORT, type InboxOptions, startInbox } from "../server/inbox/serve.ts";
import { OperatorError } from "../server/log.ts";
import { BuildMissing } from "../server/manifest.ts";
import type { Store } from "../server/store/store.ts";
import {
  DAY_MS,
  estimateOf,
  finish,
  HOUR_MS,
  messageWith,
  NO_LIMITS,
  store as send,
  submissionOf,
  trapped,
} from "./store-contract/samples.ts";
import { openApp } from "./support/app.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { type AskOptions, ask, createCaller, openInboxCommand, startInboxCommand } from "./support/inbox-command.ts";
import { postMessage } from "./support/load.ts";
import { startNetwork } from "./support/network.ts";
import { exchange } from "./support/raw-http.ts";
import { runCli } from "./support/run-cli.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
}, 120_000);
afterAll(() => postgres?.stop(), 120_000);

const ago = (ms: number) => new Date(Date.now() - ms);

/** A page of its own, so that these tests do not need a build. */
async function makePage(): Promise<string> {
  const folder = await makeScratchFolder();
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Inbox</title>");
  await writeFile(join(folder, "assets", "main.js"), "1;");
  return folder;
}

/** The inbox within this process, on SQLite, with a clock of the test's own. */
async function openInbox(settings: Partial<Pick<InboxOptions, "readElectricity" | "filesDir">> = {}) {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  onTestFinished(() => store.close());
  const clock = createFakeClock();
  const inbox = await startInbox({
    store,
    dataDir,
    databaseKind: "SQLite",
    account: "tester",
    program: "npm run messages --",
    channels: CHANNELS,
    filesDir: await makePage(),
    port: await findFreePort(),
    clock,
    readElectricity: electricityTable,
    ...settings,
  });
  onTestFinished(() => inbox.close());
  const { port } = inbox;
  const token = inbox.url.split("#")[1] ?? "";
  const asked = (path: string, { headers = {}, ...options }: AskOptions = {}) =>
    ask(port, path, { ...options, headers: { host: `localhost:${port}`, ...headers } });
  const authorization = `Bearer ${token}`;
  return { inbox, store, dataDir, clock, port, token, authorization, asked, ...createCaller({ port, token }) };
}

/** Stores a message, and gives the body of a request that would delete it. */
async function sendTarget(store: Store): Promise<{ reference: string; version: string; body: string }> {
  const reference = await send(store, trapped());
  const { version = "" } = (await store.find(reference)) ?? {};
  return { reference, version, body: JSON.stringify({ action: "delete", targets: [{ reference, version }] }) };
}

describe("who gets in", () => {
  test("only a request with the token of this run", async () => {
    const { asked, authorization, token } = await openInbox();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await asked("/api/messages", { headers: { authorization } })).status).toBe(200);
    const other = await openInbox();
    expect(other.token).not.toBe(token);
    const wrong = ["", token, `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, "Bearer ", other.authorization];
    for (const given of [...wrong, `Basic ${btoa(`x:${token}`)}`]) {
      const { status, headers, text } = await asked("/api/messages", { headers: { authorization: given } });
      expect([given, status]).toEqual([given, 401]);
      expect(headers).toMatchObject({ "www-authenticate": "Bearer", "cache-control": "no-store" });
      expect(JSON.parse(text)).toMatchObject({ error: "unauthorised" });
    }
    expect((await asked("/api/messages")).status).toBe(401);
    // Neither in the query nor as a cookie, which all ports of a host share.
    expect((await asked(`/api/messages?token=${token}`)).status).toBe(401);
    expect((await asked("/api/messages", { headers: { cookie: `token=${token}` } })).status).toBe(401);
  });

  test("without a token nothing is shown or done, and nothing by what a form of another site could post", async () => {
    const { asked, store, authorization, clock } = await openInbox();
    const { reference, version, body } = await sendTarget(store);
    for (const path of ["messages", `messages/${reference}`, "overview", "changes", "export?format=csv"]) {
      expect([path, (await asked(`/api/${path}`)).status]).toEqual([path, 401]);
    }
    const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    for (const path of ["/%61pi/messages", "/api/%6dessages", "//api/messages", "/API/messages", "/api/%zz"]) {
      for (const headers of [{}, opened]) {
        const { text, headers: answered } = await asked(path, { headers });
        expect([path, text]).not.toEqual([path, expect.stringContaining("Ada")]);
        expect(answered).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      }
    }
    // So that these are not too many tries.
    await clock.advance(60_000);
    const act = async (headers: Record<string, string>) =>
      (await asked("/api/actions", { method: "POST", headers, body })).status;
    expect(await act({ "content-type": "application/json" })).toBe(401);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      expect([400, 415]).toContain(await act({ authorization, "content-type": type }));
    }
    expect(await store.list({})).toMatchObject([{ reference, version }]);
  });

  test("wrong tokens are slowed down after ten tries, refused after twenty at once, and forgotten after a minute; the right one never waits", async () => {
    const { asked, authorization, clock } = await openInbox();
    const tryWrong = () => asked("/api/messages", { headers: { authorization: "Bearer wrong" } });
    const tryRight = async () => (await asked("/api/messages", { headers: { authorization } })).status;
    const delayed = () => clock.waiting().filter((ms) => ms === 1000);
    for (let count = 0; count < 10; count += 1) expect((await tryWrong()).status).toBe(401);
    const answered: number[] = [];
    const slow = tryWrong().then(({ status, headers }) => answered.push(status, Number(headers["retry-after"])));
    await expect.poll(delayed).toHaveLength(1);
    // What is open to be read by the right token is not held up by somebody else's guesses.
    expect(await tryRight()).toBe(200);
    await clock.advance(999);
    expect(answered).toEqual([]);
    await clock.advance(1);
    await slow;
    expect(answered).toEqual([429, 60]);
    const many = Array.from({ length: 20 }, tryWrong);
    await expect.poll(delayed).toHaveLength(20);
    expect((await tryWrong()).status).toBe(429);
    expect(await tryRight()).toBe(200);
    await clock.advance(1000);
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(20).fill(429));
    expect(await tryRight()).toBe(200);
    await clock.advance(60_000);
    expect((await tryWrong()).status).toBe(401);
  });

  test("only under this machine's own names and the inbox's own port", async () => {
    const { asked, authorization, port } = await openInbox();
    const own = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`];
    const elsewhere = ["localhost", `localhost:${port + 1}`, "127.0.0.1"];
    const foreign = [
      "evil.example",
      `evil.example:${port}`,
      "www.example.com",
      `0.0.0.0:${port}`,
      `LOCALHOST.:${port}`,
    ];
    const tricks = [`localhost.evil.example:${port}`, `127.0.0.1.nip.io:${port}`, `localhost:${port}@evil.example`];
    for (const host of own)
      expect((await asked("/api/messages", { headers: { authorization, host } })).status).toBe(200);
    for (const path of ["/api/messages", "/", "/assets/main.js", "/%zz"]) {
      for (const host of path === "/%zz" ? [] : elsewhere) {
        const { status, text } = await asked(path, { headers: { authorization, host } });
        expect([host, path, status]).toEqual([host, path, 403]);
        // A person gets a sentence, a program JSON.
        const isJson = path.startsWith("/api/");
        expect(text.startsWith("{")).toBe(isJson);
        if (!isJson) expect(text).toMatch(/^This inbox is only open under localhost .+ same number on both sides\.\n$/);
        expect(text).not.toContain("<");
      }
      // Meant for the site, or a trick: not a byte, so that no proxy takes it for the site's answer.
      for (const host of [...foreign, ...tricks]) {
        const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`;
        expect([host, path, await exchange(port, request)]).toEqual([host, path, ""]);
      }
    }
    const withoutHost = `GET /api/messages HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`;
    expect(await exchange(port, withoutHost)).toBe("");
    expect(await exchange(port, "no HTTP\r\n\r\n")).toBe("");
  });

  test("no other site or program, even with the token", async () => {
    const { asked, store, authorization, port } = await openInbox();
    const { reference, version, body } = await sendTarget(store);
    const navigation = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    for (const [who, given] of Object.entries<Record<string, string>>({
      "another site's script": { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      "another site's script, without Sec-Fetch-Site": { origin: "https://evil.example" },
      "another site's script, without Origin": { "sec-fetch-site": "cross-site" },
      "another program's page": { origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
      "the same, whatever its Origin": { origin: `http://localhost:${port}`, "sec-fetch-site": "same-site" },
      "the same over HTTPS": { origin: `https://localhost:${port}` },
      "a sandboxed frame or a file": { origin: "null" },
      "a form that another site posts": navigation,
      "a link to the API": { ...navigation, "sec-fetch-dest": "document" },
    })) {
      const headers = { ...given, authorization, "content-type": "application/json" };
      const answers = await Promise.all([
        asked("/api/messages", { headers }),
        asked("/api/actions", { method: "POST", headers, body }),
        asked("/api/actions", { method: "OPTIONS", headers }),
      ]);
      expect([who, ...answers.map(({ status }) => status)]).toEqual([who, 403, 403, 403]);
    }
    expect(await store.list({})).toMatchObject([{ reference, version }]);
  });

  test("the page's own requests, and a person who opens the page", async () => {
    const { asked, authorization, port } = await openInbox();
    const own = { origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin", authorization };
    expect((await asked("/api/messages", { headers: own })).status).toBe(200);
    const opened = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    for (const site of ["none", "cross-site", "same-site"]) {
      expect((await asked("/", { headers: { ...opened, "sec-fetch-site": site } })).status).toBe(200);
    }
    // Framed, or loaded as a script.
    expect(
      (await asked("/", { headers: { ...opened, "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" } })).status,
    ).toBe(403);
    expect((await asked("/assets/main.js", { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });

  test("every answer forbids to be kept, framed, sniffed or to load anything from elsewhere", async () => {
    const { asked, authorization } = await openInbox();
    const answers = await Promise.all([
      ...["/", "/assets/main.js", "/messages/BC-AAAA-AA", "/assets/none.js", "/api/messages"].map((path) =>
        asked(path),
      ),
      asked("/api/messages", { headers: { authorization } }),
      asked("/", { headers: { host: "localhost:1" } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401, 200, 403]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
      const policy = String(headers["content-security-policy"]);
      for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]) {
        expect(policy).toContain(part);
      }
      expect(policy).toMatch(/base-uri 'none'; form-action 'none'; frame-ancestors 'none'/);
      expect(policy).not.toMatch(/unsafe|\*|data:|http/);
      expect(headers).not.toHaveProperty("access-control-allow-origin");
      expect(headers).not.toHaveProperty("set-cookie");
    }
  });

  test("no file but the page's own", async () => {
    const { asked } = await openInbox();
    for (const up of ["..", "assets/../..", "assets/%2e%2e/%2e%2e"]) {
      expect((await asked(`/${up}/package.json`)).text).not.toContain("brighter");
    }
    expect((await asked("//etc/passwd")).text).not.toContain("root:");
  });

  test("listens on this machine's own addresses only", async () => {
    const { port, authorization, asked } = await openInbox();
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address, scopeid } of addresses.filter(({ internal }) => !internal)) {
      const host = scopeid ? `${address}%${scopeid}` : address;
      await expect(ask(port, "/", { host })).rejects.toThrow(/ECONNREFUSED|EINVAL|EHOSTUNREACH|ENETUNREACH/);
    }
    const hasIpv6 = addresses.some(({ address }) => address === "::1");
    if (hasIpv6) expect((await asked("/api/messages", { headers: { authorization }, host: "::1" })).status).toBe(200);
  });
});

describe("the command", () => {
  /** With a database that has no messages. */
  async function makeDataDir(): Promise<string> {
    const dataDir = await makeScratchFolder();
    await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
    return dataDir;
  }

  test("prints one line with an address, and ends with Ctrl-C", async () => {
    const dataDir = await makeDataDir();
    const port = await findFreePort();
    const inbox = await startInboxCommand({ DATA_DIR: dataDir }, "--port", String(port));
    onTestFinished(async () => void (await inbox.stop()));
    expect(inbox.output()).toBe(`Inbox: http://localhost:${port}/#${inbox.token}\n`);
    expect((await ask(port, "/", {})).text).toContain("<!doctype html>");
    // A page that waits for changes does not keep the command from ending.
    const { get } = createCaller(inbox);
    const { token } = await get<ChangeNotice>("changes");
    const asked = get<ChangeNotice>("changes", { since: token }).catch(() => "cut off");
    // Answered after the other one was received.
    await get("messages");
    expect(await inbox.stop()).toBe(0);
    expect(await asked).toBe("cut off");
    expect(inbox.output()).toBe(`Inbox: http://localhost:${port}/#${inbox.token}\n`);
  });

  test("uses the next free port when the default one is in use, also on IPv6 only, and says so", async () => {
    const blockers = [createServer(), createServer()];
    onTestFinished(() => blockers.forEach((server) => void server.close()));
    // Taken by these or by another program: either will do.
    const listening = blockers.map((server, index) => {
      server.on("error", () => {});
      server.listen(DEFAULT_PORT + index, index === 0 ? "127.0.0.1" : "::1");
      return Promise.race([once(server, "listening"), once(server, "error")]);
    });
    await Promise.allSettled(listening);
    const inbox = await openInboxCommand({ DATA_DIR: await makeDataDir() });
    onTestFinished(async () => void (await inbox.stop()));
    expect(inbox.port).toBeGreaterThan(DEFAULT_PORT);
    const hasIpv6 = blockers[1]?.listening ?? false;
    if (hasIpv6) expect(inbox.port).toBeGreaterThan(DEFAULT_PORT + 1);
    expect(inbox.output()).toBe(`Port ${DEFAULT_PORT} is in use; using ${inbox.port}.\nInbox: ${inbox.url}\n`);
    expect(await inbox.stop()).toBe(0);
  });

  test("says what to do when its port is in use, there is no data, or it is used wrongly", async () => {
    const dataDir = await makeDataDir();
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as { port: number };
    expect(await runCli({ DATA_DIR: dataDir }, "inbox", "--port", String(port))).toEqual({
      code: 1,
      out: "",
      err: `Port ${port} is in use; choose another with --port, or leave --port out\n`,
    });
    expect(await runCli({ DATA_DIR: join(dataDir, "none") }, "inbox")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^There are no messages in .+ set DATA_DIR .+\n$/),
    });
    expect(await runCli({ DATA_DIR: dataDir }, "inbox", "--port", "70000")).toMatchObject({ code: 2 });
    const site = { DATA_DIR: dataDir, PORT: "3017", METRICS_PORT: "9464", SMTP_URL: "smtp://localhost:2525" };
    const owners = { 3017: "PORT", 9464: "METRICS_PORT", 2525: "SMTP_URL", 3002: "a node in deploy/" };
    for (const [sitePort, owner] of Object.entries(owners)) {
      expect(await runCli(site, "inbox", "--port", sitePort)).toEqual({
        code: 1,
        out: "",
        err: `Port ${sitePort} is the site's (${owner}); choose another with --port, or leave --port out\n`,
      });
    }
  });

  test("says what to run when an estimate cannot be computed again", async () => {
    const readElectricity = () => {
      throw new BuildMissing("There is no build to serve in dist/; run: npm run build");
    };
    const { store, get, post } = await openInbox({ readElectricity });
    await send(store, submissionOf(messageWith(), { footprint: estimateOf({ carKm: 1 }) }));
    const email = "ada@example.com";
    const { version } = await get<Person>("people", { email });
    await expect(post("people/correct", { email, version, changes: { country: "FR" } })).rejects.toThrow(
      /500: .*The footprint estimate cannot be computed again\. There is no build .+ run: npm run build/,
    );
  });

  test("says what to run when its page is not built", async () => {
    const opening = openInbox({ filesDir: "none" });
    await expect(opening).rejects.toThrow(OperatorError);
    await expect(opening).rejects.toThrow(/npm run build/);
  });

  test("ends after eight hours without the operator, however often the page asks by itself", async () => {
    const { inbox, clock, get } = await openInbox();
    let isOver = false;
    void inbox.idle.then(() => {
      isOver = true;
    });
    await clock.advance(8 * HOUR_MS - 1);
    await get("messages");
    await clock.advance(8 * HOUR_MS - 1);
    expect(isOver).toBe(false);
    await get("changes");
    await get("messages", { background: "1" });
    void clock.advance(1);
    await expect.poll(() => isOver).toBe(true);
  });

  test("opens in the browser without the token among a program's arguments", async () => {
    const bin = await makeScratchFolder();
    const opened = join(bin, "opened");
    for (const name of ["xdg-open", "open"]) {
      await writeFile(join(bin, name), `#!/bin/sh\necho "$@" > ${opened}.part\nmv ${opened}.part ${opened}\n`, {
        mode: 0o755,
      });
    }
    vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const port = String(await findFreePort());
    const inbox = await openInboxCommand({ DATA_DIR: await makeDataDir() }, "--open", "--port", port);
    onTestFinished(async () => void (await inbox.stop()));
    await expect.poll(() => existsSync(opened), { timeout: 10_000 }).toBe(true);
    const argument = (await readFile(opened, "utf8")).trim();
    expect(argument).toMatch(/^file:\/\/\/.+\.html$/);
    expect(argument).not.toContain(inbox.token);
    expect(await readFile(new URL(argument), "utf8")).toContain(inbox.url);
    expect(await inbox.stop()).toBe(0);
    expect(existsSync(new URL(argument))).toBe(false);
  });

  test("is no part of the public server", async () => {
    const { app, close } = await openApp();
    onTestFinished(close);
    // Its font is the site's own.
    const names = (await readdir("dist-inbox/assets")).filter((name) => /\.(js|css)$/.test(name));
    expect(names.length).toBeGreaterThan(1);
    for (const path of ["/api/messages", "/dist-inbox/index.html", ...names.map((name) => `/assets/${name}`)]) {
      const { statusCode, body } = await app.inject(path);
      expect(body).not.toContain('id="inbox"');
      if (path.startsWith("/assets/")) expect([path, statusCode]).toEqual([path, 404]);
    }
    // The server serves what its manifest lists, and nothing else of dist/.
    const { files } = JSON.parse(await readFile(join("dist", MANIFEST_FILE), "utf8")) as BuildManifest;
    expect(
      files.filter(({ file, url }) => /inbox/i.test(file + url) || names.some((name) => file.endsWith(name))),
    ).toEqual([]);
  });
});

/** The command beside a store that is in use, as a running server's is. */
async function setUp(kind: "SQLite" | "PostgreSQL") {
  const dataDir = await makeScratchFolder();
  const databaseUrl = kind === "SQLite" ? null : await postgres.createDatabase();
  const store = await openStoreInProcess({ dataDir, databaseUrl });
  onTestFinished(() => store.close());
  const env = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
  const inbox = await openInboxCommand(env, "--port", String(await findFreePort()));
  onTestFinished(async () => void (await inbox.stop()));
  const caller = createCaller(inbox);
  const cli = async (...args: string[]) => {
    const { code, out, err } = await runCli(env, ...args);
    if (code !== 0) throw new Error(`${args.join(" ")} left with ${code}: ${err}`);
    return out;
  };
  const list = (query: Record<string, string> = {}) => caller.get<MessagePage>("messages", query);
  const items = async (query: Record<string, string> = {}) => (await list(query)).items;
  const item = async (reference: string): Promise<MessageItem> => {
    const found = (await items()).find((message) => message.reference === reference);
    if (!found) throw new Error(`There is no ${reference}`);
    return found;
  };
  const act = (action: Action, ...targets: readonly MessageItem[]) =>
    caller.post<ActionAnswer>("actions", {
      action,
      targets: targets.map(({ reference, version }) => ({ reference, version })),
    });
  return { dataDir, databaseUrl, env, store, inbox, cli, list, items, item, act, ...caller };
}

describe.each(["SQLite", "PostgreSQL"] as const)("on %s", (kind) => {
  test("lists what the command line lists, in tabs with counts, by filter and page by page", async () => {
    const { store, cli, list, act, item } = await setUp(kind);
    const put = (fields: Partial<ContactMessage>, hours: number) =>
      send(store, submissionOf(messageWith(fields)), ago(hours * HOUR_MS));
    const answered = await put({ country: "DE", name: "Émile Zola" }, 3);
    await finish(store, "delivered", ago(3 * HOUR_MS));
    await act("answer", await item(answered));
    const failed = await put({ country: "" }, 2);
    await finish(store, "failed", ago(2 * HOUR_MS));
    const waiting = await put({ country: "DE", message: "x".repeat(5000) }, 1);
    const quarantined = await send(store, trapped("eve@example.org"), ago(0));
    const { items: all, counts, nextCursor } = await list();
    expect(counts).toEqual({ all: 4, unanswered: 2, waiting: 1, failed: 1, quarantined: 1 });
    expect(nextCursor).toBeNull();
    expect(all[1]?.excerpt).toBe("x".repeat(240));
    expect(all[0]?.refusals).toEqual({
      retry: `${quarantined} is quarantined; only what failed or is queued can be retried`,
      resend: `${quarantined} is quarantined; only delivered messages can be resent`,
      unanswer: `${quarantined} is quarantined; it is not marked as answered`,
    });
    const facts = all.map((item) => {
      const { excerpt: _, version: __, refusals: ___, keptUntil: ____, footprintKg: _____, ...shown } = item;
      return shown;
    });
    expect(all.map(({ keptUntil }) => keptUntil)).toEqual(
      all.map(({ stateChangedAt, state }) => {
        const days = { delivered: 30, failed: 90, quarantined: 14, queued: 0 }[state];
        return days === 0 ? null : new Date(Date.parse(stateChangedAt) + days * DAY_MS).toISOString();
      }),
    );
    expect(JSON.parse(await cli("list", "--json"))).toMatchObject(facts);
    expect(JSON.parse(await cli("list", "--json", "--unanswered"))).toMatchObject(facts.slice(1, 3));

    for (const [query, ...expected] of [
      [{ tab: "all" }, quarantined, waiting, failed, answered],
      [{ tab: "unanswered" }, waiting, failed],
      [{ tab: "waiting" }, waiting],
      [{ tab: "failed" }, failed],
      [{ tab: "quarantined" }, quarantined],
      [{ search: "EVE@" }, quarantined],
      [{ country: "DE" }, waiting, answered],
      [{ country: "none" }, failed],
      [{ since: ago(2.5 * HOUR_MS).toISOString(), until: ago(HOUR_MS / 2).toISOString() }, waiting, failed],
    ] as const) {
      expect((await list(query)).items.map(({ reference }) => reference)).toEqual(expected);
    }
    const none = { unanswered: 0, waiting: 0, failed: 0, quarantined: 0 };
    expect((await list({ search: "émile", tab: "failed" })).counts).toEqual({ ...none, all: 1 });

    const first = await list({ limit: "3" });
    expect(first.items).toEqual(all.slice(0, 3));
    const second = await list({ limit: "3", cursor: String(first.nextCursor) });
    expect(second).toEqual({ items: all.slice(3), nextCursor: null, counts: null });
  });

  test("shows everything about a message and what happened to it", async () => {
    const { store, get, act, item } = await setUp(kind);
    const message = "First line\nsecond \u202Eline";
    const reference = await send(store, submissionOf(messageWith({ message }), { isTrapped: true }), ago(1000));
    const shown = () => get<MessageDetail>(`messages/${reference.toLowerCase()}`);
    const quarantined = [
      { kind: "quarantined", detail: "trap" },
      { kind: "viewed", detail: null },
    ];
    expect(await shown()).toMatchObject({
      reference,
      message,
      phone: "+44 20 7946 0000",
      quarantineReason: "trap",
      history: quarantined,
    });
    await act("release", await item(reference));
    await finish(store, "failed", new Date());
    expect(await shown()).toMatchObject({
      state: "failed",
      history: [...quarantined, { kind: "released" }, { kind: "failed", detail: "550 no such user" }],
    });
    await expect(get("messages/BC-NONE-00")).rejects.toThrow(/404.+not-found/);
  });

  test("shows a message's place in its list, sorts by estimate, adds notes, and finds people", async () => {
    const { store, get, post, list, cli } = await setUp(kind);
    const footprint = estimateOf({ carKm: 5000 });
    const estimated = await send(store, submissionOf(messageWith(), { footprint }), ago(3 * HOUR_MS));
    const plain = await send(store, submissionOf(messageWith({ name: "Émile Zola" })), ago(2 * HOUR_MS));
    const held = await send(store, trapped("eve@example.org"), ago(HOUR_MS));
    const sorted = await list({ sort: "footprint", limit: "2" });
    expect(sorted.items).toMatchObject([
      { reference: estimated, footprintKg: footprint.totalKg },
      { reference: held, footprintKg: null },
    ]);
    expect((await list({ offset: "2" })).items).toMatchObject([{ reference: estimated }]);
    expect((await list({ offset: "2" })).counts).toMatchObject({ all: 3 });
    const place = (query: Record<string, string>) => get(`messages/${plain}/place`, query);
    expect(await place({})).toEqual({ position: 2, total: 3, previous: held, next: estimated });
    expect(await place({ tab: "unanswered", sort: "footprint" })).toEqual({
      position: 2,
      total: 2,
      previous: estimated,
      next: null,
    });
    expect(await place({ search: "zola" })).toEqual({ position: 1, total: 1, previous: null, next: null });
    await expect(get("messages/BC-NONE-00/place")).rejects.toThrow(/404/);
    await expect(place({ sort: "size" })).rejects.toThrow(/400.*sort is not one of newest, oldest, footprint/);

    const noted = await post<MessageDetail>(`messages/${plain}/notes`, { text: " Wants =1+1 offers\n" });
    expect(noted.history.at(-1)).toMatchObject({ kind: "noted", detail: "Wants =1+1 offers", author: null });
    for (const text of ["", " \n", "x".repeat(2001)]) {
      await expect(post(`messages/${plain}/notes`, { text })).rejects.toThrow(/400.*text is not a text of at most/);
    }
    await expect(post("messages/BC-NONE-00/notes", { text: "x" })).rejects.toThrow(/404/);
    expect(await cli("note", plain, "Called back", "--name", "Anna")).toBe("1 note added.\n");
    expect(await cli("show", plain)).toMatch(/Note: Wants =1\+1 offers\n.+ Note by Anna: Called back\n$/);
    const notes = [{ text: "Wants =1+1 offers" }, { author: "Anna", text: "Called back" }];
    expect(JSON.parse(await cli("export", "--json", "--search", "zola"))).toMatchObject([{ notes }]);
    expect(JSON.parse(await cli("privacy", "export", "ada@example.com")).messages[0]).toMatchObject({ notes });
    expect(await cli("export")).toMatch(
      /,notes,expiresAt\r\n[\s\S]+"\S+Z -: Wants =1\+1 offers\n\S+Z Anna: Called back",\r\n/,
    );

    expect(await get<People>("people/search", { search: "ZOL" })).toMatchObject([
      { name: "Émile Zola", email: "ada@example.com", messages: 2 },
    ]);
    expect(await get<People>("people/search", { search: "example" })).toHaveLength(2);
  });

  test("does every action, and answers with the version to go on with", async () => {
    const { store, dataDir, item, act, cli } = await setUp(kind);
    const failed = await send(store, submissionOf(), ago(HOUR_MS));
    await finish(store, "failed", ago(HOUR_MS));
    const delivered = await send(store, submissionOf(), ago(HOUR_MS));
    await finish(store, "delivered", ago(HOUR_MS));
    const held = await send(store, trapped(), ago(HOUR_MS));
    const kept = [delivered, failed, held].map((reference) => `${reference}.eml`);
    const deleted = await send(store, trapped(), ago(HOUR_MS));
    await mkdir(join(dataDir, "outbox"));
    for (const file of [...kept, `${deleted}.eml`]) await writeFile(join(dataDir, "outbox", file), "mail");
    for (const [action, reference, changed] of [
      ["retry", failed, { state: "queued", lastError: null }],
      ["resend", delivered, { state: "queued" }],
      ["release", held, { state: "queued" }],
      ["answer", held, { answeredAt: expect.any(String) }],
      ["unanswer", held, { answeredAt: null }],
    ] as const) {
      const { results } = await act(action, await item(reference));
      expect(results).toEqual([{ reference, outcome: "done", message: await item(reference) }]);
      expect(results).toMatchObject([{ message: changed }]);
    }
    expect((await act("delete", await item(deleted))).results).toEqual([
      { reference: deleted, outcome: "done", message: null },
    ]);
    expect((await readdir(join(dataDir, "outbox"))).toSorted()).toEqual(kept.toSorted());
    await cli("answered", held);
    expect(await item(held)).toMatchObject({ answeredAt: expect.any(String) });
    expect(await cli("answered", held, "--undo")).toBe("1 message marked as unanswered.\n");
  });

  test("acts on many at once, says what became of each, and changes nothing that changed meanwhile", async () => {
    const { store, item, act, cli } = await setUp(kind);
    const references = await Promise.all(
      ["a", "b", "c", "d", "e"].map((name) => send(store, trapped(`${name}@x.org`), ago(HOUR_MS))),
    );
    const seen = await Promise.all(references.map(item));
    const [, changed = "", gone = "", restricted = ""] = references;
    await cli("answered", changed);
    await cli("delete", gone, "--yes");
    await cli("privacy", "restrict", "d@x.org");
    const before = await store.find(changed);
    const stale = await act("release", ...seen);
    expect(stale.results.map(({ outcome }) => outcome)).toEqual(["done", "changed", "gone", "changed", "done"]);
    expect(await store.find(changed)).toEqual(before);
    expect(stale.results[1]).toMatchObject({ message: { state: "quarantined", answeredAt: expect.any(String) } });
    const refused = await act("release", await item(restricted), await item(references[0] ?? ""));
    expect(refused.results).toMatchObject([
      { outcome: "refused", reason: `${restricted} is restricted: its sender asked that it be kept but not used` },
      { outcome: "refused", reason: expect.stringContaining("only quarantined messages can be released") },
    ]);
  });

  test("exports in parts what is shown, the same file that the command line writes", async () => {
    const { store, get, cli } = await setUp(kind);
    const hostile = { name: "=cmd|' /C calc'!A0", message: 'a, "b"\nc]\u202E' };
    await send(store, submissionOf(messageWith(hostile)), ago(2 * HOUR_MS));
    await Promise.all(Array.from({ length: 2100 }, () => store.accept(submissionOf(), NO_LIMITS, ago(HOUR_MS))));
    const whole = async (query: Record<string, string>) => {
      const parts: ExportPart[] = [];
      for (let cursor: string | null = null; parts.length === 0 || cursor !== null; ) {
        const part: ExportPart = await get<ExportPart>("export", { ...query, ...(cursor && { cursor }) });
        parts.push(part);
        cursor = part.nextCursor;
      }
      return { parts, text: parts.map(({ text }) => text).join("") };
    };
    const { parts, text } = await whole({ format: "csv" });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(2101);
    expect(parts[0]?.fileName).toMatch(/^messages-\d{4}-\d\d-\d\d\.csv$/);
    expect(text).toBe(await cli("export"));
    expect((await whole({ format: "json" })).text).toBe(await cli("export", "--json"));
    const found = await whole({ format: "json", search: "CALC", tab: "waiting" });
    expect(JSON.parse(found.text)).toMatchObject([hostile]);
    expect(JSON.parse((await whole({ format: "json", tab: "failed" })).text)).toEqual([]);
  }, 60_000);

  test("shows a person, exports, corrects, restricts and erases, only as long as nothing changed", async () => {
    const { store, get, post, cli, dataDir } = await setUp(kind);
    const footprint = estimateOf({ electricityKwh: 1000, carKm: 500 });
    for (const [index, email] of ["Bob@Example.com", "bob@example.com", "eve@example.com"].entries()) {
      const submission = submissionOf(messageWith({ email }), { footprint: index === 0 ? footprint : null });
      await send(store, submission, ago((3 - index) * HOUR_MS));
    }
    const person = () => get<Person>("people", { email: "BOB@example.com" });
    const change = async (kind: string, fields: object) =>
      post<PersonAnswer>(`people/${kind}`, { email: "bob@example.com", version: (await person()).version, ...fields });
    const done = { outcome: "done", messages: 2, files: 0 };
    const { version, messages, ...seen } = await person();
    expect(messages).toMatchObject([{ email: "bob@example.com" }, { email: "Bob@Example.com" }]);
    expect(seen).toMatchObject({ restricted: "none", hasFootprint: true });
    const shownEstimate = async () => (await get<MessageDetail>(`messages/${messages[1]?.reference}`)).footprint;
    expect(await shownEstimate()).toEqual(footprint);

    const exported = await get<ExportPart>("people/export", { email: "bob@example.com" });
    const byCli = JSON.parse(await cli("privacy", "export", "bob@example.com"));
    expect(JSON.parse(exported.text)).toEqual({ ...byCli, exportedAt: expect.any(String) });

    expect(await change("correct", { changes: { email: "no address", name: "" } })).toEqual({
      outcome: "invalid",
      fields: { email: expect.stringContaining("email"), name: expect.stringContaining("name") },
    });
    expect(await change("correct", { changes: { name: "Bob King", country: "FR" } })).toEqual(done);
    expect(await shownEstimate()).toEqual(estimateOf(footprint.inputs, "FR"));
    for (const kind of ["correct", "restrict", "erase"]) {
      const fields = { version, changes: { name: "X" }, isRestricted: true, confirmation: "bob@example.com" };
      expect(await change(kind, fields)).toEqual({ outcome: "changed" });
    }
    const removal = { changes: {}, removesFootprint: true };
    await expect(change("correct", { ...removal, removesFootprint: "yes" })).rejects.toThrow(/400.*removesFootprint/);
    expect(await change("correct", removal)).toEqual(done);
    await expect(change("correct", removal)).rejects.toThrow(/400.*There is no estimate to remove/);
    expect(await change("restrict", { isRestricted: true })).toEqual(done);
    expect(await person()).toMatchObject({
      restricted: "all",
      hasFootprint: false,
      messages: [{ name: "Bob King" }, { name: "Bob King" }],
    });
    expect(await change("restrict", { isRestricted: false })).toEqual(done);
    expect(await person()).toMatchObject({ restricted: "none" });

    await mkdir(join(dataDir, "outbox"));
    for (const { reference } of await store.list({}))
      await writeFile(join(dataDir, "outbox", `${reference}.eml`), "mail");
    await expect(change("erase", { confirmation: "eve@example.com" })).rejects.toThrow(/400/);
    expect(await change("erase", { confirmation: " Bob@example.com" })).toEqual({ ...done, files: 2 });
    expect(await store.list({})).toMatchObject([{ email: "eve@example.com" }]);
    expect(await readdir(join(dataDir, "outbox"))).toHaveLength(1);
    expect(await change("restrict", { isRestricted: true })).toEqual({ outcome: "gone" });
  });

  test("tells of a new message within seconds, and waits as long as nothing happens", async () => {
    const { store, get, act, item } = await setUp(kind);
    const { token, counts } = await get<ChangeNotice>("changes");
    expect(counts.all).toBe(0);
    let isAnswered = false;
    const next = get<ChangeNotice>("changes", { since: token }).finally(() => {
      isAnswered = true;
    });
    // Longer than it waits between two looks into the database.
    await wait(1000);
    expect(isAnswered).toBe(false);
    const startedAtMs = performance.now();
    const reference = await send(store, submissionOf(), ago(0));
    expect(await next).toMatchObject({ counts: { all: 1, unanswered: 1, waiting: 1 } });
    expect(performance.now() - startedAtMs).toBeLessThan(CHANGES_WAIT_MS / 2);
    const after = await next;
    await act("answer", await item(reference));
    expect(await get<ChangeNotice>("changes", { since: after.token })).toMatchObject({
      counts: { all: 1, unanswered: 0 },
    });
  });

  test("gives an overview of what needs somebody, and of the last days", async () => {
    const { store, get } = await setUp(kind);
    const overview = () => get<Overview>("overview", { days: "2" });
    // The disk is the machine's.
    const kinds = ({ troubles }: Overview) => troubles.flatMap(({ kind }) => (kind === "disk-low" ? [] : kind));
    const quiet = await overview();
    expect(quiet).toMatchObject({
      days: 2,
      failed: { count: 0, lastAt: null },
      quarantined: { count: 0, unseen: 0 },
      website: { isRunning: false, lastSeenAt: null },
      lastBackupAt: null,
      waiting: { count: 0, oldestAt: null },
      database: { kind, problem: null },
      perCountry: [],
      delivery: { count: 0, medianMs: null, slowestMs: null },
    });
    expect(quiet.disk?.freeBytes).toBeGreaterThan(0);
    expect(kinds(quiet)).toEqual(["website-down"]);
    const now = new Date();
    await send(store, submissionOf(messageWith({ country: "DE" })), now);
    await finish(store, "delivered", now);
    await send(store, submissionOf(messageWith({ country: "DE" })), now);
    await finish(store, "failed", now);
    const opened = await send(store, trapped(), now);
    await send(store, trapped("eve@example.com"), now);
    await get(`messages/${opened}`);
    const overdue = ago(2 * HOUR_MS);
    await send(store, submissionOf(messageWith({ country: "FR" })), overdue);
    await store.reportNode([], now);
    await store.backup(join(await makeScratchFolder(), "copy.db"), now);
    const { perDay, ...busy } = await overview();
    expect(kinds({ perDay, ...busy })).toEqual(["overdue", "failed", "quarantined"]);
    expect(busy).toMatchObject({
      failed: { count: 1, lastAt: now.toISOString() },
      quarantined: { count: 2, unseen: 1 },
      waiting: { count: 1, oldestAt: overdue.toISOString() },
      website: { isRunning: true, lastSeenAt: expect.any(String) },
      lastBackupAt: expect.stringMatching(/^20.+Z$/),
      perCountry: [
        { country: "DE", count: 2 },
        { country: "GB", count: 2 },
        { country: "FR", count: 1 },
      ],
      delivery: {
        count: 1,
        medianMs: 0,
        slowestMs: 0,
        buckets: [{ upToMs: 10_000, count: 1 }, {}, {}, {}, {}, { upToMs: null, count: 0 }],
      },
    });
    expect(perDay.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(perDay.map(({ day }) => day)).toEqual([ago(DAY_MS), ago(0)].map((at) => at.toISOString().slice(0, 10)));
    expect(await get<CountryCount[]>("countries")).toEqual(busy.perCountry);

    // Of two that are erased within a week, one is answered.
    const deliveredAt = ago(24 * DAY_MS);
    for (const isAnswered of [true, false]) {
      const reference = await send(store, submissionOf(), deliveredAt);
      await finish(store, "delivered", deliveredAt);
      if (isAnswered) await store.act("answer", { references: [reference] }, now);
    }
    const reason = "the mail server refused the password";
    await store.reportNode([{ channel: "mail", reason, since: now }], now);
    const { troubles } = await overview();
    expect(troubles).toContainEqual(
      expect.objectContaining({
        kind: "expiring",
        count: 2,
        what: expect.stringMatching(/6 days \(1 unanswered\)$/),
      }),
    );
    expect(troubles).toContainEqual(
      expect.objectContaining({ kind: "paused", channel: "mail", remedy: expect.stringContaining(reason) }),
    );
  });

  test("refuses what it does not understand, with a sentence", async () => {
    const { inbox, get, post } = await setUp(kind);
    const wrong: [string, Record<string, string>][] = [
      ["messages", { tab: "spam" }],
      ["messages", { limit: "501" }],
      ["messages", { cursor: "x" }],
      ["messages", { country: "Germany" }],
      ["messages", { since: "yesterday" }],
      ["messages", { search: "x".repeat(201) }],
      ["export", { format: "xml" }],
      ["overview", { days: "0" }],
      ["people", {}],
    ];
    for (const [path, query] of wrong) await expect(get(path, query)).rejects.toThrow(/answered 400.+"invalid"/);
    const target = { reference: "BC-AAAA-AA", version: "1" };
    for (const body of [
      null,
      [],
      "x",
      { action: "explode", targets: [target] },
      { action: "retry", targets: [] },
      { action: "retry", targets: [{ reference: "BC-AAAA-AA" }] },
      { action: "retry", targets: Array(201).fill(target) },
    ]) {
      await expect(post("actions", body)).rejects.toThrow(/answered 400/);
    }
    await expect(post("people/correct", { email: "a@x.org", version: "1", changes: {} })).rejects.toThrow(/400/);
    await expect(get("nothing")).rejects.toThrow(/404/);
    await expect(post("actions", { filler: "x".repeat(200_000) })).rejects.toThrow(/413|ECONNRESET|EPIPE/);
    const headers = { authorization: `Bearer ${inbox.token}` };
    expect((await ask(inbox.port, "/api/actions", { method: "POST", headers, body: "{}" })).status).toBe(400);
    expect((await ask(inbox.port, "/api/messages", { method: "DELETE", headers })).status).toBe(400);
    expect(inbox.output()).toMatch(/^Inbox: [^\n]+\n$/);
  });
});

test("says that the database is away, and works again once it is back", async () => {
  const url = new URL(await postgres.createDatabase());
  const network = await startNetwork(Number(url.port));
  url.port = String(network.port);
  const env = { DATA_DIR: await makeScratchFolder(), DATABASE_URL: url.href };
  const inbox = await openInboxCommand(env, "--port", String(await findFreePort()));
  onTestFinished(async () => void (await inbox.stop()));
  const { get } = createCaller(inbox);
  await get("messages");
  await network.become({ kind: "refused" });
  await expect(get("messages")).rejects.toThrow(/503.+"unavailable"/);
  await expect(get("changes")).rejects.toThrow(/503/);
  await network.become({ kind: "open" });
  expect(await get("messages")).toMatchObject({ items: [] });
});

test("works beside a running server: a message that a visitor sends is delivered again on request", async () => {
  const { env, items, act, get } = await setUp("SQLite");
  const server = await startServer(env);
  onTestFinished(async () => void (await server.stop()));
  const { token } = await get<ChangeNotice>("changes");
  await postMessage(server.url, "from a visitor");
  expect((await get<ChangeNotice>("changes", { since: token })).counts.all).toBe(1);
  const state = async () => (await items())[0]?.state;
  await expect.poll(state, { timeout: 10_000 }).toBe("delivered");
  expect((await act("resend", ...(await items()))).results).toMatchObject([{ outcome: "done" }]);
  // The server looks for what others have queued every half minute, and sooner after a message of its own.
  await postMessage(server.url, "another one");
  await expect
    .poll(async () => (await items()).map((message) => message.state), { timeout: 10_000 })
    .toEqual(["delivered", "delivered"]);
  const reference = (await items())[1]?.reference;
  const { history } = await get<MessageDetail>(`messages/${reference}`);
  expect(history.map(({ kind }) => kind)).toEqual(["accepted", "delivered", "resent", "delivered"]);
});
