import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { readOldErasures } from "./terminal/commands.ts";

const erasure = (letter: string) => ({ hash: letter.repeat(43), at: new Date("2026-01-31T09:00:00.000Z") });
/** As versions 1.0.0 and 1.1.0 wrote it. */
const lineOf = (letter: string) => `${letter.repeat(43)} 2026-01-31T09:00:00.000Z\n`;

test("reads the erasures that an earlier version listed", async () => {
  const folder = await makeScratchFolder();
  expect(await readOldErasures(folder)).toEqual([]);
  writeFileSync(join(folder, "erasures"), lineOf("a") + lineOf("b"));
  expect(await readOldErasures(folder)).toEqual(["a", "b"].map(erasure));
});

test.each<[what: string, line: string]>([
  ["a Windows line end", lineOf("b").replace("\n", "\r\n")],
  ["no such date", lineOf("b").replace("01-31", "13-31")],
  ["a part of a record", lineOf("b").slice(0, 50)],
  ["nothing", "\n"],
])("names a line with %s, and restores nothing", async (_, line) => {
  const folder = await makeScratchFolder();
  writeFileSync(join(folder, "erasures"), lineOf("a") + line);
  await expect(readOldErasures(folder)).rejects.toThrow(
    /^Line 2 of .+erasures is not .+, and nothing was restored; correct/,
  );
});
