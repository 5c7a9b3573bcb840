import { expect, onTestFinished, test, vi } from "vitest";
import { openStoreInProcess } from "../../../tests/support/in-process-store.ts";
import { runCli } from "../../../tests/support/run-cli.ts";
import { makeScratchFolder } from "../../../tests/support/scratch-folder.ts";
import { parseWhen } from "./commands.ts";

test.each([
  [[], /^Usage: npm run messages -- \[options\] \[command\]\n/],
  [["lst"], /^unknown command 'lst'\n\(Did you mean list\?\)\n+For help, run: npm run messages -- COMMAND --help\n/],
  [["privacy", "forget", "x"], /^unknown command 'forget'/],
  [["\u001b[2J"], /^unknown command '\\u\{1b\}\[2J'/],
  [["list", "--colour"], /^unknown option '--colour'\n/],
  [["list", "extra"], /^too many arguments for 'list'/],
  [["show", "BC-0000-00", "\u001b[2J"], /^too many arguments .+: BC-0000-00, \\u\{1b\}\[2J\.\n/],
  [
    ["list", "--since", "soon"],
    /^option '--since <WHEN>' argument 'soon' is invalid\. It is neither a date nor an age/,
  ],
  [["list", "--state", "lost"], /^--state: Invalid option: expected one of "queued"\|/],
  [["show"], /^missing required argument 'REFERENCE'/],
  [["reply", "BC-0000-00", "--subject", " "], /^--subject: must not be empty\nTEXT: must not be empty\n$/],
  [["retry"], /^Give REFERENCE\.\.\., or --failed/],
  [["retry", "BC-0000-00", "--failed"], /^Give REFERENCE\.\.\., or --failed/],
  [["release", "--since", "1d", "--all"], /^Give REFERENCE\.\.\., or --since WHEN, or --all/],
  [["delete"], /^missing required argument 'REFERENCE'/],
  [["export", "--csv", "--json"], /^Choose one/],
  [["privacy", "rectify", "a@example.com"], /^Give at least one field to correct\n$/],
  [["inbox", "--port", "0"], /^--port is not/],
])("refuses %j", async (args, message) => {
  const DATA_DIR = await makeScratchFolder();
  await (await openStoreInProcess({ dataDir: DATA_DIR, databaseUrl: null })).close();
  expect(await runCli({ DATA_DIR }, ...args)).toEqual({ code: 2, out: "", err: expect.stringMatching(message) });
});

test("the help text of a command lists its arguments and options", async () => {
  expect(await runCli({}, "privacy", "restrict", "--help")).toEqual({
    code: 0,
    err: "",
    out: `Usage: npm run messages -- privacy restrict [options] <EMAIL>

keep all messages from an email address, but neither send nor delete them

Options:
  --lift      lift the restriction
  --json      print the result as JSON
  -h, --help  display help for command

With - as EMAIL, the address is read from standard input, so that no shell keeps it.
`,
  });
});

test.each([
  ["2025-01-31", "2025-01-31T00:00:00.000Z"],
  ["2025-01-31T10:00:00+02:00", "2025-01-31T08:00:00.000Z"],
  ["2025-01-31T10:00Z", "2025-01-31T10:00:00.000Z"],
])("reads %s as a time", (text, moment) => {
  expect(parseWhen(text).toISOString()).toBe(moment);
});

test.each([
  ["7d", 7 * 86_400_000],
  ["30m", 30 * 60_000],
])("reads %s as an age", (text, ageMs) => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"] });
  expect(Date.now() - parseWhen(text).getTime()).toBe(ageMs);
});

test.each(["yesterday", "2025-02-31", "2025-02-31T10:00:00Z", "2025-13-01", "7", "7w", "", "-7d"])(
  "refuses %j as a time",
  (text) => {
    expect(() => parseWhen(text)).toThrow("neither a date nor an age");
  },
);
