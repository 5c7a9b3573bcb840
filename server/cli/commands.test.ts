import { expect, test } from "vitest";
import { readCommandLine } from "./commands.ts";

test.each([
  [[], /^Say what to do/],
  [["lst"], /^There is no command "lst"; .*--help/],
  [["privacy", "forget", "x"], /^There is no command "privacy forget"/],
  [["\u001b[2J"], /^There is no command "\\u\{1b\}\[2J"/],
  [["list", "--colour"], /^Unknown option '--colour'\n/],
  [["list", "extra"], /^"extra" is one argument too many/],
  [["list", "--state", "lost"], /^"lost" is not a state; it is one of queued/],
  [["list", "--since", "soon"], /^"soon" is neither a day nor an age/],
  [["list", "--limit", "x"], /^--limit takes a number/],
  [["show"], /^Something is missing: show REF/],
  [["retry"], /^Name one message, or --failed/],
  [["retry", "BC-0000-00", "--failed"], /^Name one message, or --failed/],
  [["export", "--csv", "--json"], /^Choose one/],
  [["privacy", "rectify", "a@example.com"], /^Say what to correct/],
])("refuses %j", (args, message) => {
  expect(() => readCommandLine(args)).toThrow(
    expect.objectContaining({ name: "UsageError", message: expect.stringMatching(message) }),
  );
});
