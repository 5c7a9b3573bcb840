import { expect, test } from "vitest";
import { parseBuildSettings } from "./build-settings.ts";

const DAY_MS = 86_400_000;

test("spells SITE_URL as browsers do, and drops trailing slashes", () => {
  const env = { SITE_URL: "HTTPS://WWW.Example.COM:443//", API_BASE: "https://api.example.com/v1/" };
  const { settings, problems } = parseBuildSettings(env);
  expect(settings).toMatchObject({ siteUrl: "https://www.example.com", apiBase: "https://api.example.com/v1" });
  expect(problems).toEqual([]);
});

test.each([
  ["SITE_URL", "example.com"],
  ["SITE_URL", "https://example.com/path"],
  ["SITE_URL", "javascript:alert(1)"],
  ["SITE_URL", "https://ada@example.com"],
  ["SITE_URL", "https://:secret@example.com"],
  ["API_BASE", "https://ada:secret@api.example.com"],
  ["COUNTRIES_URL", "https://ada@example.com/countries"],
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
