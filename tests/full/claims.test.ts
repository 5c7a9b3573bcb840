import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BuildManifest, isDraft, manifestFile } from "../../contract/build-manifest.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const TAGLINE = "Our company is carbon-neutral, and we could not be prouder";
const PAGE = "---\ntitle: About\ndescription: Who we are.\n---\n\nOur {brand} plants trees.\n";

function claims(siteDir: string, ...parameters: string[]): string {
  const env = { ...process.env, SITE_DIR: siteDir };
  return execFileSync(process.execPath, ["scripts/claims.ts", ...parameters], { env, encoding: "utf8" });
}

test("a company adds what is missing, signs its files, and then may publish", async () => {
  // One claim has evidence, and one is new.
  const siteDir = await makeScratchFolder();
  await mkdir(join(siteDir, "pages"));
  const until = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
  const evidence = { shows: "the land register", at: "https://land.example/1", until };
  const on = new Date().toISOString().slice(0, 10);
  const trees = { text: "Our {brand} plants trees", page: "/about", evidence, by: "Ada", on };
  await writeFile(join(siteDir, "site.ts"), `export const site = { footerTagline: ${JSON.stringify(TAGLINE)} };`);
  await writeFile(join(siteDir, "pages/about.md"), PAGE);
  await writeFile(join(siteDir, "claims.json"), JSON.stringify([trees]));
  const { distDir, remove } = makePagesBuild();
  onTestFinished(remove);
  const refused = buildPages({ siteDir, distDir }, "production");
  expect(refused).toMatchObject({ status: 1, output: expect.stringContaining("Not signed as it is now: 2 files") });
  expect(refused.output).toContain(`${siteDir}/site.ts:1: ${TAGLINE} (needs an entry)`);
  expect(refused.output).not.toContain("plants trees");
  expect(existsSync(manifestFile(distDir))).toBe(false);

  claims(siteDir, "--write");
  const ledger = JSON.parse(readFileSync(join(siteDir, "claims.json"), "utf8")) as Record<string, unknown>[];
  expect(ledger).toMatchObject([
    { text: "Our {brand} plants trees", page: "/about", evidence: { shows: "the land register" }, by: "Ada" },
    { text: TAGLINE, page: "every page", evidence: { shows: "", at: "", until: "" }, by: "", on: "" },
  ]);
  const found = JSON.parse(claims(siteDir, "--json")) as Record<string, { text: string; page: string }[]>;
  expect(Object.keys(found)).toEqual(["open", "expired", "withoutEvidence", "unsigned"]);
  expect([found.open, found.unsigned]).toEqual([[], [{ file: "site.ts" }, { file: "pages/about.md" }]]);
  expect(found.withoutEvidence).toContainEqual(expect.objectContaining({ text: TAGLINE, page: "every page" }));

  const [own, company] = ledger;
  const filled = {
    ...company,
    evidence: { ...(own?.evidence as object), shows: "an audit" },
    by: "Ada",
    on,
    law: "Directive 2005/29/EC, Annex I, 4c",
  };
  await writeFile(join(siteDir, "claims.json"), JSON.stringify([own, filled]));
  const draft = buildPages({ siteDir, distDir });
  expect(draft).toMatchObject({ status: 0, output: expect.stringContaining('npm run claims -- --sign "NAME"') });
  const manifest = () => JSON.parse(readFileSync(manifestFile(distDir), "utf8")) as BuildManifest;
  expect(isDraft(manifest().claims)).toBe(true);
  expect(() => claims(siteDir, "--sign", " ")).toThrow(/“ ” is not the name of a person/);
  expect(() => claims(join(siteDir, "none"))).toThrow(/SITE_DIR has no site\.ts \(.+none\); copy app\/site\.ts/);
  await writeFile(join(siteDir, "claims.json"), `[{ "by": "Ada" }]`);
  expect(() => claims(siteDir)).toThrow(/^Command failed: .+\n.+claims\.json is not valid:\n[^{]+$/);
  await writeFile(join(siteDir, "claims.json"), JSON.stringify([own, filled]));
  const shown = claims(siteDir, "--sign", "Anna Huber");
  expect(shown).toContain("pages/about.md\n  About\n  Who we are\n  Our {brand} plants **trees**\n");
  expect(claims(siteDir)).toMatch(/^Nothing is open\.\nThe default site, app\/site\.ts:\d+: /);
  expect(buildPages({ siteDir, distDir }, "production")).toMatchObject({ status: 0 });
  expect(isDraft(manifest().claims)).toBe(false);
});
