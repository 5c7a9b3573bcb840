import { execSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { site } from "../../app/site.ts";
import { hexColours } from "../../app/styles/look.ts";
import { site as own } from "../../docs/look/site.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";
import { copyProject } from "../support/project-copy.ts";

test("a build removes the remains of a killed one, and publishes nothing but the site", async () => {
  const project = await copyProject("inbox", "package-lock.json", "vite.inbox.config.ts");
  await mkdir(join(project, "dist.new"));
  await writeFile(join(project, "dist.new/leftover"), "");
  // A draft, so that an unsigned file does not fail this test too.
  execSync("node_modules/.bin/vite build --logLevel warn --mode draft && node scripts/build-inbox.ts", {
    cwd: project,
    env: { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
  expect((await readdir(project)).filter((name) => name.startsWith("dist"))).toEqual([
    "dist",
    "dist-inbox",
    "dist-server",
    "dist.json",
  ]);
  const uploaded = await readdir(join(project, "dist"), { recursive: true });
  expect(uploaded).toContain("index.html");
  expect(uploaded).not.toContain("leftover");
  expect(uploaded.filter((name) => /(^|\/)\.(?!well-known)|claims|manifest\.json/.test(name))).toEqual([]);
});

test("the example of a company's look replaces every colour, the logo, the texts and the picture, and takes away the film", async () => {
  const { outDir, remove } = makePagesBuild();
  onTestFinished(remove);
  const { status, output } = buildPages({ siteDir: "docs/look", outDir });
  expect(status, output).toBe(0);
  const fileOf = (name: string) => readFile(join(outDir, name), "utf8");
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
  expect((await readdir(join(outDir, "assets"))).filter((name) => name.startsWith("poster"))).toHaveLength(4);
  expect(await readdir(join(outDir, "media")).catch(() => [])).toEqual([]);
  expect(home).not.toContain("<video");
});
