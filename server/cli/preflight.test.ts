import { expect, test } from "vitest";
import { exitCodeFor, report } from "./preflight.ts";
import { fail, ok, warn } from "./preflight-checks.ts";

test("one line for each finding, with its remedy, and the verdict", () => {
  const findings = [
    ok("disk", "900 MB free"),
    warn("SPF record", "none", "add it"),
    fail("mail", "550 \u001b[31m", "ask"),
  ];
  expect(report(findings).split("\n")).toEqual([
    "ok    disk        900 MB free",
    "warn  SPF record  none -> add it",
    "FAIL  mail        550 \\u{1b}[31m -> ask",
    "",
    "Not ready: 1 failed, 1 warning.",
    "",
  ]);
});

test("warnings allow a launch, failures do not", () => {
  const warned = [ok("a", ""), warn("b", "", "c"), warn("d", "", "e")];
  expect(exitCodeFor(warned)).toBe(0);
  expect(report(warned)).toMatch(/\nReady for launch, 2 warnings\.\n$/);
  expect(exitCodeFor([...warned, fail("f", "", "g")])).toBe(1);
});
