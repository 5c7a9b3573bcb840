import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuildManifest, manifestFile, publicDir } from "../../contract/build-manifest.ts";
import { contentsOf, elementsOf, metaOf, textsOf } from "../support/html.ts";
import { buildPages, makePagesBuild } from "../support/pages-build.ts";

const SITE = "http://localhost:3000";
const { siteDir, pagesDir, distDir, remove } = makePagesBuild();
afterAll(remove);

const fileOf = (name: string) => readFileSync(join(publicDir(distDir), name));
const htmlOf = (path: string) => String(fileOf(`${path}/index.html`));
const manifest = () => JSON.parse(readFileSync(manifestFile(distDir), "utf8")) as BuildManifest;

beforeAll(() => {
  const { status, output } = buildPages({ siteDir, distDir });
  expect(status, output).toBe(0);
});

test("a file is a page with title, canonical link, card, contents and parents, and a line in the sitemap", async () => {
  const [html, article] = [htmlOf("/about"), htmlOf("/articles/first")];
  for (const element of ["title", "h1"]) expect(textsOf(html, element)[0]).toMatch(/^About "us" & our <work>/);
  expect(contentsOf(html, 'script type="application/ld+json"')[0]).toContain("\\u003cwork>");
  expect(metaOf(html, "description")).toBe("Who we are, what we sell, and how to reach us.");
  expect(metaOf(html, "robots")).toBeUndefined();
  expect(elementsOf(html, 'link rel="canonical"')[0]?.href).toBe(`${SITE}/about`);
  const sitemap = textsOf(String(fileOf("sitemap.xml")), "loc");
  expect(sitemap.slice(-3)).toEqual([`${SITE}/about`, `${SITE}/articles`, `${SITE}/articles/first`]);
  const { pathname } = new URL(metaOf(html, "og:image") ?? "");
  expect(await sharp(fileOf(pathname)).metadata()).toMatchObject({ width: 1200, height: 630, format: "jpeg" });

  const hrefsIn = (page: string, nav: string) =>
    elementsOf(contentsOf(page, `nav class="${nav}"`)[0] ?? "", "a").map(({ href }) => href);
  expect(hrefsIn(html, "contents")).toEqual(["#what-we-do", "#numbers", "#questions", "#numbers-1"]);
  expect(article).not.toContain('class="contents"');
  expect(hrefsIn(article, "breadcrumb")).toEqual(["/", "/articles"]);
  expect(html).toContain('<h2 id="numbers"><a class="anchor" href="#numbers">Numbers</a></h2>');
  expect(html).toContain('<div class="notice" role="note"><p>How long does it take? A day.</p></div>');
  expect(html).toContain(`<a href="${SITE}/about?by=Brighter%20Carbon">Brighter Carbon</a>`);
});

test("pictures have two sizes, reserve their space, and contain no camera metadata", async () => {
  const [panels, dot] = elementsOf(htmlOf("/about"), "img");
  expect(panels).toMatchObject({ alt: "Rows of solar panels on a hill", width: "960", height: "540" });
  // Some browsers do not print a lazy picture that has not loaded yet.
  expect(panels).not.toHaveProperty("loading");
  expect(panels?.srcset).toMatch(/^\/assets\/panels-480-[\w-]+\.webp 480w, \/assets\/panels-960-[\w-]+\.webp 960w$/);
  expect(dot).toMatchObject({ alt: "A dot", width: "24", height: "24" });
  const [turbine] = elementsOf(htmlOf("/articles/first"), "img");
  expect(turbine).toMatchObject({ width: "600", height: "800" });
  const { width, height, format, exif, orientation } = await sharp(fileOf(turbine?.src ?? "")).metadata();
  expect({ width, height, format, exif, orientation }).toEqual({ width: 600, height: 800, format: "webp" });
  expect(manifest().files.find(({ url }) => url === turbine?.src)).toMatchObject({ cache: "immutable" });
});

test("a refused build reports all problems with file, line and remedy, and keeps the previous site", async () => {
  const write = (name: string, text: string) =>
    writeFile(join(pagesDir, name), `---\ntitle: ${name}\ndescription: A page.\n---\n\n${text}\n`);
  await write("contact.md", "Text");
  await write("broken.mdx", "Text <br> text");
  await write("links.md", "[a](/abuot),\n[b](/privacy#cooky)");
  const builtBefore = readdirSync(distDir, { recursive: true }).toSorted();
  const { status, output } = buildPages({ siteDir, distDir });
  expect(status).toBe(1);
  // The previous site stays, and nothing of the refused one.
  expect(readdirSync(distDir, { recursive: true }).toSorted()).toEqual(builtBefore);
  expect(htmlOf("/about")).toContain("What we do");
  const [, , ...lines] = output.trim().split("\n");
  // No stack trace follows, because the program is not at fault.
  expect(output.trim().split("\n")).toEqual(["error during build:", "The pages cannot be built:", ...lines]);
  expect(lines.toSorted()).toEqual([
    expect.stringContaining("broken.mdx:1: Pages end in .md: rename it to broken.md."),
    expect.stringContaining("broken.mdx:6: Write Markdown instead of <br>"),
    expect.stringContaining("contact.md:1: /contact is already the address of a page of the site. Give the file"),
    expect.stringContaining('links.md:6: The link "/abuot" leads to a page that does not exist. Correct it, or write'),
    expect.stringContaining('links.md:7: The link "/privacy#cooky" leads to a heading that /privacy does not have.'),
  ]);
});
