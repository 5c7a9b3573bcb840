import { expect, test } from "vitest";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { runCli } from "../../tests/support/run-cli.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { parseWhen } from "./commands.ts";

test.each([
  [[], /^Usage: npm run messages -- \[options\] \[command\]\n/],
  [["lst"], /^unknown command 'lst'\n\(Did you mean list\?\)\n+For help, run: npm run messages -- COMMAND --help\n/],
  [["\u001b[2J"], /^unknown command '\\u\{1b\}\[2J'/],
  [["list", "--colour"], /^unknown option '--colour'\n/],
  [["list", "--since", "soon"], /^option '--since <WHEN>' argument 'soon' is invalid\. It is neither a date nor/],
  [["list", "--state", "lost"], /^--state: Invalid option: expected one of "waiting"\|/],
  [["reply", "BC-0000-00", "--subject", " "], /^--subject: must not be empty\nTEXT: must not be empty\n$/],
  [["retry", "BC-0000-00", "--failed"], /^Give REFERENCE\.\.\., or --failed/],
  [["export", "--csv", "--json"], /^Choose one/],
  [["privacy", "rectify", "a@example.com"], /^Give at least one field to correct\n$/],
  [["inbox", "--port", "70000"], /^--port is not/],
])("refuses %j", async (args, message) => {
  const DATA_DIR = await makeScratchFolder();
  await (await openStoreInProcess({ dataDir: DATA_DIR, databaseUrl: null })).close();
  expect(await runCli({ DATA_DIR }, ...args)).toEqual({ code: 2, out: "", err: expect.stringMatching(message) });
});

test("reads a date, a time or an age", () => {
  expect(parseWhen("2025-01-31")).toEqual(new Date("2025-01-31T00:00:00.000Z"));
  expect(parseWhen("2025-01-31T10:00:00+02:00")).toEqual(new Date("2025-01-31T08:00:00.000Z"));
  for (const text of ["yesterday", "2025-02-31", "7", "7w", "", "-7d"])
    expect(() => parseWhen(text)).toThrow("neither a date nor an age");
});
