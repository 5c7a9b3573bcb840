import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { openInboxCommand } from "../support/inbox-command.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { requirePrograms } from "../support/require-program.ts";
import { runCli, spawnCli } from "../support/run-cli.ts";
import { failToStart, startServer } from "../support/run-server.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgresForFile } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

const postgres = await sharePostgresForFile();

/** Runs an operator command, as in docs/operations.md. */
async function messages(env: Record<string, string>, ...args: string[]): Promise<string> {
  const outcome = await runCli(env, ...args);
  expect(outcome).toMatchObject({ code: 0, err: "" });
  return outcome.out;
}

test("a restore into an empty folder says that it knows no later erasures, and asks", async () => {
  const [before, env] = [{ DATA_DIR: await makeScratchFolder() }, { DATA_DIR: await makeScratchFolder() }];
  const store = await untilEnd(openStoreInProcess({ dataDir: before.DATA_DIR, databaseUrl: null }));
  await send(store);
  const backup = join(before.DATA_DIR, "backup.db");
  await messages(before, "backup", backup);
  const unasked = {
    code: 1,
    out: "",
    err: expect.stringMatching(/^This command asks for confirmation; .+ add --yes\n$/),
  };
  expect(await runCli(env, "restore", backup)).toEqual(unasked);
  expect(await messages(env, "restore", backup, "--yes")).toBe(
    "1 message restored, 1 of them to be sent. No later erasures are known here: messages of people who were erased after the backup come back with it.\n",
  );
  const refused = { code: 1, err: expect.stringMatching(/^This database already has messages \(1\);.+--replace\n$/) };
  expect(await runCli(env, "restore", backup, "--yes")).toMatchObject(refused);
  expect(await messages(env, "restore", backup, "--replace", "--yes")).toMatch(/^1 message restored, /);
  await messages(env, "delete", String((await store.messages.list({}))[0]?.reference), "--yes");
  expect(await runCli(env, "restore", backup)).toEqual(unasked);
});

test.for([".recover", ".dump"])("what sqlite3's %s makes of a damaged file is restored", async (way, { skip }) => {
  requirePrograms(skip, "sqlite3");
  const options = execFileSync("sqlite3", [":memory:", "PRAGMA compile_options"], { encoding: "utf8" });
  if (way === ".recover" && !options.includes("ENABLE_DBPAGE_VTAB")) skip("this sqlite3 has no .recover");
  const env = { DATA_DIR: await makeScratchFolder() };
  const store = await openStoreInProcess({ dataDir: env.DATA_DIR, databaseUrl: null });
  const references: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    const reference = await send(store, submissionOf(messageWith({ message: `Words ${count} ${"x".repeat(900)}` })));
    references.push(reference);
    await store.actions.addNote(reference, "a note", new Date());
  }
  await store.people.erase("erased@example.com");
  await store.close();
  const file = join(env.DATA_DIR, "messages.db");
  const content = await readFile(file);
  const page = content.indexOf("Words 30 ") >> 12;
  content.fill(0xff, page << 12, (page + 1) << 12);
  // The delivery of the last message is lost too.
  await writeFile(file, content);
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM deliveries WHERE message_id = 60");
  db.close();

  const guide = await readFile("docs/operations.md", "utf8");
  const [, dumping = ""] = /`(\.dump [^`]+)`/.exec(guide) ?? [];
  const [, recovering = ""] = /(sqlite3 messages\.db \.recover \| sqlite3 recovered\.db);/.exec(guide) ?? [];
  const line = way === ".recover" ? recovering : recovering.replace(".recover", dumping);
  // The second sqlite3 fails at one statement of `.recover`, and carries on.
  spawnSync("sh", ["-c", line], { cwd: env.DATA_DIR, stdio: "ignore" });
  await mkdir(join(env.DATA_DIR, "damaged"));
  await rename(file, join(env.DATA_DIR, "damaged", "messages.db"));
  expect(await messages(env, "restore", join(env.DATA_DIR, "recovered.db"), "--yes")).toMatch(/^\d+ messages restored/);

  const restored = await untilEnd(openStoreInProcess({ dataDir: env.DATA_DIR, databaseUrl: null }));
  const found = await restored.messages.list({});
  expect(found.length).toBeGreaterThan(54);
  expect(found.map(({ reference }) => reference)).not.toContain(references[30]);
  expect(found.map(({ reference, state }) => [reference, state])).toContainEqual([references[59], "failed"]);
  expect(await restored.archive.countAll()).toEqual({ messages: found.length, erasures: 1 });
});

/** Runs an operator command in a process of its own. */
async function command(env: Record<string, string>, ...args: string[]) {
  const child = spawnCli(env, ...args);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { out, err, code };
}

test("the documented move to PostgreSQL works step by step, and loses no message", async () => {
  const mailServer = await untilEnd(startMailServer());
  mailServer.behave({ kind: "refuse", at: "recipient", code: 451 });
  const old = { DATA_DIR: await makeScratchFolder(), SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` };
  const before = await untilEnd(startServer(old));
  const reference = await postMessage(before.url, "Is it windy?");
  const guide = await readFile("docs/operations.md", "utf8");
  const [, block = ""] = /\nSet `DATABASE_URL=.+`, then:\n\n```sh\n(.+?)```/s.exec(guide) ?? [];
  const steps = block.trim().split("\n");
  const [stop, restore = "", start, preflight] = steps.map((line) => line.replace(/ +#.*/, ""));
  expect([steps.length, stop, start]).toEqual([
    4,
    "sudo systemctl stop brighter-carbon",
    "sudo systemctl start brighter-carbon",
  ]);
  expect(preflight).toBe("sudo brighter-carbon preflight");
  const given = restore.replace("sudo brighter-carbon messages ", "").replace("/var/lib/brighter-carbon", old.DATA_DIR);

  const env = { ...old, DATABASE_URL: await postgres.createDatabase() };
  const inbox = await untilEnd(openInboxCommand(old, { account: "Anna" }));
  await before.stop();
  const file = join(old.DATA_DIR, "messages.db");
  const remedy = `would never be sent; move its messages: npm run messages -- restore ${file}`;
  expect(await failToStart(env)).toEqual({
    code: 1,
    error: `DATABASE_URL is set, and 1 delivery in ${file} ${remedy}\n`,
  });
  const refused = { code: 1, out: "", err: expect.stringMatching(/^An inbox \(Anna\) uses .+; stop it with Ctrl-C/) };
  expect(await command(env, ...given.split(" "))).toEqual(refused);
  await inbox.stop();
  const restored = {
    code: 0,
    err: "",
    out: expect.stringMatching(
      /^1 message restored, 1 of them to be sent\. It was no backup, so nothing in it is older than an erasure\. .+moved/,
    ),
  };
  expect(await command(env, ...given.split(" "))).toEqual(restored);
  expect((await readdir(old.DATA_DIR)).filter((name) => name.startsWith("messages"))).toEqual(["messages.moved.db"]);

  mailServer.behave({ kind: "accept" });
  await untilEnd(startServer(env));
  expect(await command(env, "retry", "--queued")).toMatchObject({ code: 0 });
  await expect.poll(() => mailServer.mails.length, { timeout: 60_000 }).toBe(1);
  expect(String(mailServer.mails[0]?.raw)).toContain(reference ?? "no reference");
  const moved = join(old.DATA_DIR, "messages.moved.db");
  expect((await command(env, "preflight")).out).toContain(
    `${moved} still holds people, although the messages are elsewhere`,
  );
  expect((await command(env, "stats")).out).toContain(`${moved} still holds people`);
  const erased = await command(env, "privacy", "erase", "load@example.com", "--yes");
  expect(erased.out).toContain(`${moved} may hold this person too: delete it`);
});
