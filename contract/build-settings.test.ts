import { expect, test } from "vitest";
import { parseBuildSettings } from "./build-settings.ts";

test("has defaults for everything", () => {
  expect(parseBuildSettings({})).toEqual({
    settings: { siteUrl: "http://localhost:3000", apiBase: "", countriesUrl: "/countries.json" },
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
])("refuses %s=%s in one sentence that names it", (name, value) => {
  const { problems } = parseBuildSettings({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} .*; e\\.g\\. |^${name} .*e\\.g\\. `));
});
