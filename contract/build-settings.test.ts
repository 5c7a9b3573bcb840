import { expect, test } from "vitest";
import { outdatedSettings, parseBuildSettings } from "./build-settings.ts";

const DAY_MS = 86_400_000;

test("has defaults for everything", () => {
  expect(parseBuildSettings({})).toEqual({
    settings: {
      siteUrl: "http://localhost:3000",
      apiBase: "",
      countriesUrl: "/countries.json",
      retention: { deliveredMs: 30 * DAY_MS, failedMs: 90 * DAY_MS, quarantinedMs: 14 * DAY_MS },
      siteDir: "app/",
      postsHook: false,
    },
    problems: [],
  });
});

test("drops trailing slashes", () => {
  const { settings } = parseBuildSettings({
    SITE_URL: "https://example.com/",
    API_BASE: "https://api.example.com/v1/",
  });
  expect(settings).toMatchObject({ siteUrl: "https://example.com", apiBase: "https://api.example.com/v1" });
});

test.each([
  ["SITE_URL", "example.com"],
  ["SITE_URL", "https://example.com/path"],
  ["SITE_URL", "javascript:alert(1)"],
  ["API_BASE", "api.example.com"],
  ["API_BASE", "https://api.example.com?x"],
  ["COUNTRIES_URL", "countries.json"],
  ["COUNTRIES_URL", "//elsewhere"],
  ["RETENTION", "sent=30d"],
  ["RETENTION", "delivered=soon"],
])("refuses %s=%s in one sentence that names it", (name, value) => {
  const { problems } = parseBuildSettings({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} .*; e\\.g\\. |^${name} .*e\\.g\\. `));
});

test("a period that RETENTION does not name keeps its default", () => {
  expect(parseBuildSettings({ RETENTION: " failed=12h, quarantined = keep," }).settings.retention).toEqual({
    deliveredMs: 30 * DAY_MS,
    failedMs: DAY_MS / 2,
    quarantinedMs: null,
  });
});

const compare = (built: Record<string, string>, wanted: Record<string, string>) =>
  outdatedSettings(parseBuildSettings(built).settings, parseBuildSettings(wanted).settings);

test("says which variables are no longer those that the pages were built with", () => {
  expect(compare({}, {})).toEqual([]);
  expect(compare({}, { SITE_URL: "https://example.com", API_BASE: "https://api.example.com" })).toEqual([
    {
      problem: 'SITE_URL is "https://example.com", but the pages were built with "http://localhost:3000"',
      remedy: "run: npm run build",
    },
    {
      problem: 'API_BASE is "https://api.example.com", but the pages were built with ""',
      remedy: "run: npm run build",
    },
  ]);
});

test.each([
  { built: "", wanted: "delivered=31d", longer: "delivered 31 days instead of 30 days" },
  { built: "", wanted: "failed=keep", longer: "failed until deleted by hand instead of 90 days" },
  {
    built: "failed=keep,quarantined=1h",
    wanted: "quarantined=61m",
    longer: "quarantined 61 minutes instead of 60 minutes",
  },
])("RETENTION=$wanted keeps longer than pages built with RETENTION=$built promise", ({ built, wanted, longer }) => {
  expect(compare({ RETENTION: built }, { RETENTION: wanted })).toEqual([
    { problem: expect.stringContaining(`(${longer})`), remedy: expect.stringContaining("the same RETENTION") },
  ]);
});

test.each([
  ["delivered=keep", "delivered=keep"],
  ["delivered=keep", "delivered=999d"],
  ["delivered=30d", "delivered=1s"],
])("pages built with RETENTION=%s are kept true by RETENTION=%s", (built, wanted) => {
  expect(compare({ RETENTION: built }, { RETENTION: wanted })).toEqual([]);
});
