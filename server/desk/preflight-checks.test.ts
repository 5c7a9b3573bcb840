import { expect, test } from "vitest";
import type { ListedClaim } from "../../contract/build-manifest.ts";
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

test("open claims and unsigned files of the company fail; the default site's own and the law's words warn", () => {
  const lines = (own: Partial<ListedClaim>[], unsigned: string[] = []) => {
    const claim = { text: "We are green", page: "/about", where: "about.md:5", isForbidden: false, isOurs: false };
    const claims = own.map((one): ListedClaim => ({ ...claim, state: "settled", ...one }));
    const findings = checkClaims({ claims, unsigned }, new Date("2026-11-20T12:00:00Z"));
    return findings.map(({ state, detail }) => `${state}: ${detail}`);
  };
  const named = "“We are green” (/about";
  expect(lines([{ until: "2027-11-20" }])).toEqual(["ok: all files are signed, and every claim has evidence"]);
  expect(lines([], ["pages/about.md"])).toEqual(["fail: nobody has signed pages/about.md"]);
  expect(lines([{ state: "open" }])).toEqual([`fail: without evidence (1): ${named})`]);
  expect(lines([{ until: "2026-11-19" }])).toEqual([`fail: without evidence (1): ${named}; until 2026-11-19)`]);
  expect(lines([{ until: "2026-12-20" }])).toEqual([
    `warn: the evidence ends within a month (1): ${named}; until 2026-12-20)`,
  ]);
  expect(lines([{ state: "withoutEvidence", isOurs: true, shows: "a plan" }])).toEqual([
    `warn: the default site's own, without evidence (1): ${named}; a plan)`,
  ]);
  expect(lines([{ isForbidden: true }])).toEqual([`warn: forbidden by law, with evidence or denied (1): ${named})`]);
});
