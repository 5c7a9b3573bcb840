import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { draftDirOf, replaceWhenBuilt } from "./output-folder.ts";

test("only a complete build replaces another, with its manifest, and nothing is left of a refused one", async () => {
  const folder = await makeScratchFolder();
  const outDir = join(folder, "dist");
  const build = (content: string) =>
    replaceWhenBuilt(outDir, async () => {
      await mkdir(draftDirOf(outDir), { recursive: true });
      await writeFile(join(draftDirOf(outDir), "page"), content);
      await writeFile(`${draftDirOf(outDir)}.json`, content);
      if (content === "refused") throw new Error("refused");
    });
  const built = async () => {
    const files = ["dist/page", "dist.json"].map((file) => readFile(join(folder, file), "utf8"));
    return [...(await Promise.all(files)), ...(await readdir(folder))];
  };
  await build("first");
  await expect(build("refused")).rejects.toThrow("refused");
  expect(await built()).toEqual(["first", "first", "dist", "dist.json"]);
  await build("second");
  expect(await built()).toEqual(["second", "second", "dist", "dist.json"]);
});
