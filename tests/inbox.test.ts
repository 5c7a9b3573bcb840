import { copyFileSync, readdirSync, renameSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpLink } from "@trpc/client";
import superjson from "superjson";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { type InboxOptions, startInbox } from "../desk/browser/serve.ts";
import type { Router } from "../desk/operations.ts";
import { openDatabase, type Store } from "../server/store/store.ts";
import { store as send, trapped } from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { type AskOptions, ask, deskOf, openInboxCommand } from "./support/inbox-command.ts";
import { startNetwork } from "./support/network.ts";
import { openPort } from "./support/raw-http.ts";
import { runCli } from "./support/run-cli.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const postgres = await sharePostgres();
afterAll(() => postgres.stop());

const CALL = "/api/operations/status";

/** Calls the operations of an inbox like its page. */
function operationsOf({ port, token }: { port: number; token: string }) {
  const url = `http://localhost:${port}/api/operations`;
  const headers = { authorization: `Bearer ${token}` };
  return {
    call: createTRPCClient<Router>({ links: [httpLink({ url, transformer: superjson, headers })] }),
    /** Opens the stream of changes. Returns what has come so far. */
    async changes() {
      const chunks: string[] = [];
      const { body } = await fetch(`${url}/changes`, { headers });
      const keep = new WritableStream<string>({ write: (chunk) => void chunks.push(chunk) });
      void body
        ?.pipeThrough(new TextDecoderStream())
        .pipeTo(keep)
        .catch(() => {});
      return () => chunks.join("");
    },
  };
}

/** A page for these tests, so that they need no build. */
async function makePage(): Promise<string> {
  const folder = await makeScratchFolder();
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Inbox</title>");
  await writeFile(join(folder, "assets", "main.js"), "1;");
  return folder;
}

/** The inbox in this process, on SQLite. */
async function openInbox(settings: Partial<InboxOptions> = {}) {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null, account: "tester" }));
  const desk = deskOf({ store, dataDir, account: "tester" });
  const inbox = await untilEnd(startInbox({ desk, filesDir: await makePage(), port: 0, ...settings }));
  const { port } = inbox;
  const token = inbox.url.split("#")[1] ?? "";
  const asked = (path: string, headers: AskOptions["headers"] = {}, options: AskOptions = {}) =>
    ask(port, path, { ...options, headers: { host: `localhost:${port}`, ...headers } });
  const statusOf = async (...request: Parameters<typeof asked>) => (await asked(...request)).status;
  const authorization = `Bearer ${token}`;
  return { inbox, store, port, token, authorization, asked, statusOf };
}

/** Stores a message, and returns the body of a request that deletes it. */
async function sendTarget(store: Store): Promise<{ reference: string; version: string; body: string }> {
  const reference = await send(store, trapped());
  const { version = "" } = (await store.messages.find(reference)) ?? {};
  return {
    reference,
    version,
    body: JSON.stringify({ json: { action: "delete", targets: [{ reference, version }] } }),
  };
}

test("shows and changes nothing without a token of this run, or for a request that a form could send", async () => {
  const { asked, statusOf, store, authorization, token } = await openInbox();
  const { reference, version, body } = await sendTarget(store);
  expect(token).toMatch(/^[\w-]{43}$/);
  const other = await openInbox();
  for (const given of ["", token, `Bearer ${token}x`, "Bearer ", other.authorization]) {
    const { status, text } = await asked(CALL, { authorization: given });
    expect([given, status]).toEqual([given, 401]);
    expect(text).toMatch(/^This address is not valid, or no longer valid\. .+\n$/);
  }
  // A token does not count in the query, nor in a cookie, which all ports of a host share.
  expect(await statusOf(`${CALL}?token=${token}`, { cookie: `token=${token}` })).toBe(401);
  const paths = ["operations/list", "operations/changes", "export.csv", "privacy-export.json?email=ada@example.com"];
  for (const path of paths) expect([path, await statusOf(`/api/${path}`)]).toEqual([path, 401]);
  for (const path of ["/%61pi/export.csv", "/api/%65xport.csv", "//api/export.csv", "/API/export.csv", "/api/%zz"])
    expect((await asked(path)).text).not.toContain("Ada");
  const act = (headers: Record<string, string>) => statusOf("/api/operations/act", headers, { method: "POST", body });
  expect(await act({ "content-type": "application/json" })).toBe(401);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    expect(await act({ authorization, "content-type": type })).toBe(415);
  expect(await store.messages.list({})).toMatchObject([{ reference, version }]);
});

test("accepts only this machine's own names and the inbox's own port", async () => {
  const { inbox, asked, statusOf, authorization, port } = await openInbox();
  const { host: own } = new URL(inbox.url);
  expect(own).toMatch(/^[\da-f]{20}\.localhost:\d+$/);
  for (const host of [own, `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    expect(await statusOf(CALL, { authorization, host })).toBe(200);
  for (const host of [`x${own}`, "localhost", `localhost:${port + 1}`, `evil.example:${port}`]) {
    const { status, text } = await asked("/", { authorization, host });
    expect([host, status]).toEqual([host, 403]);
    expect(text).toMatch(/^This inbox is available only at localhost .+ same number on both sides\.\n$/);
  }
});

test("refuses pages of other origins, even with the token, but not a person who follows a link", async () => {
  const { statusOf, store, authorization, port } = await openInbox();
  const { reference, version, body } = await sendTarget(store);
  const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  for (const [who, given] of Object.entries<Record<string, string>>({
    "another site's script, without Sec-Fetch-Site": { origin: "https://evil.example" },
    "another site's script, without Origin": { "sec-fetch-site": "cross-site" },
    "another program's page, whatever its Origin": {
      origin: `http://localhost:${port}`,
      "sec-fetch-site": "same-site",
    },
    "the same over HTTPS": { origin: `https://localhost:${port}` },
    "a sandboxed frame or a file": { origin: "null" },
    "a link to the API": opened,
  })) {
    const headers = { ...given, authorization, "content-type": "application/json" };
    const statuses = await Promise.all([
      statusOf(CALL, headers),
      statusOf("/api/operations/act", headers, { method: "POST", body }),
      statusOf("/api/operations/act", headers, { method: "OPTIONS" }),
    ]);
    expect([who, ...statuses]).toEqual([who, 403, 403, 403]);
  }
  expect(await store.messages.list({})).toMatchObject([{ reference, version }]);
  const own = { origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin", authorization };
  expect(await statusOf(CALL, own)).toBe(200);
  expect(await statusOf("/", opened)).toBe(200);
  expect(await statusOf("/", { ...opened, "sec-fetch-dest": "iframe" })).toBe(403);
  expect(await statusOf("/assets/main.js", { "sec-fetch-site": "cross-site" })).toBe(403);
});

test("every answer forbids caching, framing, sniffing and loading from other origins", async () => {
  const { asked, authorization } = await openInbox();
  const answers = await Promise.all([
    ...["/", "/assets/main.js", "/messages/BC-AAAA-AA", "/assets/none.js", CALL].map((path) => asked(path)),
    asked(CALL, { authorization }),
    asked("/", { host: "localhost:1" }),
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
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; .+ base-uri 'none'; form-action 'none'; frame-ancestors 'none'/,
      ),
    });
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|data:|http/);
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    expect(headers).not.toHaveProperty("set-cookie");
  }
});

test("listens on this machine's own addresses only", async () => {
  const { inbox, authorization, statusOf } = await openInbox();
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
  expect(inbox.addresses).toEqual(["127.0.0.1", ...(hasIpv6 ? ["::1"] : [])]);
  for (const host of inbox.addresses) expect(await statusOf(CALL, { authorization }, { host })).toBe(200);
});

test("refuses invalid input with a sentence, and reports no defect", async () => {
  const onDefect = vi.fn();
  const { port, token, authorization, statusOf } = await openInbox({ onDefect });
  const { call: operations } = operationsOf({ port, token });
  const target = { reference: "BC-AAAA-AA" };
  const wrong = [
    () => operations.list.query({ search: "x".repeat(201) }),
    () => operations.note.mutate({ ...target, text: "\0" }),
    () => operations.act.mutate({ action: "explode" as "spam", targets: [target] }),
  ];
  for (const call of wrong) await expect(call()).rejects.toMatchObject({ data: { httpStatus: 400 } });
  const tooMany = operations.list.query({ limit: 501 });
  await expect(tooMany).rejects.toThrow("Limit: Too big: expected number to be <=500.");
  await expect(operations.message.query(target)).rejects.toMatchObject({ data: { httpStatus: 404 } });
  const headers = { authorization, "content-type": "application/json" };
  const post = (path: string, body: string) => statusOf(`/api/${path}`, headers, { method: "POST", body });
  expect(await post("operations/act", "x".repeat(200_000)).catch(() => 413)).toBe(413);
  expect(await statusOf("/api/export.csv?filter={", { authorization })).toBe(400);
  expect(await post("operations/backup", '{"json":{"file":"x"}}')).toBe(404);
  expect(onDefect).not.toHaveBeenCalled();
});

test("the command prints one line, asks root for a name, which signs notes and replies, and ends with Ctrl-C", async () => {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const reference = await send(store);
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return " Anna ";
  };
  const inbox = await untilEnd(openInboxCommand({ DATA_DIR: dataDir }, { account: "root", ask }));
  expect(asked).toEqual(["Your name, for notes and replies: "]);
  expect(inbox.output()).toMatch(new RegExp(`^Inbox: http://\\w{20}\\.localhost:${inbox.port}/#${inbox.token}\n$`));
  const { call, changes } = operationsOf(inbox);
  await call.note.mutate({ reference, text: "Call" });
  expect((await store.messages.notes([reference])).get(reference)).toMatchObject([{ author: "Anna" }]);
  // A page that waits for changes does not prevent the command from ending.
  await expect.poll(await changes()).toContain('"all":1');
  expect(await inbox.stop()).toBe(0);
});

test("the command says what to do if its port is in use, or there is no data", async () => {
  const dataDir = await makeScratchFolder();
  await (await openStoreInProcess({ dataDir, databaseUrl: null })).close();
  const blocker = createServer();
  onTestFinished(() => void blocker.close());
  const port = await openPort(blocker);
  const inUse = `Port ${port} is in use; choose another with --port, or leave --port out\n`;
  expect(await runCli({ DATA_DIR: dataDir }, "inbox", "--port", String(port))).toEqual({
    code: 1,
    out: "",
    err: inUse,
  });
  const err = expect.stringMatching(/^There are no messages in .+ set DATA_DIR .+\n$/);
  expect(await runCli({ DATA_DIR: join(dataDir, "none") }, "inbox")).toMatchObject({ code: 1, err });
});

test("reports that the database is away, and works again once it is back", async () => {
  const databaseUrl = await postgres.createDatabase();
  // Only a website creates the tables.
  await (await openStoreInProcess({ dataDir: "", databaseUrl })).close();
  const url = new URL(databaseUrl);
  const network = await startNetwork(Number(url.port));
  url.port = String(network.port);
  const env = { DATA_DIR: await makeScratchFolder(), DATABASE_URL: url.href };
  const { call, changes } = operationsOf(await untilEnd(openInboxCommand(env)));
  await call.list.query({});
  network.become({ kind: "refused" });
  await expect(call.list.query({})).rejects.toMatchObject({ data: { httpStatus: 503 } });
  await expect.poll(await changes()).toContain('"problem":"unavailable"');
  network.become({ kind: "open" });
  expect(await call.list.query({})).toMatchObject({ messages: [] });
});

test("says that its database was removed or replaced, takes nothing more, and goes on once the file is back", async () => {
  const [dataDir, away] = [await makeScratchFolder(), await makeScratchFolder()];
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  const reference = await send(store);
  const inbox = await untilEnd(openInboxCommand({ DATA_DIR: dataDir }));
  const { call, changes } = operationsOf(inbox);
  expect(await call.list.query({})).toMatchObject({ messages: [{ reference }] });
  await store.close();
  const seen = await changes();
  const move = (from: string, to: string) => {
    for (const name of readdirSync(from)) if (name.startsWith("messages")) renameSync(join(from, name), join(to, name));
  };
  move(dataDir, away);
  await expect.poll(seen).toContain("was removed or replaced while it was in use");
  const note = () => call.note.mutate({ reference, text: "Call" });
  await expect(note()).rejects.toMatchObject({
    data: { httpStatus: 503 },
    message: expect.stringMatching(/was removed/),
  });
  move(away, dataDir);
  await note();
  await expect.poll(seen).toMatch(/was removed.+"problem":null/s);
  // Another file in its place is another database.
  move(dataDir, away);
  copyFileSync(join(away, "messages.db"), join(dataDir, "messages.db"));
  await expect(note()).rejects.toMatchObject({ data: { httpStatus: 503 } });
  await expect(note()).rejects.toMatchObject({ data: { httpStatus: 503 } });
});

test.each(["SQLite", "PostgreSQL"])(
  "notices a restore on %s that did not wait for it, and takes nothing more",
  async (kind) => {
    const dataDir = await makeScratchFolder();
    const databaseUrl = kind === "SQLite" ? null : await postgres.createDatabase();
    const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl }));
    const reference = await send(store);
    const backup = join(dataDir, "backup.db");
    const restore = () => store.archive.restore(backup, true);
    await store.archive.backup(backup, new Date());
    const env = { DATA_DIR: dataDir, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) };
    const { call, changes } = operationsOf(await untilEnd(openInboxCommand(env, { account: "Anna" })));
    const note = () => call.note.mutate({ reference, text: "Call" });
    await note();
    await expect(restore()).rejects.toThrow(/^An inbox \(Anna\) uses the database/);
    const seen = await changes();
    // As if its computer had slept for long.
    const database = await untilEnd(openDatabase({ dataDir, databaseUrl }));
    await database.query(`UPDATE meta SET value = '{"atMs":0,"account":"Anna"}' WHERE name LIKE 'inbox.%'`);
    await restore();
    const sentence = "The database of this inbox was moved, replaced or restored; stop this inbox and start it again.";
    await expect.poll(seen).toContain(sentence);
    for (const take of [note, () => call.saveDraft.mutate({ reference, subject: "Re", text: "Dear Ada", note: "" })])
      await expect(take()).rejects.toMatchObject({ data: { httpStatus: 503 }, message: sentence });
    expect(await store.messages.history(reference)).toEqual([]);
  },
);
