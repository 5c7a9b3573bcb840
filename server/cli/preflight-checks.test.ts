import { expect, test } from "vitest";
import type { ClaimsState } from "../../contract/build-manifest.ts";
import { checkAddress, checkClaims, checkFactors, checkProxy } from "./preflight-checks.ts";

const UNREACHABLE = "is not an address that visitors can reach";
test.each([
  ["http://localhost:3000", "fail", ` ${UNREACHABLE}`],
  ["https://localhost", "fail", ` ${UNREACHABLE}`],
  ["https://127.0.0.1", "fail", ` ${UNREACHABLE}`],
  ["https://0.0.0.0", "fail", ` ${UNREACHABLE}`],
  ["https://[::1]", "fail", ` ${UNREACHABLE}`],
  ["https://www.example.com", "fail", ` ${UNREACHABLE}`],
  ["https://site.test", "fail", ` ${UNREACHABLE}`],
  ["http://www.brighter-carbon.com", "fail", " is not https"],
  ["https://www.brighter-carbon.com", "ok", ""],
])("a launch at %s: %s", (siteUrl, state, problem) => {
  expect(checkAddress(siteUrl)).toMatchObject({ state, detail: siteUrl + problem });
});

test("a limit per visitor needs TRUST_PROXY", () => {
  const rateLimits = [{ count: 5, windowMs: 600_000 }];
  expect(checkProxy({ trustProxy: [], rateLimits })).toMatchObject({ state: "fail" });
  expect(checkProxy({ trustProxy: ["loopback"], rateLimits })).toMatchObject({ state: "ok", detail: "loopback" });
  expect(checkProxy({ trustProxy: [], rateLimits: [] })).toMatchObject({ state: "ok" });
});

test("warns once newer emission factors are due", () => {
  expect(checkFactors(new Date("2027-06-29T23:59:59Z"))).toEqual({
    name: "footprint",
    state: "ok",
    remedy: "",
    detail: "DESNZ 2026 v1.2, newer factors are due by 2027-06-30",
  });
  expect(checkFactors(new Date("2027-06-30T00:00:00Z"))).toEqual({
    name: "footprint",
    state: "warn",
    detail: "DESNZ 2026 v1.2: newer factors were due by 2027-06-30",
    remedy: 'see "Once a year" in docs/operations.md',
  });
});

test("an unsigned sentence fails; claims without evidence and accepted forbidden wording warn for ever", () => {
  const lines = (claims: Partial<ClaimsState>, day = "2026-11-20") => {
    const none = { unsigned: [], unreviewed: [], withEvidence: [], expired: [], withoutEvidence: [] };
    const findings = checkClaims({ ...none, acceptedForbidden: [], ...claims }, new Date(`${day}T12:00:00Z`));
    return findings.map(({ state, detail }) => `${state}: ${detail}`);
  };
  const [text, where, by] = ["We are green", "/about", "Ada"];
  const withEvidence = [{ text, where, entry: { by, evidence: { until: "2026-11-20" } } }];
  expect(lines({ withEvidence })).toEqual(["ok: all are signed, 1 have evidence"]);
  expect(lines({ withEvidence }, "2026-11-21")).toEqual([
    "warn: the evidence has expired (1): “We are green” (/about)",
  ]);
  const unsigned = [{ text, where }];
  expect(lines({ unsigned, unreviewed: unsigned, withoutEvidence: unsigned })).toEqual([
    "fail: nobody has signed (1): “We are green” (/about)",
    "warn: without evidence (1): “We are green” (/about)",
  ]);
  expect(lines({ unreviewed: unsigned })).toEqual(["fail: not reviewed (1): “We are green” (/about)"]);
  expect(lines({ acceptedForbidden: [{ text, where, entry: { by, reason: "a quotation" } }] }, "2036-01-01")).toEqual([
    "warn: forbidden by law, but accepted (1): “We are green” (/about; accepted by Ada: a quotation)",
  ]);
});
