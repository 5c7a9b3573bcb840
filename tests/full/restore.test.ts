import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TRAP_FIELD } from "../../contract/contact-message.ts";
import { type RunningServer, startServer } from "../../scripts/run-server.ts";
import { messageWith } from "../store-contract/samples.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { parseMail } from "../support/parse-mail.ts";
import { runCli } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { schemaOf, sharePostgres } from "../support/shared-postgres.ts";

/** The operator's command, as docs/operations.md has it. */
async function messages(env: Record<string, string>, ...args: string[]): Promise<string> {
  const outcome = await runCli(env, ...args);
  expect(outcome).toMatchObject({ code: 0, err: "" });
  return outcome.out;
}

async function start(env: Record<string, string>): Promise<RunningServer> {
  const server = await startServer({ LOG_LEVEL: "error", ...env });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

async function postTrapped(url: string): Promise<void> {
  const trapped = { ...messageWith(), [TRAP_FIELD]: "x" };
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/send-email`, { method: "POST", headers, body: JSON.stringify(trapped) });
  expect(response.status).toBe(200);
}

test.each(["SQLite", "PostgreSQL"])(
  "a backup of %s taken under way is a whole site again: messages, queue and limits",
  async (kind) => {
    const folder = await makeScratchFolder();
    const mailServer = await startMailServer();
    onTestFinished(() => mailServer.close());
    const postgres = kind === "PostgreSQL" ? await sharePostgres() : null;
    onTestFinished(() => postgres?.stop());
    const mail = { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, RATE_LIMIT: "5/10m" };
    const before = {
      DATA_DIR: join(folder, "before"),
      ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
    };
    const lost = await start({ ...before, ...mail });
    const first = await postMessage(lost.url, "the first");
    const second = await postMessage(lost.url, "the second");
    await postTrapped(lost.url);
    await expect.poll(() => mailServer.mails.length, { timeout: 20_000 }).toBe(2);
    await expect.poll(() => messages(before, "list", "--state", "queued"), { timeout: 20_000 }).toBe("No messages.\n");

    const backup = join(folder, "backup.db");
    await messages(before, "backup", backup);
    expect((await stat(backup)).mode & 0o077).toBe(0);
    const kept = await messages(before, "export", "--json");
    await postMessage(lost.url, "after the backup: lost with the machine");
    await lost.stop();
    await postgres?.administer(`DROP SCHEMA ${schemaOf(before.DATABASE_URL)} CASCADE`);
    await rm(before.DATA_DIR, { recursive: true, force: true });

    const after = { DATA_DIR: join(folder, "after") };
    await mkdir(after.DATA_DIR, { mode: 0o700 });
    await copyFile(backup, join(after.DATA_DIR, "messages.db"));
    const restored = await start({ ...after, ...mail });
    expect(await messages(after, "export", "--json")).toBe(kept);
    expect(await postMessage(restored.url, "the first")).toBe(first);
    const [held] = JSON.parse(await messages(after, "list", "--state", "quarantined", "--json"));
    await messages(after, "release", held.reference);
    const third = await postMessage(restored.url, "the third");
    expect(await postMessage(restored.url, "one more than the limit")).toBeNull();
    const timesMailed = (reference: string | null) =>
      mailServer.mails.filter(({ raw }) => parseMail(raw).header("Message-ID").includes(String(reference))).length;
    await expect.poll(() => [third, held.reference].map(timesMailed), { timeout: 20_000 }).toEqual([1, 1]);
    expect([first, second].map(timesMailed)).toEqual([1, 1]);
  },
  60_000,
);

test("an older backup put into the same folder leaves all .eml files alone, and preflight names those without a message", async () => {
  const folder = await makeScratchFolder();
  const env = { DATA_DIR: join(folder, "data") };
  const backup = join(folder, "backup.db");
  const files = async () => (await readdir(join(env.DATA_DIR, "outbox")).catch(() => [])).sort();
  const before = await start(env);
  const early = await postMessage(before.url, "before the backup");
  await messages(env, "backup", backup);
  const erased = await postMessage(before.url, "to be erased");
  const late = await postMessage(before.url, "after the backup");
  await expect.poll(files, { timeout: 20_000 }).toHaveLength(3);
  await messages(env, "delete", String(erased), "--yes");
  await before.stop();
  const kept = [early, late].map((reference) => `${reference}.eml`).sort();
  expect(await files()).toEqual(kept);

  for (const ending of ["", "-wal", "-shm"]) await rm(join(env.DATA_DIR, `messages.db${ending}`), { force: true });
  await copyFile(backup, join(env.DATA_DIR, "messages.db"));
  const restored = await start(env);
  const next = await postMessage(restored.url, "after the restoration");
  await expect.poll(files, { timeout: 20_000 }).toEqual([...kept, `${next}.eml`].sort());
  await restored.stop();
  const { out } = await runCli(env, "preflight");
  expect(out).toContain(String(late));
  expect(out).not.toContain(String(next));
});
