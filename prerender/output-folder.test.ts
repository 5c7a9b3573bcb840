import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { draftDirOf, replaceWhenBuilt } from "./output-folder.ts";

async function makeOutput() {
  const folder = await makeScratchFolder();
  const outDir = join(folder, "dist");
  return {
    outDir,
    build(content: string, whenWritten: () => Promise<unknown> = async () => {}) {
      const draftDir = `${draftDirOf(outDir)}-${content}`;
      return replaceWhenBuilt(outDir, draftDir, async () => {
        await mkdir(draftDir);
        await writeFile(join(draftDir, "page"), content);
        await whenWritten();
        if (content === "refused") throw new Error("refused");
      });
    },
    built: async () => [await readFile(join(outDir, "page"), "utf8"), ...(await readdir(folder))],
  };
}

test("only a complete build replaces another, even after a build was killed between the last two steps", async () => {
  const { outDir, build, built } = await makeOutput();
  const { pid } = spawnSync("true");
  await build("first");
  await expect(build("refused")).rejects.toThrow("refused");
  expect(await built()).toEqual(["first", "dist"]);
  await rename(outDir, `${outDir}.old-${pid}-1`);
  await mkdir(`${outDir}.new-${pid}-1/leftover`, { recursive: true });
  await expect(build("refused")).rejects.toThrow("refused");
  expect(await built()).toEqual(["first", "dist"]);
  await build("second");
  expect(await built()).toEqual(["second", "dist"]);
});

test("the last of several builds at once wins, and none fails", async () => {
  const { build, built } = await makeOutput();
  const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = build("slow", () => {
    written.resolve();
    return released.promise;
  });
  await written.promise;
  await build("fast");
  expect(await built()).toEqual(["fast", "dist", expect.stringMatching(/^dist\.new-/)]);
  released.resolve();
  await slow;
  expect(await built()).toEqual(["slow", "dist"]);
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  await Promise.all(names.map((name) => build(name)));
  expect(await built()).toEqual([expect.stringMatching(/^\d+$/), "dist"]);
});
