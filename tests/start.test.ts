import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startServer } from "../scripts/run-server.ts";
import { openStore } from "../server/store/open-store.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "start-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command that is expected to end by itself. */
async function run(command: string[], env: Record<string, string>) {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: "0", ...env } });
  let [out, error] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (error += chunk));
  const [code] = await once(child, "exit");
  return { code, out, error };
}
const serve = (env: Record<string, string>) => run([process.execPath, "server/main.ts"], env);

test("says in one line where it is, where messages go and what is unset", async () => {
  const server = await startServer();
  const line = server
    .output()
    .split("\n")
    .find((text) => text.includes(" is on "));
  expect(line).toMatch(
    /^Brighter Carbon is on http:\/\/localhost:\d+ - messages go to .+ - to read messages: npm run inbox - unset for launch: website URL/,
  );
  expect(line).toContain(`messages go to files in ${join(server.dataDir, "outbox")} - `);
  expect(await server.stop()).toBe(0);
});

test("sends e-mail to the server of SMTP_URL, and names it without the password", async () => {
  const server = await startServer({ SMTP_URL: "smtp://user:secret@mail.example.test" });
  expect(server.output()).toContain("messages go to SMTP server mail.example.test:587 - ");
  expect(server.output()).not.toContain("secret");
  expect(await server.stop()).toBe(0);
});

test("a port in use is one clear line and exit code 1", async () => {
  const server = await startServer();
  const { port } = new URL(server.url);
  const { code, error } = await serve({ PORT: port, DATA_DIR: join(folder, "second") });
  expect(error).toBe(`Port ${port} is in use; stop the other program or choose another, e.g. PORT=3001 npm start\n`);
  expect(code).toBe(1);
  await server.stop();
});

test("a server whose port is in use touches no message", async () => {
  const server = await startServer();
  const dataDir = join(folder, "untouched");
  const store = await openStore({ dataDir, databaseUrl: null });
  const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };
  const send = (words: string, at: Date) => {
    const message = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: words };
    return store.accept({ message, idempotencyKey: null, networks: [], isTrapped: false }, rules, at);
  };
  await send("delivered long ago", new Date(0));
  const [claim] = await store.claim(1, 1000, new Date(0));
  if (claim) await store.markDelivered(claim, new Date(0));
  await send("waiting", new Date());
  expect((await serve({ PORT: new URL(server.url).port, DATA_DIR: dataDir })).code).toBe(1);
  expect(await store.list({})).toHaveLength(2);
  expect(await store.claim(5, 1000, new Date())).toHaveLength(1);
  await store.close();
  await server.stop();
});

test.each([
  ["within a second, as npm passes on one press of Ctrl-C: it stops gracefully", 30, [0, null]],
  ["later: it ends at once", 1200, [null, "SIGKILL"]],
])("a second SIGINT %s", async (_, pauseMs, end) => {
  const isGraceful = end[0] === 0;
  const mailServer = await startMailServer();
  onTestFinished(() => mailServer.close());
  mailServer.behave({ kind: "hold-after-data" });
  const server = await startServer({ SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` });
  await postMessage(server.url, "on its way");
  await expect.poll(() => mailServer.mails.length, { timeout: 5000 }).toBe(1);
  const exited = once(server.process, "exit");
  const startMs = performance.now();
  server.process.kill("SIGINT");
  await wait(pauseMs);
  server.process.kill("SIGINT");
  if (isGraceful) setTimeout(() => mailServer.release(), 300);
  expect(await exited).toEqual(end);
  if (isGraceful) expect(performance.now() - startMs).toBeGreaterThan(300);
  else expect(performance.now() - startMs).toBeLessThan(pauseMs + 1000);
  await server.stop();
});

test("a data folder that cannot be made is one clear line and exit code 1", async () => {
  const file = join(folder, "a-file");
  await writeFile(file, "");
  const { code, error } = await serve({ DATA_DIR: join(file, "data") });
  expect(code).toBe(1);
  expect(error.trim().split("\n")).toHaveLength(1);
  expect(error).toContain("DATA_DIR");
});

test("a data folder that cannot be written is one clear line and exit code 1", async () => {
  const locked = await mkdtemp(join(folder, "locked-"));
  await chmod(locked, 0o500);
  // Modes do not bind root, but the kernel's own folders do.
  const { code, error } = await serve({ DATA_DIR: process.getuid?.() === 0 ? "/sys/data" : locked });
  expect(code).toBe(1);
  expect(error).toMatch(/^The messages cannot be kept in .+; set DATA_DIR to .+\n$/);
});

test("bad variables are a line each, all at once, without a stack", async () => {
  const { code, error } = await serve({ PORT: "x", SMTP_URL: "x", RATE_LIMIT: "x" });
  expect(code).toBe(1);
  expect(
    error
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0]),
  ).toEqual(["PORT", "SMTP_URL", "RATE_LIMIT"]);
});

test("a bad build variable stops the build with one clear line", async () => {
  const { code, error } = await run([process.execPath, "node_modules/vite/bin/vite.js", "build"], {
    SITE_URL: "nowhere",
  });
  expect(code).toBe(1);
  expect(error.trim()).toBe("SITE_URL is not the address of a site; e.g. https://www.example.com");
});

test("pages built with other settings are pointed out", async () => {
  const server = await startServer({ SITE_URL: "https://www.example.com" });
  await expect
    .poll(() => server.output())
    .toContain(
      'SITE_URL is "https://www.example.com", but the pages were built with "http://localhost:3000"; run: npm run build',
    );
  await server.stop();
});

test("warns when messages are kept longer than the privacy policy says", async () => {
  const server = await startServer({ RETENTION: "delivered=60d,failed=1d" });
  await expect
    .poll(() => server.output())
    .toContain(
      "\nRETENTION keeps messages longer than the privacy policy says (delivered 60 days instead of 30 days); run npm run build with the same RETENTION, or shorten RETENTION\n",
    );
  await server.stop();
});
