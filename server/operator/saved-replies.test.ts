import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storedWith } from "../../tests/store-contract/samples.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { fillReplies, readSavedReplies } from "./saved-replies.ts";

test("fills in saved replies, and names a file with an unknown placeholder", async () => {
  const siteDir = await makeScratchFolder();
  expect(readSavedReplies(siteDir)).toEqual({ replies: [], problems: [] });
  const folder = join(siteDir, "replies");
  await mkdir(folder);
  const files = { "b.md": "Dear {name}, {reference}\n", "a.md": "Your {total}", "c.md": "Dear {nmae}", "d.txt": "x" };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { replies, problems } = readSavedReplies(siteDir);
  expect(problems).toEqual([expect.stringMatching(/c\.md has the unknown placeholder \{nmae\}; use \{name\}, /)]);
  const message = { ...storedWith({}), name: "Ada {total}", reference: "BC-AAAA-AA", footprint: null };
  expect(fillReplies(replies, message)).toEqual([{ name: "b", text: "Dear Ada {total}, BC-AAAA-AA" }]);
});
