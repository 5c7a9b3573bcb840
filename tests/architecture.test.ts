import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const text = readFileSync("docs/architecture.md", "utf8");
const pathsIn = (markdown: string) => [...markdown.matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path = ""]) => path);

test("every file and folder that docs/architecture.md names exists", () => {
  const named = [...new Set(pathsIn(text))];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

/** Rows of the table "Who may import whom": a folder, and the folders that its files may import. */
const allowed = new Map(
  [...text.matchAll(/^\| `([\w/-]+\/)` +\|([^|]*)\|/gm)].map(([, folder = "", others = ""]) => [
    folder,
    pathsIn(others),
  ]),
);
/** The row of a file is the longest folder that holds it. */
const folderOf = (path: string) =>
  [...allowed.keys()].filter((folder) => path.startsWith(folder)).toSorted((a, b) => b.length - a.length)[0];

test("every import between the folders is one that its table allows", () => {
  const { stdout } = spawnSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs"], { encoding: "utf8" });
  // Tests may import everything.
  const files = stdout.split("\n").filter((file) => /^(?!tests\/).*\/(?!.*\.test\.)/.test(file));
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"/g)].map(([, target = ""]) => ({
      file,
      imports: join(dirname(file), target),
    })),
  );
  expect(found.length).toBeGreaterThan(300);
  const forbidden = found.filter(({ file, imports }) => {
    const [from, to] = [folderOf(file), folderOf(imports)];
    if (from === undefined || to === undefined) return true;
    const isWithinServer = from === "server/" && to.startsWith("server/");
    return from !== to && !isWithinServer && !allowed.get(from)?.includes(to);
  });
  expect(forbidden.map(({ file, imports }) => `${file} imports ${imports}`)).toEqual([]);
});
