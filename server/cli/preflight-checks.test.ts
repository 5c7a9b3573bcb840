import { expect, test } from "vitest";
import { checkAddress, checkClaims, checkFactors, checkProxy } from "./preflight-checks.ts";

const UNREACHABLE = "is not an address that visitors can reach";
test.each([
  ["http://localhost:3000", "fail", ` ${UNREACHABLE}`],
  ["https://localhost", "fail", ` ${UNREACHABLE}`],
  ["https://127.0.0.1", "fail", ` ${UNREACHABLE}`],
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

test("a sentence without a review fails; claims without evidence only warn, in one line", () => {
  const on = (day: string) => new Date(`${day}T12:00:00Z`);
  const linesOf = (...parameters: Parameters<typeof checkClaims>) =>
    checkClaims(...parameters).map(({ state, detail }) => `${state}: ${detail}`);
  const state = { unreviewed: 0, withoutEvidence: 0, evidenceUntil: ["2026-11-20"] };
  expect(linesOf(state, on("2026-11-20"))).toEqual(["ok: all reviewed, 1 with evidence"]);
  expect(linesOf(state, on("2026-11-21"))).toEqual(["warn: the evidence for 1 claim has expired"]);
  expect(linesOf({ unreviewed: 12, withoutEvidence: 5, evidenceUntil: [] }, on("2026-11-20"))).toEqual([
    "fail: sentences with a strong word that need a review: 12",
    "warn: 5 claims without evidence",
  ]);
});
