import { expect, test } from "vitest";
import { checkAddress, checkClaims, checkFactors, checkProxy } from "./preflight-checks.ts";

test.each([
  "http://localhost:3000",
  "https://localhost",
  "https://127.0.0.1",
  "https://[::1]",
  "https://www.example.com",
  "https://site.test",
])("%s is no address to launch with", (siteUrl) => {
  expect(checkAddress(siteUrl)).toMatchObject({ state: "fail", detail: expect.stringMatching(/not an address that/) });
});

test("a public site has to be https", () => {
  expect(checkAddress("http://www.brighter-carbon.com")).toMatchObject({
    state: "fail",
    detail: expect.stringMatching(/is not https$/),
  });
  expect(checkAddress("https://www.brighter-carbon.com")).toMatchObject({ state: "ok", remedy: "" });
});

test("a limit per visitor needs to know who is a proxy", () => {
  const rateLimits = [{ count: 5, windowMs: 600_000 }];
  expect(checkProxy({ trustProxy: [], rateLimits })).toMatchObject({ state: "fail" });
  expect(checkProxy({ trustProxy: ["loopback"], rateLimits })).toMatchObject({ state: "ok", detail: "loopback" });
  expect(checkProxy({ trustProxy: [], rateLimits: [] })).toMatchObject({ state: "ok" });
});

test("newer factors of the estimate are looked for once they are due", () => {
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
    remedy: "update them as docs/operations.md says, under Once a year",
  });
});

test("nobody launches with claims that were not reviewed, have no evidence, or whose evidence has ended", () => {
  const evidence = [{ text: "We plant oaks.", until: "2026-11-20" }];
  const state = { unreviewed: 0, withoutEvidence: [], evidence };
  const on = (day: string) => new Date(`${day}T12:00:00Z`);
  expect(checkClaims(state, on("2026-11-20"))).toMatchObject([
    { state: "ok", detail: "all reviewed, 1 with evidence" },
  ]);
  expect(checkClaims(state, on("2026-11-21"))).toMatchObject([
    { state: "fail", detail: "the evidence ended on 2026-11-20 for: We plant oaks." },
  ]);
  const open = { unreviewed: 12, withoutEvidence: ["99.9% uptime."], evidence: [] };
  expect(checkClaims(open, on("2026-11-20")).map(({ state, detail }) => `${state}: ${detail}`)).toEqual([
    "fail: sentences about the environment that nobody reviewed: 12",
    "fail: no evidence for: 99.9% uptime.",
  ]);
});
