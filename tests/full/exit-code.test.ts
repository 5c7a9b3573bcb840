import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../support/scratch-folder.ts";

test.each([
  [
    ["tsc", "vitest"],
    ["tsc", "biome", "vite", "node", "node", "vitest", "playwright"],
    [
      "Failed: types. Run it again alone with: npx tsc",
      /^Failed: without a browser\. .+: npx vitest run --project fast$/,
    ],
  ],
  [
    ["biome", "vite"],
    ["tsc", "biome", "vite"],
    [/^Failed: lint\. /, /^Failed: build\. /, /^Not run, .+: without a browser$/, /^Not run, .+: Chromium$/],
  ],
])("npm test runs every group whose build exists, and names each that failed: %s", async (broken, expected, lines) => {
  // Takes the place of the programs: only the runner itself is tested here.
  const programs = await makeScratchFolder();
  for (const name of ["tsc", "biome", "vite", "node", "vitest", "playwright"]) {
    const script = `#!/bin/sh\necho ran ${name}\nexit ${broken.includes(name) ? 1 : 0}\n`;
    writeFileSync(join(programs, name), script, { mode: 0o755 });
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/test.ts"], {
    encoding: "utf8",
    env: { PATH: programs },
  });
  expect(stdout.match(/(?<=^ran )\w+/gm)).toEqual(expected);
  expect(stderr.trim().split("\n")).toEqual(lines.map((line) => expect.stringMatching(line)));
  expect(status).toBe(1);
});
