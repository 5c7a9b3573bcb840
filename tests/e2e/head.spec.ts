import { readFileSync } from "node:fs";
import { expect } from "@playwright/test";
import { SCREENS } from "../support/screens.ts";
import { test } from "../support/site.ts";

test("every page says of itself what a search engine or a shared link needs", async ({ page }) => {
  const [titles, descriptions] = [new Set<string>(), new Set<string>()];
  for (const { paths } of SCREENS) {
    await page.goto(paths[0]);
    const content = (selector: string) => page.locator(selector).getAttribute("content");
    titles.add(await page.title());
    descriptions.add((await content("meta[name=description]")) ?? "");
    await expect(page.locator("html")).toHaveAttribute("lang", "en-GB");
    expect(await content("meta[property='og:title']")).toBe(await page.title());
    expect(await content("meta[property='og:url']")).toBe(`http://localhost:3000${paths[0]}`);
    expect(await content("meta[name='twitter:card']")).toBe("summary_large_image");
    expect(await page.locator("meta[name=theme-color]").count()).toBe(2);
    const image = new URL((await content("meta[property='og:image']")) ?? "");
    expect((await page.request.get(image.pathname)).headers()["content-type"]).toMatch(/^image\//);
    for (const link of await page.locator("head link[href^='/']").all()) {
      const href = (await link.getAttribute("href")) ?? "";
      expect((await page.request.get(href)).status(), href).toBe(200);
    }
  }
  expect(titles.size).toBe(SCREENS.length);
  expect(descriptions.size).toBe(SCREENS.length);
});

test("no page has a style attribute, and only two have a script", async ({ page }) => {
  const withScript: string[] = [];
  // Rules for preparing pages ahead are data, though the element that holds them is called a script.
  const withoutRules = (html: string) => html.replace(/<script type="speculationrules">[^<]*<\/script>/, "");
  expect(withoutRules(readFileSync("dist/500.html", "utf8"))).not.toMatch(/<script|<[^>]+\sstyle=/);
  for (const path of [...SCREENS.map(({ paths }) => paths[0]), "/about"]) {
    const html = withoutRules(await (await page.request.get(path)).text());
    expect(html).not.toMatch(/<[^>]+\sstyle=/);
    expect(html).not.toContain('rel="stylesheet"');
    if (html.includes("<script")) withScript.push(path);
  }
  expect(withScript).toEqual(["/", "/contact"]);
});

test("the files that programs ask for are there", async ({ page }) => {
  const get = async (path: string) => {
    const response = await page.request.get(path);
    expect(response.status(), path).toBe(200);
    return { text: await response.text(), type: response.headers()["content-type"] ?? "" };
  };
  expect((await get("/robots.txt")).text).toContain("Sitemap: http://localhost:3000/sitemap.xml");
  const sitemap = (await get("/sitemap.xml")).text;
  expect([...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url]) => url)).toEqual(
    SCREENS.map(({ paths }) => `http://localhost:3000${paths[0]}`),
  );
  expect((await get("/.well-known/security.txt")).text).toMatch(/Contact: mailto:.+\nExpires: 20\d\d-/);
  const manifest = JSON.parse((await get("/site.webmanifest")).text);
  for (const { src } of manifest.icons) expect((await get(src)).type).toBe("image/png");
  expect((await get("/favicon.svg")).type).toBe("image/svg+xml");
  expect((await get("/favicon.ico")).type).toBe("image/x-icon");
  const countries = JSON.parse((await get("/countries.json")).text);
  expect(countries).toHaveLength(250);
  expect(countries[0]).toEqual({ cca2: expect.stringMatching(/^[A-Z]{2}$/), name: { common: expect.any(String) } });
});
