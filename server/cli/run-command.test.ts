import { expect, test } from "vitest";
import { runCli } from "../../tests/support/run-cli.ts";
import { readCommandLine } from "./run-command.ts";

test.each([
  [[], /^No command given\. .*--help/],
  [["lst"], /^Unknown command "lst"\. .*--help/],
  [["privacy", "forget", "x"], /^Unknown command "privacy forget"/],
  [["\u001b[2J"], /^Unknown command "\\u\{1b\}\[2J"/],
  [["list", "--colour"], /^Unknown option '--colour'\n/],
  [["list", "extra"], /^Unexpected argument "extra"/],
  [["show", "BC-0000-00", "\u001b[2J"], /^Unexpected argument "\\u\{1b\}\[2J"/],
  [["list", "--state", "lost"], /^--state: "lost" is not one of queued/],
  [["list", "--since", "soon"], /^--since: "soon" is neither a date nor an age/],
  [["list", "--limit", "x"], /^--limit: "x" is not a whole number above 0/],
  [["list", "--limit"], /^Option '--limit <value>' argument missing/],
  [["stats", "--days", "3661"], /^--days: "3661" is not a whole number from 1 to 3660/],
  [["list", "--limit", "0", "--since", "soon"], /^--limit: .+\n--since: .+\nFor help, run: .+ list --help$/],
  [["show"], /^Missing argument\. Usage: npm run messages -- show REFERENCE \[--json\]/],
  [["show", ""], /^Missing argument/],
  [["retry"], /^Give one REFERENCE, or --failed/],
  [["retry", "BC-0000-00", "--failed"], /^Give one REFERENCE, or --failed/],
  [["release"], /^Give one REFERENCE, or --since WHEN, or --all/],
  [["release", "BC-0000-00", "--all"], /^Give one REFERENCE/],
  [["release", "--since", "1d", "--all"], /^Give one REFERENCE/],
  [["resend"], /^Give one REFERENCE, or --since WHEN\n/],
  [["resend", "BC-0000-00", "--since", "1d"], /^Give one REFERENCE, or --since WHEN\n/],
  [["delete"], /^Missing argument\. Usage: npm run messages -- delete REFERENCE \[--yes\]/],
  [["export", "--csv", "--json"], /^Choose one/],
  [["privacy", "rectify", "a@example.com"], /^Give at least one option/],
])("refuses %j", (args, message) => {
  expect(() => readCommandLine(args, new Date(), "npm run messages --")).toThrow(
    expect.objectContaining({ name: "UsageError", message: expect.stringMatching(message) }),
  );
});

test("explains a command by its own definition", async () => {
  expect(await runCli({}, "help", "privacy", "restrict")).toEqual({
    code: 0,
    err: "",
    out: `Keep all messages from an e-mail address, but neither send nor delete them.

Usage: npm run messages -- privacy restrict EMAIL [--lift]

  --lift  lift the restriction
`,
  });
});
