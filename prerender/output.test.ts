import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Country } from "world-countries";
import { type BuildManifest, manifestFile, publicDir } from "../contract/build-manifest.ts";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { ELECTRICITY } from "../contract/footprint/arithmetic.ts";
import { NOTHING_POLICY } from "../contract/response-headers.ts";
import { makeScratchFolder } from "../tests/support/scratch-folder.ts";
import { electricityTable } from "../tools/electricity.ts";
import list from "./countries.json" with { type: "json" };
import { contentSecurityPolicy, replaceWhenBuilt } from "./output.ts";

test("only a complete build replaces another, with its manifest, and nothing is left of a refused one", async () => {
  const distDir = await makeScratchFolder();
  await mkdir(join(distDir, "inbox"));
  const draftDir = join(distDir, ".draft");
  const build = (content: string) =>
    replaceWhenBuilt(distDir, draftDir, async () => {
      await mkdir(publicDir(draftDir), { recursive: true });
      await writeFile(join(publicDir(draftDir), content), "");
      await writeFile(manifestFile(draftDir), content);
      if (content === "refused") throw new Error("refused");
    });
  const built = async () => [
    await readFile(manifestFile(distDir), "utf8"),
    await readdir(distDir, { recursive: true }),
  ];
  await build("first");
  await expect(build("refused")).rejects.toThrow("refused");
  expect(await built()).toEqual(["first", ["inbox", "manifest.json", "site", "site/first"]]);
  await build("second");
  expect(await built()).toEqual(["second", ["inbox", "manifest.json", "site", "site/second"]]);
});

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("a page's policy allows its own styles and scripts by hash, the settings' origins, and nothing else", () => {
  const { settings } = parseBuildSettings({ SITE_URL: "https://www.example.com" });
  const origins = { apiBase: "https://api.example.com/v1", countriesUrl: "https://countries.example/all" };
  const film = { kind: "film" as const, urls: ["https://film.example/a.mp4", "/media/b.mp4"] };
  const page = { inlineStyles: ["a{}"], inlineScripts: ["b()"], fetches: [film] };
  expect(contentSecurityPolicy(page, { ...settings, ...origins }).split("; ")).toEqual([
    "default-src 'none'",
    `script-src 'self' ${hashOf("b()")}`,
    `style-src ${hashOf("a{}")}`,
    "img-src 'self'",
    "font-src 'self'",
    "media-src 'self' https://film.example",
    "manifest-src 'self'",
    "connect-src 'self' https://api.example.com https://countries.example",
    "form-action 'self' https://api.example.com",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
});

const { files, form } = JSON.parse(readFileSync("dist/manifest.json", "utf8")) as BuildManifest;
const documents = files
  .filter(({ file }) => /\.(html|svg)$/.test(file))
  .map(({ file, policy = "" }) => ({ file, policy }));

test.each(documents)("dist/site/$file may use its own inline styles and scripts, and no others", ({ file, policy }) => {
  const page = readFileSync(`dist/site/${file}`, "utf8");
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

test("the lists equal those of their packages; renew them with node tools/countries.ts and tools/electricity.ts", () => {
  const require = createRequire(import.meta.url);
  const { compare } = new Intl.Collator("en");
  const source = (require("world-countries") as readonly Country[])
    .map(({ cca2, cca3, name }) => ({ cca2, cca3, name: name.common }))
    .toSorted((a, b) => compare(a.name, b.name));
  expect(list.countries).toEqual(source);
  expect(list.source).toContain(`world-countries ${require("world-countries/package.json").version},`);
  expect(ELECTRICITY).toEqual(electricityTable());
});
