import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BuildManifest } from "../contract/build-manifest.ts";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { contentsOf, elementsOf, metaOf, textsOf } from "./support/html.ts";
import { ask, listen, request } from "./support/raw-http.ts";
import { COMING_SOON_PATH, PATHS_WITHOUT_PAGE, SCREENS, WRITTEN_PATHS } from "./support/screens.ts";

const SITE = "http://localhost:3000";
const manifest = JSON.parse(readFileSync("dist/manifest.json", "utf8")) as BuildManifest;

let subject: AppUnderTest;
let port = 0;
let url = "";
beforeAll(async () => {
  subject = await openApp();
  port = await listen(subject);
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => subject.close());

/** Requests a path like a browser, because `fetch` encodes URLs by the same standard. */
async function open(path: string) {
  // A script on another site would send this header.
  const answer = await fetch(url + path, { headers: { origin: "https://elsewhere.example" } });
  const html = await answer.text();
  const canonical = elementsOf(html, 'link rel="canonical"')[0]?.href;
  return { answer, html, headings: textsOf(html, "h1"), canonical };
}

const ALIASES = SCREENS.flatMap(({ heading, paths }) => paths.map((path) => ({ path, heading, canonical: paths[0] })));

test.each(ALIASES)('$path shows "$heading", like its canonical path', async ({ path, heading, ...expected }) => {
  const { answer, html, headings, canonical } = await open(path);
  expect(answer.status).toBe(200);
  expect(headings).toEqual([heading]);
  expect(canonical).toBe(SITE + expected.canonical);
  expect(metaOf(html, "robots")).toBeUndefined();
  for (const name of ["x-robots-tag", "set-cookie", "access-control-allow-origin"]) {
    expect(answer.headers.has(name), name).toBe(false);
  }
  // Aliases have the same bytes and policy, so browser tests of the first path apply to them too.
  const first = await open(expected.canonical);
  expect(html).toBe(first.html);
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toBe(first.answer.headers.get("content-security-policy"));
});

test.each([
  ["/contact/", "Get in Touch"],
  ["/contact///", "Get in Touch"],
  ["/contact?from=mail&x=%zz", "Get in Touch"],
  ["/%63ontact", "Get in Touch"],
  [`/contact?${"q=1&".repeat(2000)}`, "Get in Touch"],
  ["/Delivery/?a", "Shipping and delivery"],
])('despite a slash, a query or an encoding, %s shows "%s"', async (path, heading) => {
  const { answer, headings } = await open(path);
  expect(answer.status).toBe(200);
  expect(headings).toEqual([heading]);
});

test.each([
  ...PATHS_WITHOUT_PAGE,
  ...[
    "/Contact",
    "/DELIVERY",
    "/404.html",
    "/500.html",
    "/nothing/here",
    "/contact%2F..%2F",
    "/%E4%B8%AD",
    "/%zz/%E0%A4%A",
  ],
  ...[
    "/%00",
    "/../package.json",
    "/%2e%2e/%2e%2e/etc/passwd",
    "//etc/passwd",
    "/.env",
    "/manifest.json",
    "/../manifest.json",
    "/_headers",
  ],
  ...["//evil.example/contact", "/constructor", "/__proto__", `/${"a/".repeat(2000)}`],
])("%s shows Coming Soon", async (path) => {
  const { status, headers, body } = await ask(port, request(`GET ${path}`));
  expect([status, headers["x-robots-tag"]]).toEqual([200, "noindex"]);
  // All these paths show the page that the end-to-end tests open.
  expect(body).toBe(readFileSync("dist/site/404.html", "utf8"));
});

test("Coming Soon is inside header and footer, and not for search engines", async () => {
  const { html, headings } = await open(COMING_SOON_PATH);
  expect(headings).toEqual(["Coming Soon"]);
  expect(metaOf(html, "robots")).toBe("noindex");
  expect([elementsOf(html, "header").length, elementsOf(html, "footer").length]).toEqual([1, 1]);
});

test.each([
  ...["/assets", "/assets//", "/assets/?page=1", "/assets/none.js", "/favicon.gif", "/media/none.mp4"],
  ...["/assets/../../package.json", "/media/..%2f..%2fpackage.json"],
])("%s is a plain 404, never a page", async (path) => {
  const { status, headers, body } = await ask(port, request(`GET ${path}`));
  expect([status, headers["content-type"], body]).toEqual([404, "text/plain; charset=utf-8", "Not found\n"]);
});

test("every page has the metadata for search engines and shared links", async () => {
  const texts = new Set<string | undefined>();
  for (const { paths } of SCREENS) {
    const { html } = await open(paths[0]);
    const [title] = textsOf(html, "title");
    texts.add(title).add(metaOf(html, "description"));
    expect(elementsOf(html, "html")).toMatchObject([{ lang: "en-GB" }]);
    expect(metaOf(html, "og:title")).toBe(title);
    expect(metaOf(html, "og:url")).toBe(SITE + paths[0]);
    const hrefs = elementsOf(html, "link").map(({ href = "" }) => href);
    const own = hrefs.filter((href) => href.startsWith("/"));
    expect(own.length).toBeGreaterThan(3);
    for (const href of own) expect((await fetch(url + href)).status, href).toBe(200);
    const card = await fetch(url + new URL(metaOf(html, "og:image") ?? "").pathname);
    expect(await sharp(await card.bytes()).metadata()).toMatchObject({ width: 1200, height: 630, format: "jpeg" });
  }
  expect(texts.size).toBe(2 * SCREENS.length);
});

test("only listed pages have structured data, only two have a script, and none has a style attribute", () => {
  const withScript: string[] = [];
  for (const { file, url: path } of manifest.files) {
    if (!file.endsWith(".html")) continue;
    const html = readFileSync(`dist/site/${file}`, "utf8");
    const types = elementsOf(html, "script").map(({ type }) => type);
    const [json] = contentsOf(html, 'script type="application/ld+json"');
    const isListed = metaOf(html, "robots") === undefined;
    const company = { "@type": "Organization", legalName: "Brighter Carbon Private Limited", url: `${SITE}/` };
    expect(json && JSON.parse(json)["@graph"][0], file).toEqual(
      isListed ? expect.objectContaining(company) : undefined,
    );
    expect(html).not.toMatch(/<[^>]+\sstyle=/);
    if (types.some((type) => type !== "speculationrules" && type !== "application/ld+json")) withScript.push(path);
  }
  expect(withScript.toSorted()).toEqual(["/", "/contact", "/contact-us"]);
});

test("the files for programs exist", async () => {
  const get = async (path: string) => {
    const answer = await fetch(url + path);
    expect(answer.status, path).toBe(200);
    return { text: await answer.text(), type: answer.headers.get("content-type") };
  };
  expect((await get("/robots.txt")).text).toContain(`Sitemap: ${SITE}/sitemap.xml`);
  const sitemap = (await get("/sitemap.xml")).text;
  expect(textsOf(sitemap, "loc")).toEqual(
    [
      ...SCREENS.map(({ paths }) => paths[0]),
      "/assets/carbon",
      "/assets/footprint",
      "/assets/accessibility",
      ...WRITTEN_PATHS,
    ].map((path) => SITE + path),
  );
  expect((await get("/.well-known/security.txt")).text).toMatch(/Contact: mailto:.+\nExpires: 20\d\d-/);
  const webManifest = JSON.parse((await get("/site.webmanifest")).text) as { icons: { src: string }[] };
  expect(webManifest.icons.length).toBeGreaterThan(0);
  for (const { src } of webManifest.icons) expect((await get(src)).type).toBe("image/png");
  for (const name of ["txt", "json"]) await get(`/carbon.${name}`);
  expect((await get("/favicon.svg")).type).toBe("image/svg+xml");
  expect((await get("/favicon.ico")).type).toBe("image/x-icon");
  const countries = JSON.parse((await get("/countries.json")).text);
  expect(countries).toHaveLength(250);
  expect(countries[0]).toEqual({ cca2: expect.stringMatching(/^[A-Z]{2}$/), name: { common: expect.any(String) } });
});
