import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { outdatedSettings } from "./manifest.ts";

const rebuild = { command: "build" };
test.each<[built: Record<string, string>, wanted: Record<string, string>, ...problems: object[]]>([
  [{}, {}],
  [{ SITE_URL: "https://Example.com" }, { SITE_URL: "https://example.com:443" }],
  [{}, { SITE_DIR: "./app" }],
  [{ SITE_DIR: "app" }, { SITE_DIR: resolve("app") }],
  [{}, { SITE_DIR: "other" }, { problem: 'SITE_DIR is "other/", but the pages were built with "app/"', ...rebuild }],
  [
    {},
    { SITE_URL: "https://example.com", API_BASE: "https://api.example.com" },
    { problem: 'SITE_URL is "https://example.com", but the pages were built with "http://localhost:3000"', ...rebuild },
    { problem: 'API_BASE is "https://api.example.com", but the pages were built with ""', ...rebuild },
  ],
  [{}, { RETENTION: "delivered=31d" }, longer("delivered 31 days instead of 30 days")],
  [{}, { RETENTION: "failed=keep" }, longer("failed until deleted by hand instead of 90 days")],
  [
    { RETENTION: "failed=keep,quarantined=1h" },
    { RETENTION: "quarantined=61m" },
    shorter("failed 90 days instead of until deleted by hand"),
    longer("quarantined 61 minutes instead of 60 minutes"),
  ],
  [{ RETENTION: "delivered=keep" }, { RETENTION: "delivered=keep" }],
  [
    { RETENTION: "delivered=keep" },
    { RETENTION: "delivered=999d" },
    shorter("delivered 999 days instead of until deleted by hand"),
  ],
  [{ RETENTION: "delivered=30d" }, { RETENTION: "delivered=29d" }, shorter("delivered 29 days instead of 30 days")],
])("pages built with %j and served with %j", (built, wanted, ...problems) => {
  expect(outdatedSettings(parseBuildSettings(built).settings, parseBuildSettings(wanted).settings)).toEqual(problems);
});

function longer(words: string) {
  return differing("longer", words);
}

function shorter(words: string) {
  return differing("shorter", words);
}

function differing(how: string, words: string) {
  return {
    problem: expect.stringContaining(`keeps messages ${how} than the privacy policy says (${words})`),
    remedy: expect.stringContaining("the same RETENTION"),
    ...rebuild,
  };
}
