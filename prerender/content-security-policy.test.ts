import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { NOTHING_POLICY } from "../contract/response-headers.ts";
import { contentSecurityPolicy } from "./content-security-policy.ts";

const { settings: SETTINGS } = parseBuildSettings({ SITE_URL: "https://www.example.com" });
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("allows the page's own styles and scripts by hash, its own files, and nothing else", () => {
  const page = { inlineStyles: ["a{}"], inlineScripts: ["b()"], fetches: [] };
  expect(contentSecurityPolicy(page, SETTINGS).split("; ")).toEqual([
    "default-src 'none'",
    `script-src 'self' ${hashOf("b()")}`,
    `style-src ${hashOf("a{}")}`,
    ...["img-src", "font-src", "media-src", "manifest-src", "connect-src", "form-action"].map(
      (name) => `${name} 'self'`,
    ),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
});

test("allows the origins in the settings, and the origin of the film on its page", () => {
  const origins = { apiBase: "https://api.example.com/v1", countriesUrl: "https://countries.example/all" };
  const film = { kind: "film" as const, urls: ["https://film.example/a.mp4", "/media/b.mp4"] };
  const page = { inlineStyles: [], inlineScripts: [], fetches: [film] };
  const policy = contentSecurityPolicy(page, { ...SETTINGS, ...origins });
  expect(policy).toContain("connect-src 'self' https://api.example.com https://countries.example;");
  expect(policy).toContain("form-action 'self' https://api.example.com;");
  expect(policy).toContain("media-src 'self' https://film.example;");
});

const { files, form } = JSON.parse(readFileSync("dist.json", "utf8")) as BuildManifest;
const documents = files
  .filter(({ file }) => /\.(html|svg)$/.test(file))
  .map(({ file, policy = "" }) => ({ file, policy }));

test.each(documents)("dist/$file may use its own inline styles and scripts, and no others", ({ file, policy }) => {
  const page = readFileSync(`dist/${file}`, "utf8");
  // The answer to a post has the policy of the contact page, and one style more.
  const styles = file.startsWith("contact") ? form.pages.sent : page;
  // Every script, with any attributes, even an empty one. Browsers never run data for search engines.
  const hashesIn = (html: string, element: "style" | "script") => {
    const pattern = `<${element}\\b(?! type="application/ld\\+json")[^>]*>([\\s\\S]*?)</${element}>`;
    return [...html.matchAll(new RegExp(pattern, "gi"))].map(([, text = ""]) => hashOf(text));
  };
  const sourcesOf = (directive: string) => new RegExp(`${directive} ([^;]*)`).exec(policy)?.[1]?.split(" ");
  expect(hashesIn(page, "style")).toHaveLength(1);
  expect(sourcesOf("style-src")).toEqual(hashesIn(styles, "style"));
  if (file.endsWith(".svg")) expect(policy).toContain(NOTHING_POLICY);
  else expect(sourcesOf("script-src")).toEqual(["'self'", ...hashesIn(page, "script")]);
});
