import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finish, store as send, submissionOf } from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { messageIdsOf } from "./support/invariant.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import { runCli } from "./support/run-cli.ts";
import { failToStart, startServer } from "./support/run-server.ts";
import { kill } from "./support/scene.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { untilEnd } from "./support/until-end.ts";

const start = (env: Readonly<Record<string, string>> = {}) => untilEnd(startServer(env));

test("prints its URL, the mail destination and the number of open tasks; a second server on its port changes nothing", async () => {
  const server = await start();
  const line = server
    .output()
    .split("\n")
    .find((printed) => printed.includes(" is on "));
  expect(JSON.parse(line ?? "").msg).toMatch(
    /^Brighter Carbon is on http:\/\/localhost:\d+ - messages go to .+ - to read messages: npm run inbox - \d+ things to set before launch: npm run preflight$/,
  );
  expect(line).toContain(`messages go to files in ${join(server.dataDir, "outbox")} - `);

  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  // One message is past its retention period, and one is waiting.
  await send(store, submissionOf(), new Date(0));
  await finish(store, "delivered", new Date(0));
  await send(store);
  const messages = await store.messages.list({});
  const { port } = new URL(server.url);
  expect(await failToStart({ PORT: port, DATA_DIR: dataDir })).toEqual({
    code: 1,
    error: `Port ${port} is in use; stop the other program, or change PORT, HOST or METRICS_PORT\n`,
  });
  expect(await store.messages.list({})).toEqual(messages);
  expect((await store.status.website(new Date())).isRunning).toBe(false);
  const website = async () => (await runCli({ DATA_DIR: server.dataDir }, "stats")).out.split("\n", 1)[0];
  await expect.poll(website).toBe("Website: running.");
  expect(await server.stop()).toBe(0);
});

test("a second server on its data folder exits at once and mails nothing; after a kill, the next one starts", async () => {
  const mailServer = await untilEnd(startMailServer());
  mailServer.behave({ kind: "hold-after-data", times: 1 });
  const env = { DATA_DIR: await makeScratchFolder(), SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` };
  const first = await start(env);
  await postMessage(first.url, "on its way");
  await expect.poll(() => mailServer.mails.length).toBe(1);
  expect(await failToStart(env)).toEqual({
    code: 1,
    error: `A website already uses ${env.DATA_DIR}; stop it, or set DATA_DIR to another folder (or DATABASE_URL, for several nodes)\n`,
  });
  mailServer.release();
  const waiting = async () => (await runCli(env, "list", "--state", "waiting")).out;
  await expect.poll(waiting).toBe("No messages.\n");
  await kill(first);

  const next = await start(env);
  await postMessage(next.url, "after the kill");
  await expect.poll(waiting).toBe("No messages.\n");
  const ids = messageIdsOf(mailServer.mails);
  expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
});

test("prints the mail server without its password and its own command, and names settings that differ from the build", async () => {
  const server = await start({
    MESSAGES_COMMAND: "sudo brighter-carbon messages",
    SMTP_URL: "smtp://user:secret@mail.example.test",
    SITE_URL: "https://www.example.com",
    RETENTION: "delivered=60d,failed=1d",
  });
  const warnings =
    /"SITE_URL is .+; run: sudo brighter-carbon build".+"RETENTION keeps .+: sudo brighter-carbon build"/s;
  await expect.poll(server.output).toMatch(warnings);
  expect(server.output()).toContain("messages go to SMTP server mail.example.test:587 - ");
  expect(server.output()).toContain(" - to read messages: sudo brighter-carbon inbox - ");
  expect(server.output()).not.toContain("secret");
});

test("prints one line for each invalid variable, or for a data folder that is not writable", async () => {
  expect(await failToStart({ PORT: "x", SMTP_URL: "x", RATE_LIMIT: "x" })).toEqual({
    code: 1,
    error: expect.stringMatching(/^PORT [^\n]+\nSMTP_URL [^\n]+\nRATE_LIMIT [^\n]+\n$/),
  });
  const locked = join(await makeScratchFolder(), "locked");
  await mkdir(locked, { mode: 0o500 });
  // File modes do not restrict root, but the kernel's own folders do.
  expect(await failToStart({ DATA_DIR: process.getuid?.() === 0 ? "/sys/data" : locked })).toEqual({
    code: 1,
    error: expect.stringMatching(/^Messages cannot be stored in .+; .+ set DATA_DIR to .+\n$/),
  });
});
