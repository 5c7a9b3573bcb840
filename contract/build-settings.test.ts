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
    SITE_URL: "https://example.com//",
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
])("refuses %s=%s with one problem that names it", (name, value) => {
  const { problems } = parseBuildSettings({ [name]: value });
  const named = { problem: expect.stringMatching(`^${name} `), remedy: expect.stringMatching(/^e\.g\. /) };
  expect(problems).toEqual([named]);
});

test("a period that RETENTION does not name keeps its default", () => {
  expect(parseBuildSettings({ RETENTION: " failed=12h, quarantined = keep," }).settings.retention).toEqual({
    deliveredMs: 30 * DAY_MS,
    failedMs: DAY_MS / 2,
    quarantinedMs: null,
  });
  const { failedMs, quarantinedMs } = parseBuildSettings({ RETENTION: "delivered=365d" }).settings.retention;
  expect([failedMs, quarantinedMs]).toEqual([90 * DAY_MS, 14 * DAY_MS]);
});

const rebuild = { command: "build" };
test.each<[built: Record<string, string>, wanted: Record<string, string>, ...problems: object[]]>([
  [{}, {}],
  [
    {},
    { SITE_URL: "https://example.com", API_BASE: "https://api.example.com" },
    { problem: 'SITE_URL is "https://example.com", but the pages were built with "http://localhost:3000"', ...rebuild },
    { problem: 'API_BASE is "https://api.example.com", but the pages were built with ""', ...rebuild },
  ],
  // Only a longer period breaks the promise in the privacy policy.
  [{}, { RETENTION: "delivered=31d" }, longer("delivered 31 days instead of 30 days")],
  [{}, { RETENTION: "failed=keep" }, longer("failed until deleted by hand instead of 90 days")],
  [
    { RETENTION: "failed=keep,quarantined=1h" },
    { RETENTION: "quarantined=61m" },
    longer("quarantined 61 minutes instead of 60 minutes"),
  ],
  [{ RETENTION: "delivered=keep" }, { RETENTION: "delivered=keep" }],
  [{ RETENTION: "delivered=keep" }, { RETENTION: "delivered=999d" }],
  [{ RETENTION: "delivered=30d" }, { RETENTION: "delivered=1s" }],
])("pages built with %j and served with %j", (built, wanted, ...problems) => {
  expect(outdatedSettings(parseBuildSettings(built).settings, parseBuildSettings(wanted).settings)).toEqual(problems);
});

function longer(words: string) {
  return {
    problem: expect.stringContaining(`(${words})`),
    remedy: expect.stringContaining("the same RETENTION"),
    ...rebuild,
  };
}
