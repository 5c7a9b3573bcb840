import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { contentSecurityPolicy, svgSecurityPolicy } from "./content-security-policy.ts";
import { faviconSvg } from "./pictures.ts";

const { settings: SETTINGS } = parseBuildSettings({ SITE_URL: "https://www.example.com" });
const NOTHING_INLINE = { inlineStyles: [], inlineScripts: [], fetches: [] };

test("allows the page's own styles and scripts by hash, and nothing else inline", () => {
  const policy = contentSecurityPolicy({ inlineStyles: ["a{}"], inlineScripts: ["b()"], fetches: [] }, SETTINGS);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='");
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]+='/);
  expect(policy).not.toContain("unsafe");
});

test("allows the origins in the settings, and film origins only on the page with the film", () => {
  const origins = { apiBase: "https://api.example.com/v1", countriesUrl: "https://countries.example/all" };
  const film = { kind: "film" as const, urls: ["https://film.example/a.mp4", "/media/b.mp4"] };
  const policy = contentSecurityPolicy({ ...NOTHING_INLINE, fetches: [film] }, { ...SETTINGS, ...origins });
  expect(policy).toContain("connect-src 'self' https://api.example.com https://countries.example;");
  expect(policy).toContain("form-action 'self' https://api.example.com;");
  expect(policy).toContain("media-src 'self' https://film.example;");
  expect(contentSecurityPolicy(NOTHING_INLINE, SETTINGS)).toContain("media-src 'self';");
});

test("allows an SVG its own style and nothing else", () => {
  expect(svgSecurityPolicy("a{}")).toBe(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='",
  );
});

test("the icon has exactly the style that its policy allows", () => {
  const { svg, style } = faviconSvg();
  expect([...svg.matchAll(/<style>(.*?)<\/style>/g)].map(([, text]) => text)).toEqual([style]);
});

const { files } = JSON.parse(readFileSync("dist.json", "utf8")) as BuildManifest;
const pages = files.flatMap(({ url, file, policy = "", savingDataFile }) =>
  file.endsWith(".html") ? [file, savingDataFile ?? []].flat().map((file) => ({ url, file, policy })) : [],
);

test.each(pages)("dist/$file may run its own inline styles and scripts, and no others", ({ file, policy }) => {
  const html = readFileSync(`dist/${file}`, "utf8");
  // Every script, with any attributes, even an empty one. Browsers never run data for search engines.
  const hashesIn = (element: "style" | "script") =>
    [
      ...html.matchAll(
        new RegExp(`<${element}\\b(?! type="application/ld\\+json")[^>]*>([\\s\\S]*?)</${element}>`, "gi"),
      ),
    ].map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  const sourcesOf = (directive: string) => new RegExp(`${directive} ([^;]*)`).exec(policy)?.[1]?.split(" ");
  expect(hashesIn("style")).toHaveLength(1);
  expect(sourcesOf("style-src")).toEqual(hashesIn("style"));
  expect(sourcesOf("script-src")).toEqual(["'self'", ...hashesIn("script")]);
});
