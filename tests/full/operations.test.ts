import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCommandLine } from "../../server/cli/command-line.ts";

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
    expect(() => readCommandLine(args, new Date()), command).not.toThrow();
    expect(readCommandLine(args, new Date()).kind, command).toBe("run");
  }
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
