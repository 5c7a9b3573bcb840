import { expect, test } from "vitest";
import { exitCodeFor, report } from "./preflight.ts";
import { fail, ok, warn } from "./preflight-checks.ts";

test("one line for each finding, with its remedy, and the verdict: warnings allow a launch, failures do not", () => {
  const warned = [ok("disk", "900 MB free"), warn("SPF record", "none", "add it")];
  expect(exitCodeFor(warned)).toBe(0);
  expect(report(warned)).toMatch(/\nReady for launch, 1 warning\.\n$/);
  const failed = [...warned, fail("mail", "550 \u001b[31m", "ask")];
  expect(exitCodeFor(failed)).toBe(1);
  expect(report(failed).split("\n")).toEqual([
    "ok    disk        900 MB free",
    "warn  SPF record  none -> add it",
    "FAIL  mail        550 \\u{1b}[31m -> ask",
    "",
    "Not ready: 1 failed, 1 warning.",
    "",
  ]);
});
