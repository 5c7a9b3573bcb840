import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { MINUTE_MS } from "../../server/time.ts";
import { messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { postMessage } from "../support/load.ts";
import { requirePrograms } from "../support/require-program.ts";
import { runCli } from "../support/run-cli.ts";
import { type RunningServer, startServer } from "../support/run-server.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

/** Runs an operator command, as in docs/operations.md. */
async function messages(env: Record<string, string>, ...args: string[]): Promise<string> {
  const outcome = await runCli(env, ...args);
  expect(outcome).toMatchObject({ code: 0, err: "" });
  return outcome.out;
}

/** The emails that a site without a mail server has written. */
const filesIn = async ({ DATA_DIR }: { DATA_DIR: string }) =>
  (await readdir(join(DATA_DIR, "outbox")).catch(() => [])).sort();

const start = (env: Record<string, string>): Promise<RunningServer> =>
  untilEnd(startServer({ LOG_LEVEL: "error", ...env }));

test("the documented commands move a site from SQLite to PostgreSQL", async () => {
  const postgres = await untilEnd(sharePostgres());
  const sqlite = { DATA_DIR: await makeScratchFolder() };
  const before = await start({ ...sqlite, SMTP_URL: "smtp://127.0.0.1:1" });
  const [first, second] = [await postMessage(before.url, "the first"), await postMessage(before.url, "the second")];
  await before.stop();
  const env = { ...sqlite, DATABASE_URL: await postgres.createDatabase() };

  const lines =
    /\*\*To move to PostgreSQL\*\*.+?```sh\n(.+?)```/s
      .exec(await readFile("docs/operations.md", "utf8"))?.[1]
      ?.split("\n") ?? [];
  const command = lines.find((line) => line.includes("messages restore")) ?? "";
  expect(lines.filter((line) => line !== "")).toHaveLength(4);
  const words = command.replace("sudo brighter-carbon messages ", "").split(" ");
  const args = words.map((word) => word.replace("/var/lib/brighter-carbon", env.DATA_DIR));
  expect(await messages(env, ...args)).toMatch(/^2 messages restored, 2 of them to be sent\. No later erasures/);
  // Otherwise they would wait up to a minute for their next attempt.
  await messages(env, "retry", String(first), String(second));
  await start(env);
  await expect
    .poll(() => filesIn(env), { timeout: 20_000 })
    .toEqual([first, second].map((name) => `${name}.eml`).sort());
});

test("a restored backup has no messages of people who were erased", async () => {
  const env = { DATA_DIR: await makeScratchFolder() };
  const store = await untilEnd(openStoreInProcess({ dataDir: env.DATA_DIR, databaseUrl: null }));
  const [, , deleted] = await Promise.all(
    ["Erased@Example.com", "kept@example.com", "deleted@example.com"].map((email) =>
      send(store, submissionOf(messageWith({ email })), new Date(Date.now() - MINUTE_MS), ["mail", "hook"]),
    ),
  );
  const backup = join(env.DATA_DIR, "backup.db");
  await messages(env, "backup", backup);
  expect(await messages(env, "privacy", "erase", "erased@example.com", "--yes")).toMatch(/^1 message and 0/);
  await messages(env, "delete", String(deleted), "--yes");
  expect(await messages(env, "privacy", "erase", "deleted@example.com")).toMatch(/^There are no messages .+ recorded/);
  expect(await messages(env, "restore", backup, "--replace", "--yes")).toBe(
    "1 message restored, 1 of them to be sent. Left out, because erased after the backup: 2 messages.\n",
  );
  expect(await store.messages.list({})).toMatchObject([{ email: "kept@example.com" }]);
});

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
  await messages(env, "delete", String((await store.messages.list({}))[0]?.reference), "--yes");
  expect(await runCli(env, "restore", backup)).toEqual(unasked);
  // The file that 1.1.0 kept.
  await writeFile(join(env.DATA_DIR, "erasures"), `${"a".repeat(43)} 2026-01-31T09:00:00.000Z\n`);
  expect(await messages(env, "restore", backup)).toBe("1 message restored, 1 of them to be sent.\n");
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
    await store.messages.addNote(reference, "a note", new Date());
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
  const [, recovering = "", dumping = ""] =
    /## When something is wrong.+?(sqlite3 messages\.db \.recover \| sqlite3 recovered\.db);.+?`(\.dump [^`]+)`/s.exec(
      guide,
    ) ?? [];
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
