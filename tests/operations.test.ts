import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readCommandLine } from "../server/cli/command-line.ts";

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

test("every operator's command in docs/operations.md is understood", () => {
  const text = readFileSync("docs/operations.md", "utf8");
  const commands = namesIn(text, /brighter-carbon messages ([^\n`>&]+)/g).map((command) => command.trim());
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    const words = command.replaceAll(/\$\([^)]*\)/g, "DATE").match(/'[^']*'|\S+/g) ?? [];
    const args = words.map((word) => word.replaceAll("'", ""));
    if (args[0] === "…") continue;
    expect(() => readCommandLine(args, new Date()), command).not.toThrow();
    expect(readCommandLine(args, new Date()).kind, command).toBe("run");
  }
});
