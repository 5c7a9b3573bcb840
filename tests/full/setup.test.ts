import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../support/scratch-folder.ts";

/** A project with the real set-up. Its `npm` only records its calls, because tests use no network. */
async function makeProject({ npmStatus = 0 } = {}) {
  const folder = await makeScratchFolder();
  const [bin, calls] = [join(folder, "bin"), join(folder, "calls.txt")];
  for (const name of ["setup.mjs", "node-runtime/package.json", "node-runtime/package-lock.json"]) {
    cpSync(join("scripts", name), join(folder, "scripts", name));
  }
  cpSync("package-lock.json", join(folder, "package-lock.json"));
  mkdirSync(join(folder, "node_modules"));
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "node"));
  writeFileSync(calls, "");
  writeFileSync(join(bin, "npm"), `#!/bin/sh\necho "$@" >> "${calls}"\nexit ${npmStatus}\n`, { mode: 0o755 });
  return {
    folder,
    calls: () => readFileSync(calls, "utf8").split("\n").slice(0, -1),
    setUp: (...options: string[]) =>
      spawnSync(process.execPath, ["scripts/setup.mjs", ...options], {
        cwd: folder,
        env: { PATH: `${bin}:/usr/bin:/bin` },
        encoding: "utf8",
      }),
  };
}

test("packages are installed once, and again after a failure, with a changed lock file or if a command needs more", async () => {
  const offline = await makeProject({ npmStatus: 1 });
  for (const tries of [1, 2]) expect([offline.setUp().status, offline.calls().length]).toEqual([1, tries]);
  const { folder, calls, setUp } = await makeProject();
  expect(setUp()).toMatchObject({ status: 0, stdout: "" });
  expect(setUp()).toMatchObject({ status: 0, stderr: "" });
  const [site, dev] = ["ci --loglevel=error --omit=dev --omit=peer --ignore-scripts", "ci --loglevel=error"];
  expect(calls()).toEqual([site]);
  // A service that starts the server without npm finds Node 24 here.
  expect(realpathSync(join(folder, "node_modules/.bin/node"))).toBe(realpathSync(process.execPath));
  appendFileSync(join(folder, "package-lock.json"), "\n");
  expect(setUp().stderr).toBe("Installing the packages for building and serving the site ...\n");
  for (const options of [["--dev"], [], ["--dev"]]) expect(setUp(...options).status).toBe(0);
  expect(calls()).toEqual([site, site, dev]);
  appendFileSync(join(folder, "package-lock.json"), "\n");
  setUp();
  expect(calls()).toEqual([site, site, dev, dev]);
});

test.each([
  ["test", "tsc", "biome", "vitest", "playwright"],
  ["test:rest", "vitest", "playwright"],
  ["test:all", "npm"],
])("a command fails if any of its programs fails: %s", async (command, ...programs) => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const bin = await makeScratchFolder();
  const statusWith = (broken: string) => {
    for (const name of programs) {
      writeFileSync(join(bin, name), `#!/bin/sh\nexit ${name === broken ? 1 : 0}\n`, { mode: 0o755 });
    }
    return spawnSync("/bin/sh", ["-c", scripts[command]], { env: { PATH: bin } }).status;
  };
  expect(statusWith("none")).toBe(0);
  for (const name of programs) expect([name, statusWith(name)]).toEqual([name, 1]);
});

test("after it installed Node 24, no script runs the Node that its shell has found before", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const afterSetup = Object.values(scripts).flatMap((script) => script.split("node scripts/setup.mjs").slice(1));
  expect(afterSetup.length).toBeGreaterThan(5);
  expect(afterSetup.filter((rest) => /&& (exec )?node /.test(rest))).toEqual([]);
});
