import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { hashWith } from "../../server/store/people.ts";
import { messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { requirePrograms } from "../support/require-program.ts";
import { runCli } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { untilEnd } from "../support/until-end.ts";

/** Runs an operator command, as in docs/operations.md. */
async function messages(env: Record<string, string>, ...args: string[]): Promise<string> {
  const outcome = await runCli(env, ...args);
  expect(outcome).toMatchObject({ code: 0, err: "" });
  return outcome.out;
}

test("a restore into an empty folder says that it knows no later erasures and asks, unless the file of 1.1.0 lists some", async () => {
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
  // The file that 1.1.0 kept.
  const hash = hashWith(Buffer.from(store.secret).toString("hex"), "ada@example.com");
  await writeFile(join(env.DATA_DIR, "erasures"), `${hash} 2026-01-31T09:00:00.000Z\n`);
  expect(await messages(env, "restore", backup)).toBe(
    "0 messages restored, 0 of them to be sent. Left out, because erased after the backup: 1 message.\n",
  );
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
