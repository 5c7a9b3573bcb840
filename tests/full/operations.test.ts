import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCommandLine } from "../../server/cli/command-line.ts";
import { openStore } from "../../server/store/open-store.ts";
import { runCli } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);

test.each(["docs/operations.md", "docs/scaling.md"])("%s names only commands and files that exist", (document) => {
  const text = readFileSync(document, "utf8");
  for (const name of namesIn(text, /npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(name);
  const paths = [
    ...namesIn(text, /\b((?:deploy|tests|app|tools|server|docs)\/[\w./-]+\w)/g),
    ...namesIn(text, /\]\(\.\.\/([^)#]+)/g),
  ];
  expect(paths.length).toBeGreaterThan(2);
  for (const path of paths) expect(existsSync(path), path).toBe(true);
});

test.each([
  ["docs/operations.md", /(?:brighter-carbon |`)messages ([^\n`>&]+)/g],
  ["README.md", /npm run messages -- ([^\n`>&#]+)/g],
])("every operator's command in %s is understood", (document, pattern) => {
  const commands = namesIn(readFileSync(document, "utf8"), pattern).map((command) => command.trim());
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    const words = command.replaceAll(/\$\([^)]*\)/g, "DATE").match(/'[^']*'|\S+/g) ?? [];
    const args = words.map((word) => word.replaceAll("'", ""));
    if (args[0] === "…" || args[0] === "--help") continue;
    expect(() => readCommandLine(args, new Date(), "npm run messages --"), command).not.toThrow();
    expect(readCommandLine(args, new Date(), "npm run messages --").kind, command).toBe("run");
  }
});

/** The documented machine in a folder: its wrapper, its settings, its user, its folders. */
async function makeMachine() {
  const folder = await makeScratchFolder();
  const [dataDir, backups, bin] = ["data", "backups", "bin"].map((name) => join(folder, name));
  if (!dataDir || !backups || !bin) throw new Error("There is no folder");
  for (const path of [backups, bin]) mkdirSync(path);
  await (await openStore({ dataDir, databaseUrl: null })).close();
  const settings = join(folder, "site.env");
  writeFileSync(settings, `DATA_DIR=${dataDir}\n`);
  // In place of Debian's, which needs a user of that name: found only where Debian has it.
  const sbin = join(folder, "sbin");
  mkdirSync(sbin);
  writeFileSync(join(sbin, "runuser"), '#!/bin/sh\nshift 3\nexec "$@"\n', { mode: 0o755 });
  const places: [string, string][] = [
    ["/usr/local/sbin/brighter-carbon", join(sbin, "brighter-carbon")],
    ["/usr/sbin", sbin],
    ["/etc/brighter-carbon.env", settings],
    ["/opt/brighter-carbon\n", `${process.cwd()}\n`],
    ["/var/backups/brighter-carbon", backups],
  ];
  const moved = (text: string) => places.reduce((result, [from, to]) => result.replaceAll(from, to), text);
  const wrapper = moved(readFileSync("deploy/systemd/brighter-carbon", "utf8"));
  writeFileSync(join(sbin, "brighter-carbon"), wrapper, { mode: 0o755 });
  return { dataDir, backups, moved };
}

test("the documented line of cron makes a backup with cron's own environment", async () => {
  const { dataDir, backups, moved } = await makeMachine();
  const [, line = ""] = /^15 3 \* \* \* (.+)$/m.exec(readFileSync("docs/operations.md", "utf8")) ?? [];
  // Cron turns `\%` into `%`, and a `%` alone into the end of the line.
  const command = moved(line).replaceAll("\\%", "\0").replaceAll(/%.*/g, "").replaceAll("\0", "%");
  const env = { PATH: "/usr/bin:/bin", SHELL: "/bin/sh", HOME: "/root", LOGNAME: "root" };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const file = join(backups, `${new Date().toISOString().slice(0, 10)}.db`);
  expect(stdout).toBe(`All messages copied to ${file}.\n`);
  expect(readdirSync(backups)).toEqual([basename(file)]);
  expect((await runCli({ DATA_DIR: dataDir }, "stats")).out).toContain("\nLast backup: ");
});

test("the documented clean-up removes old backups and what killed backups left, and keeps recent ones", () => {
  const folder = mkdtempSync(join(tmpdir(), "backups-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const old = ["1.db", "2.db.partial", "3.db.partial", "3.db.partial-wal", "3.db.partial-shm"];
  const recent = ["8.db", "9.db.partial"];
  for (const name of [...old, ...recent]) writeFileSync(join(folder, name), "");
  const twentyDaysAgo = Date.now() / 1000 - 20 * 86_400;
  for (const name of old) utimesSync(join(folder, name), twentyDaysAgo, twentyDaysAgo);
  const [command = ""] = /find \/var\/backups\/.+ -delete$/m.exec(readFileSync("docs/operations.md", "utf8")) ?? [];
  execFileSync("sh", ["-c", command.replace("/var/backups/brighter-carbon", folder)]);
  expect(readdirSync(folder).toSorted()).toEqual(recent);
});
