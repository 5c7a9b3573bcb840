import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type BuildManifest, manifestFile } from "../contract/build-manifest.ts";
import { electricityTable } from "../prerender/electricity.ts";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { findFreePort } from "../scripts/run-server.ts";
import { DEFAULT_PORT, type InboxOptions, startInbox } from "../server/inbox/serve.ts";
import { OperatorError } from "../server/log.ts";
import type { Desk } from "../server/operator/router.ts";
import { type Action, CHANNELS, type Store, type StoredMessage } from "../server/store/store.ts";
import {
  DAY_MS,
  finish,
  HOUR_MS,
  messageWith,
  store as send,
  submissionOf,
  trapped,
} from "./store-contract/samples.ts";
import { openApp } from "./support/app.ts";
import { createFakeClock } from "./support/fake-clock.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { type AskOptions, ask, openInboxCommand, startInboxCommand } from "./support/inbox-command.ts";
import { startNetwork } from "./support/network.ts";
import { changesOf, operationsOf } from "./support/operations.ts";
import { exchange } from "./support/raw-http.ts";
import { runCli, runWithInput } from "./support/run-cli.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
}, 120_000);
afterAll(() => postgres?.stop(), 120_000);

const ago = (ms: number) => new Date(Date.now() - ms);

/** A page for these tests, so that they need no build. */
async function makePage(): Promise<string> {
  const folder = await makeScratchFolder();
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Inbox</title>");
  await writeFile(join(folder, "assets", "main.js"), "1;");
  return folder;
}

/** The inbox in this process, on SQLite, with a fake clock. */
async function openInbox({ readElectricity = electricityTable, ...settings }: Partial<Desk & InboxOptions> = {}) {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  onTestFinished(() => store.close());
  const clock = createFakeClock();
  const inbox = await startInbox({
    desk: {
      store,
      dataDir,
      databaseKind: "SQLite",
      account: "tester",
      program: "npm run messages --",
      channels: CHANNELS,
      readElectricity,
    },
    filesDir: await makePage(),
    port: await findFreePort(),
    clock,
    ...settings,
  });
  onTestFinished(() => inbox.close());
  const { port } = inbox;
  const token = inbox.url.split("#")[1] ?? "";
  const asked = (path: string, { headers = {}, ...options }: AskOptions = {}) =>
    ask(port, path, { ...options, headers: { host: `localhost:${port}`, ...headers } });
  const authorization = `Bearer ${token}`;
  return { inbox, store, clock, port, token, authorization, asked, operations: operationsOf({ port, token }) };
}

/** Stores a message, and returns the body of a request that deletes it. */
async function sendTarget(store: Store): Promise<{ reference: string; version: string; body: string }> {
  const reference = await send(store, trapped());
  const { version = "" } = (await store.find(reference)) ?? {};
  return {
    reference,
    version,
    body: JSON.stringify({ json: { action: "delete", targets: [{ reference, version }] } }),
  };
}

describe("the guard", () => {
  test("accepts only requests with the token of this run", async () => {
    const { asked, authorization, token } = await openInbox();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect((await asked("/api/operations/countries", { headers: { authorization } })).status).toBe(200);
    const other = await openInbox();
    expect(other.token).not.toBe(token);
    const wrong = ["", token, `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, "Bearer ", other.authorization];
    for (const given of [...wrong, `Basic ${btoa(`x:${token}`)}`]) {
      const { status, headers, text } = await asked("/api/operations/countries", { headers: { authorization: given } });
      expect([given, status]).toEqual([given, 401]);
      expect(headers).toMatchObject({ "www-authenticate": "Bearer", "cache-control": "no-store" });
      expect(text).toMatch(/^This address is not valid, or no longer valid\. .+\n$/);
    }
    expect((await asked("/api/operations/countries")).status).toBe(401);
    // A token does not count in the query, nor in a cookie, which all ports of a host share.
    expect((await asked(`/api/operations/countries?token=${token}`)).status).toBe(401);
    expect((await asked("/api/operations/countries", { headers: { cookie: `token=${token}` } })).status).toBe(401);
  });

  test("shows and changes nothing without a token, or for a request that a form on another site could send", async () => {
    const { asked, store, authorization, clock } = await openInbox();
    const { reference, version, body } = await sendTarget(store);
    for (const path of [
      "operations/list",
      "operations/changes",
      "export.csv",
      "privacy-export.json?email=ada@example.com",
    ]) {
      expect([path, (await asked(`/api/${path}`)).status]).toEqual([path, 401]);
    }
    const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    for (const path of ["/%61pi/export.csv", "/api/%65xport.csv", "//api/export.csv", "/API/export.csv", "/api/%zz"]) {
      for (const headers of [{}, opened]) {
        const { text, headers: answered } = await asked(path, { headers });
        expect([path, text]).not.toEqual([path, expect.stringContaining("Ada")]);
        expect(answered).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      }
    }
    // After a minute, the earlier tries do not count any more.
    await clock.advance(60_000);
    const act = async (headers: Record<string, string>) =>
      (await asked("/api/operations/act", { method: "POST", headers, body })).status;
    expect(await act({ "content-type": "application/json" })).toBe(401);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      expect([400, 415]).toContain(await act({ authorization, "content-type": type }));
    }
    expect(await store.list({})).toMatchObject([{ reference, version }]);
  });

  test("delays wrong tokens after ten tries, refuses more than twenty at once, forgets them after a minute, and never delays the right one", async () => {
    const { asked, authorization, clock } = await openInbox();
    const tryWrong = () => asked("/api/operations/countries", { headers: { authorization: "Bearer wrong" } });
    const tryRight = async () => (await asked("/api/operations/countries", { headers: { authorization } })).status;
    const delayed = () => clock.waiting().filter((ms) => ms === 1000);
    for (let count = 0; count < 10; count += 1) expect((await tryWrong()).status).toBe(401);
    const answered: number[] = [];
    const slow = tryWrong().then(({ status, headers }) => answered.push(status, Number(headers["retry-after"])));
    await expect.poll(delayed).toHaveLength(1);
    // Wrong tokens of another program do not delay requests with the right token.
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

  test("accepts only this machine's own names and the inbox's own port", async () => {
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
      expect((await asked("/api/operations/countries", { headers: { authorization, host } })).status).toBe(200);
    for (const path of ["/api/operations/countries", "/", "/assets/main.js", "/%zz"]) {
      for (const host of path === "/%zz" ? [] : elsewhere) {
        const { status, text } = await asked(path, { headers: { authorization, host } });
        expect([host, path, status]).toEqual([host, path, 403]);
        expect(text).toMatch(/^This inbox is available only at localhost .+ same number on both sides\.\n$/);
      }
      // Such a request was meant for the site, or is an attack. It gets no byte, so that no proxy takes an answer for
      // the site's.
      for (const host of [...foreign, ...tricks]) {
        const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`;
        expect([host, path, await exchange(port, request)]).toEqual([host, path, ""]);
      }
    }
    const withoutHost = `GET /api/operations/countries HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`;
    expect(await exchange(port, withoutHost)).toBe("");
    expect(await exchange(port, "no HTTP\r\n\r\n")).toBe("");
  });

  test("refuses other sites and programs, even with the token", async () => {
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
        asked("/api/operations/countries", { headers }),
        asked("/api/operations/act", { method: "POST", headers, body }),
        asked("/api/operations/act", { method: "OPTIONS", headers }),
      ]);
      expect([who, ...answers.map(({ status }) => status)]).toEqual([who, 403, 403, 403]);
    }
    expect(await store.list({})).toMatchObject([{ reference, version }]);
  });

  test("accepts the page's own requests, and a person who opens the page", async () => {
    const { asked, authorization, port } = await openInbox();
    const own = { origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin", authorization };
    expect((await asked("/api/operations/countries", { headers: own })).status).toBe(200);
    const opened = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    for (const site of ["none", "cross-site", "same-site"]) {
      expect((await asked("/", { headers: { ...opened, "sec-fetch-site": site } })).status).toBe(200);
    }
    // In a frame, or as a script.
    expect(
      (await asked("/", { headers: { ...opened, "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" } })).status,
    ).toBe(403);
    expect((await asked("/assets/main.js", { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });

  test("every answer forbids caching, framing, sniffing and loading from other origins", async () => {
    const { asked, authorization } = await openInbox();
    const answers = await Promise.all([
      ...["/", "/assets/main.js", "/messages/BC-AAAA-AA", "/assets/none.js", "/api/operations/countries"].map((path) =>
        asked(path),
      ),
      asked("/api/operations/countries", { headers: { authorization } }),
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

  test("serves only the page's own files", async () => {
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
    if (hasIpv6)
      expect((await asked("/api/operations/countries", { headers: { authorization }, host: "::1" })).status).toBe(200);
  });
});

describe("the command", () => {
  /** A data folder with an empty database. */
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
    // A page that waits for changes does not prevent the command from ending.
    const changes = changesOf(inbox);
    expect((await changes.next()).value).toMatchObject({ counts: { all: 0 } });
    const next = changes.next().catch(() => "cut off");
    expect(await inbox.stop()).toBe(0);
    expect([{ done: true, value: undefined }, "cut off"]).toContainEqual(await next);
    expect(inbox.output()).toBe(`Inbox: http://localhost:${port}/#${inbox.token}\n`);
  });

  test("uses the next free port if the default port is in use, also only on IPv6, and says so", async () => {
    const blockers = [createServer(), createServer()];
    onTestFinished(() => blockers.forEach((server) => void server.close()));
    // It does not matter whether these servers or another program use the ports.
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

  test("says what to do if its port is in use, there is no data, or it is used incorrectly", async () => {
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

  test("says what to run when its page is not built", async () => {
    const opening = openInbox({ filesDir: "none" });
    await expect(opening).rejects.toThrow(OperatorError);
    await expect(opening).rejects.toThrow(/npm run build/);
  });

  test("ends after eight hours without operator input, even if the page keeps sending requests", async () => {
    const { inbox, clock, operations, asked, authorization } = await openInbox();
    let isOver = false;
    void inbox.idle.then(() => {
      isOver = true;
    });
    await clock.advance(8 * HOUR_MS - 1);
    await operations.countries.query();
    await clock.advance(8 * HOUR_MS - 1);
    expect(isOver).toBe(false);
    expect((await asked("/api/operations/countries", { headers: { authorization } })).status).toBe(200);
    void clock.advance(1);
    await expect.poll(() => isOver).toBe(true);
  });

  test("opens the browser without the token in a program's arguments", async () => {
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

  test("is not part of the public server", async () => {
    const { app, close } = await openApp();
    onTestFinished(close);
    // Only scripts and styles, because the font is the same as the site's.
    const names = (await readdir("dist-inbox/assets")).filter((name) => /\.(js|css)$/.test(name));
    expect(names.length).toBeGreaterThan(1);
    for (const path of [
      "/api/operations/countries",
      "/dist-inbox/index.html",
      ...names.map((name) => `/assets/${name}`),
    ]) {
      const { statusCode, body } = await app.inject(path);
      expect(body).not.toContain('id="inbox"');
      if (path.startsWith("/assets/")) expect([path, statusCode]).toEqual([path, 404]);
    }
    // The server serves only the files in its manifest, not everything in dist/.
    const { files } = JSON.parse(await readFile(manifestFile("dist"), "utf8")) as BuildManifest;
    expect(
      files.filter(({ file, url }) => /inbox/i.test(file + url) || names.some((name) => file.endsWith(name))),
    ).toEqual([]);
  });
});

/** Runs the command while another store is open, like that of a running server. */
async function setUp() {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  onTestFinished(() => store.close());
  const env = { DATA_DIR: dataDir };
  const inbox = await openInboxCommand(env, "--port", String(await findFreePort()), "--name", "tester");
  onTestFinished(async () => void (await inbox.stop()));
  const operations = operationsOf(inbox);
  const cli = async (...args: string[]) => {
    const { code, out, err } = await runCli(env, ...args);
    if (code !== 0) throw new Error(`${args.join(" ")} left with ${code}: ${err}`);
    return out;
  };
  const act = (action: Action, ...targets: readonly Pick<StoredMessage, "reference" | "version">[]) =>
    operations.act.mutate({ action, targets: targets.map(({ reference, version }) => ({ reference, version })) });
  const item = (reference: string) => operations.message.query({ reference });
  return { dataDir, env, store, inbox, operations, cli, act, item };
}

// tests/store-contract tests the effect of each operation on SQLite and PostgreSQL.
describe("its operations", () => {
  test("show everything about a message: its notes, its draft and its history", async () => {
    const { store, operations, cli, act, item } = await setUp();
    const message = "First line\nsecond \u202Eline";
    const reference = await send(store, submissionOf(messageWith({ message }), { isTrapped: true }), ago(1000));
    const seen = [
      { kind: "quarantined", name: "Received, and quarantined", detail: expect.stringMatching(/^A field that no /) },
      { kind: "viewed", detail: null },
    ];
    expect(await item(reference.toLowerCase())).toMatchObject({ reference, message, history: seen.slice(0, 2) });
    await act("release", await item(reference));
    await finish(store, "failed", new Date());
    await operations.note.mutate({ reference, text: " Wants =1+1 offers\n" });
    await operations.saveDraft.mutate({ reference, subject: "Re:", text: "Dear" });
    expect(await item(reference)).toMatchObject({
      state: "failed",
      draft: { subject: "Re:", text: "Dear" },
      history: [
        ...seen,
        { kind: "released" },
        { kind: "failed", detail: "550 no such user." },
        { kind: "noted", author: "tester", detail: "Wants =1+1 offers" },
      ],
    });
    expect(await cli("note", reference, "Called back", "--name", "Anna", "--json")).toBe('{\n  "notes": 1\n}\n');
    expect(await cli("show", reference)).toMatch(/Note by tester: Wants =1\+1 offers\n.+ Note by Anna: Called back\n$/);
    const notes = [{ text: "Wants =1+1 offers" }, { author: "Anna", text: "Called back" }];
    expect(JSON.parse(await cli("export", "--json"))).toMatchObject([{ notes }]);
    expect(JSON.parse(await cli("privacy", "export", "ada@example.com")).messages[0]).toMatchObject({ notes });
    expect(await cli("export")).toMatch(/"\S+Z tester: Wants =1\+1 offers\n\S+Z Anna: Called back"/);
    await expect(item("BC-NONE-00")).rejects.toMatchObject({ data: { httpStatus: 404 } });
    expect(await operations.people.query({ search: "LOVEL" })).toMatchObject([
      { email: "ada@example.com", messages: 1 },
    ]);
  });

  test("queue a reply from the page or the command line, and refuse a second one", async () => {
    const { store, operations, cli, item, env, dataDir } = await setUp();
    const [first, second] = [
      await send(store, submissionOf(messageWith({ message: "Hello\nyou" }))),
      await send(store),
    ];
    const key = "8b6f1d0e-0000-4000-8000-000000000001";
    const reply = { reference: first, key, text: " Yes.\n" };
    await operations.reply.mutate(reply);
    await operations.reply.mutate(reply);
    expect((await item(first)).history.filter(({ kind }) => kind === "replied")).toMatchObject([
      { author: "tester", detail: `Re: Your message (${first})\n\nYes.` },
    ]);
    await expect(operations.reply.mutate({ reference: first, text: "More" })).rejects.toThrow(/one reply at a time$/);
    const file = join(dataDir, "reply.txt");
    await writeFile(file, "From a file");
    expect(await cli("reply", second, "--file", file, "--subject", "Offer", "--name", "Anna")).toBe(
      "1 reply queued.\n",
    );
    const third = await send(store);
    expect(await runWithInput(env, "From standard input\n", "reply", third, "--json")).toMatchObject({
      out: '{\n  "replies": 1\n}\n',
    });
    expect(await cli("show", second)).toMatch(/ Reply by Anna: Offer\n {4}\n {4}From a file\n$/);
    expect((await item(third)).history.at(-1)?.detail).toContain("\n\nFrom standard input");
    expect(JSON.parse(await cli("show", third, "--json"))).toMatchObject({ reply: "queued", replies: [{}] });
    expect(await runCli(env, "reply", second, "--file", "none.txt")).toMatchObject({
      code: 1,
      err: "none.txt cannot be read (ENOENT)\n",
    });
  });

  test("act on many messages at once, report each result, and leave out messages that changed meanwhile", async () => {
    const { store, item, act, cli } = await setUp();
    const references = await Promise.all(
      ["a", "b", "c", "d", "e"].map((name) => send(store, trapped(`${name}@x.org`), ago(HOUR_MS))),
    );
    const seen = await Promise.all(references.map(item));
    const [, changed = "", gone = "", restricted = ""] = references;
    await cli("answered", changed);
    await cli("delete", gone, "--yes");
    await cli("privacy", "restrict", "d@x.org");
    const stale = await act("release", ...seen);
    expect(stale.results.map(({ outcome }) => outcome)).toEqual(["done", "changed", "gone", "changed", "done"]);
    expect(await store.find(changed)).toMatchObject({ state: "quarantined", answeredAt: expect.any(Date) });
    const refused = await act("release", await item(restricted), await item(references[0] ?? ""));
    expect(refused.results).toMatchObject([
      { outcome: "refused", reason: `${restricted} is restricted: its sender asked you to keep it but not use it` },
      { outcome: "refused", reason: expect.stringContaining("only quarantined messages can be released") },
    ]);
  });

  test("report every change at once", async () => {
    const { store, inbox, act, item } = await setUp();
    const changes = changesOf(inbox);
    const next = async () => (await changes.next()).value;
    expect(await next()).toMatchObject({ problem: null, counts: { all: 0 } });
    const reference = await send(store, submissionOf(), ago(0));
    expect(await next()).toMatchObject({ counts: { all: 1, unanswered: 1, waiting: 1 } });
    await act("answer", await item(reference));
    expect(await next()).toMatchObject({ counts: { all: 1, unanswered: 0, answered: 1 } });
  });

  test("give an overview of troubles and of the last days", async () => {
    const { store, operations, item, cli } = await setUp();
    const overview = () => operations.overview.query({ days: 2 });
    // Leaves out the disk, which depends on the machine.
    const kindsOf = (troubles: readonly { kind: string }[]) =>
      troubles.flatMap(({ kind }) => (kind === "disk-low" ? [] : kind));
    const quiet = await overview();
    expect(quiet).toMatchObject({
      days: 2,
      counts: { all: 0 },
      unseen: 0,
      website: { isRunning: false, lastSeenAt: null },
      lastBackupAt: null,
      waitingSince: null,
      database: { kind: "SQLite", problem: null },
      perCountry: [],
      times: { count: 0, medianMs: null, slowestMs: null },
    });
    expect(quiet.disk?.freeBytes).toBeGreaterThan(0);
    expect(kindsOf(quiet.troubles)).toEqual(["website-down"]);
    const now = new Date();
    await send(store, submissionOf(messageWith({ country: "DE" })), now);
    await finish(store, "delivered", now);
    await send(store, submissionOf(messageWith({ country: "DE" })), now);
    await finish(store, "failed", now);
    await item(await send(store, trapped(), now));
    await send(store, trapped("eve@example.com"), now);
    const overdue = ago(2 * HOUR_MS);
    await send(store, submissionOf(messageWith({ country: "FR" })), overdue);
    await store.reportNode([], now);
    const busy = await overview();
    expect(kindsOf(busy.troubles)).toEqual(["overdue", "failed", "quarantined"]);
    expect(busy).toMatchObject({
      counts: { failed: 1, quarantined: 2, waiting: 1 },
      unseen: 1,
      waitingSince: overdue,
      website: { isRunning: true },
      perCountry: [
        { country: "DE", count: 2 },
        { country: "GB", count: 2 },
        { country: "FR", count: 1 },
      ],
      times: { count: 1, buckets: [{ upToMs: 10_000, count: 1 }, {}, {}, {}, {}, { upToMs: null, count: 0 }] },
    });
    expect(busy.perDay.map(({ day }) => day)).toEqual([ago(DAY_MS), ago(0)].map((at) => at.toISOString().slice(0, 10)));
    expect(await operations.countries.query()).toEqual(busy.perCountry);
    const reason = "the mail server refused the password";
    await store.reportNode([{ channel: "mail", reason, since: overdue }], now);
    expect((await overview()).troubles).toContainEqual(
      expect.objectContaining({ kind: "paused", channel: "mail", remedy: expect.stringContaining(reason) }),
    );
    expect(await cli("stats")).toMatch(new RegExp(`\nEmail: paused since \\S+Z \\(2h ago\\): ${reason}\\.\n`));
  });

  test("refuse invalid input with a sentence", async () => {
    const { inbox, operations } = await setUp();
    const target = { reference: "BC-AAAA-AA" };
    const wrong = [
      () => operations.list.query({ tab: "spam" as "all" }),
      () => operations.list.query({ limit: 501 }),
      () => operations.list.query({ since: "yesterday" as unknown as Date }),
      () => operations.list.query({ search: "x".repeat(201) }),
      () => operations.overview.query({ days: 0 }),
      () => operations.note.mutate({ ...target, text: " \n" }),
      () => operations.note.mutate({ ...target, text: "\0" }),
      () => operations.act.mutate({ action: "explode" as Action, targets: [target] }),
      () => operations.act.mutate({ action: "retry", targets: [] }),
      () => operations.act.mutate({ action: "retry", targets: Array(201).fill(target) }),
      () => operations.correct.mutate({ email: "a@x.org", changes: {} }),
    ];
    for (const call of wrong) await expect(call()).rejects.toMatchObject({ data: { httpStatus: 400 } });
    await expect(operations.list.query({ limit: 501 })).rejects.toThrow(
      /^limit: Too big: expected number to be <=500$/,
    );
    const authorization = `Bearer ${inbox.token}`;
    const headers = { authorization, "content-type": "application/json" };
    const post = async (path: string, body: string) =>
      (await ask(inbox.port, `/api/${path}`, { method: "POST", headers, body })).status;
    expect(await post("operations/act", "x".repeat(200_000)).catch(() => 413)).toBe(413);
    expect(await post("operations/act", "{")).toBe(400);
    expect(await post("operations/nothing", "{}")).toBe(404);
    const filter = encodeURIComponent(JSON.stringify({ json: { tab: "spam" } }));
    expect((await ask(inbox.port, `/api/export.json?filter=${filter}`, { headers: { authorization } })).status).toBe(
      400,
    );
    expect((await ask(inbox.port, "/api/export.csv", { method: "DELETE", headers: { authorization } })).status).toBe(
      404,
    );
    expect(inbox.output()).toMatch(/^Inbox: [^\n]+\n$/);
  });
});

test("reports that the database is away, and works again once it is back", async () => {
  const url = new URL(await postgres.createDatabase());
  const network = await startNetwork(Number(url.port));
  url.port = String(network.port);
  const env = { DATA_DIR: await makeScratchFolder(), DATABASE_URL: url.href };
  const inbox = await openInboxCommand(env, "--port", String(await findFreePort()));
  onTestFinished(async () => void (await inbox.stop()));
  const { countries } = operationsOf(inbox);
  await countries.query();
  await network.become({ kind: "refused" });
  await expect(countries.query()).rejects.toMatchObject({ data: { httpStatus: 503 } });
  expect((await changesOf(inbox).next()).value).toMatchObject({ problem: "unavailable" });
  await network.become({ kind: "open" });
  expect(await countries.query()).toEqual([]);
});
