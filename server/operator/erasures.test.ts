import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { noteErasures, readErasures } from "./erasures.ts";

const erasure = (letter: string) => ({ hash: letter.repeat(43), at: new Date("2026-01-31T09:00:00.000Z") });
/** As version 1.0.0 wrote it. */
const lineOf = (letter: string) => `${letter.repeat(43)} 2026-01-31T09:00:00.000Z\n`;

test("adds one private line per erasure, after those of version 1.0.0", async () => {
  const folder = await makeScratchFolder();
  const file = join(folder, "erasures");
  expect(await readErasures(folder)).toEqual([]);
  await noteErasures(folder, [erasure("a")]);
  expect(readFileSync(file, "utf8")).toBe(lineOf("a"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await noteErasures(folder, [erasure("b"), erasure("c")]);
  expect(await readErasures(folder)).toEqual(["a", "b", "c"].map(erasure));
});

test.each<[what: string, line: string]>([
  ["a Windows line end", lineOf("b").replace("\n", "\r\n")],
  ["no such date", lineOf("b").replace("01-31", "13-31")],
  ["no line end", lineOf("b").trimEnd()],
  ["nothing", "\n"],
])("names a line with %s, and neither restores nor erases anything", async (_, line) => {
  const folder = await makeScratchFolder();
  const file = join(folder, "erasures");
  writeFileSync(file, lineOf("a") + line);
  await expect(readErasures(folder)).rejects.toThrow(
    /^Line 2 of .+erasures is not .+, and nothing was restored; correct/,
  );
  await expect(noteErasures(folder, [erasure("c")])).rejects.toThrow(/^Line 2 of .+ and nothing was erased; correct/);
  expect(readFileSync(file, "utf8")).toBe(lineOf("a") + line);
});
