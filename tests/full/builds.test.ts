import { execSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { site } from "virtual:site";
import { expect, onTestFinished, test } from "vitest";
import { hexColours } from "../../app/styles/look.ts";
import { publicDir } from "../../contract/build-manifest.ts";
import { site as own } from "../../docs/look/site.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";
import { copyProject } from "../support/project-copy.ts";

test("a build removes the remains of a killed one, and publishes nothing but the site", async () => {
  const project = await copyProject("desk", "package-lock.json", "vite.inbox.config.ts");
  const leftover = join(project, "dist/.site-draft/site/leftover");
  await mkdir(dirname(leftover), { recursive: true });
  await writeFile(leftover, "");
  // A draft, so that an unsigned file does not fail this test too.
  execSync("node_modules/.bin/vite build --logLevel warn --mode draft && node scripts/build-inbox.ts", {
    cwd: project,
    env: { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
  expect((await readdir(join(project, "dist"))).toSorted()).toEqual(["inbox", "manifest.json", "server", "site"]);
  const uploaded = await readdir(join(project, "dist/site"), { recursive: true });
  expect(uploaded).toContain("index.html");
  expect(uploaded).not.toContain("leftover");
  expect(uploaded.filter((name) => /(^|\/)\.(?!well-known)|claims|manifest\.json/.test(name))).toEqual([]);
});

test("the example of a company's look replaces every colour, the logo, the texts and the picture, and takes away the film", async () => {
  const { distDir, remove } = makePagesBuild();
  onTestFinished(remove);
  const { status, output } = buildPages({ siteDir: "docs/look", distDir });
  expect(status, output).toBe(0);
  const fileOf = (name: string) => readFile(join(publicDir(distDir), name), "utf8");
  const home = await fileOf("index.html");
  expect(home).toContain(`<h1>${own.hero.headline}</h1>`);
  expect(home).toContain(own.look.mark.accent);
  const defaultHues = /oklch\([\d. ]+ (178|180|130|150|72|78)[ )]/;
  for (const page of ["index.html", "contact/index.html", "privacy/index.html"]) {
    const html = await fileOf(page);
    expect(html).toContain("oklch(.3 .045 262)");
    expect(html).not.toMatch(defaultHues);
  }
  const { ink, ground } = hexColours({ ...site.look, ...own.look });
  expect(JSON.parse(await fileOf("site.webmanifest"))).toMatchObject({ background_color: ground, theme_color: ink });
  expect(await fileOf("favicon.svg")).toContain(ink);
  expect((await readdir(join(publicDir(distDir), "assets"))).filter((name) => name.startsWith("poster"))).toHaveLength(
    4,
  );
  expect(await readdir(join(publicDir(distDir), "media")).catch(() => [])).toEqual([]);
  expect(home).not.toContain("<video");
});
