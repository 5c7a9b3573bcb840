import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { RenderedPage } from "../app/render.tsx";
import { site } from "../app/site.ts";
import { findBrokenLinks } from "./links.ts";

function page(name: string, html: string, file: string | null = null): RenderedPage {
  const unused = { headline: "", inlineStyles: [], inlineScripts: [], fetches: [] };
  return { name, paths: name.startsWith("/") ? [name] : [], file, html, ...unused };
}

/** The problems of a home page with this HTML, on a site with `/contact`, which contains the id `form`. */
function problemsOf(html: string, comingSoon = "") {
  const pages = [
    page("/", html),
    page("/contact", '<main><h2 id="form">Form</h2></main>'),
    page("/contact", "<main>Refused, because it is a page already.</main>", "contact.md"),
  ];
  return findBrokenLinks(
    {
      site,
      siteDir: "app/",
      pages,
      comingSoon: page("coming-soon", `<main id="main">${comingSoon}</main>`),
      failure: page("error", ""),
    },
    {
      siteUrl: "https://www.example.com",
      filePaths: ["/robots.txt"],
      refused: ["/refused", "/contact"].map((path) => ({ file: `${path.slice(1)}.md`, path })),
    },
  );
}

test.each([
  ...["/contact", "/contact/?a=1&amp;b=2#form", "https://www.example.com/contact#form", "/contact#:~:text=words"],
  ...["https://elsewhere.example/contact#no", "http://elsewhere.example", "mailto:a@example.org", "tel:+441234"],
  ...["/robots.txt", "/refused#anything", "#", "#top"],
  // Linked in the footer, but not written yet.
  ...["/careers", "/careers#main"],
])("accepts a link to %s", async (href) => {
  expect(await problemsOf(`<a class="x" href="${href}">x</a>`)).toEqual([]);
});

test.each([
  ["/nowhere", "leads to a page that does not exist. Correct it, or write the page as app/pages/nowhere.md"],
  ["/Contact", "leads to a page that does not exist. Correct it."],
  ["/assets/film", "leads to a page that does not exist. Correct it."],
  ["/no_where", "leads to a page that does not exist. Correct it."],
  ["/articles/index", "leads to a page that does not exist. Correct it."],
  ["/contact#from", "leads to a heading that /contact does not have. Its headings are: #form"],
  ["/careers#jobs", "leads to a heading that /careers does not have. It has no headings to link to."],
  ["#form", "leads to a heading that the page does not have."],
  ["contact", "is relative, so it leads to different places on different pages. Start it with /, as in /contact"],
  ["//elsewhere.example/", "is relative, so it leads to different places on different pages."],
  ["ftp://elsewhere.example/", "has a scheme that pages cannot use."],
  ["https://www.example.com/nowhere", "leads to a page that does not exist."],
])("refuses a link to %s", async (href, expected) => {
  expect(await problemsOf(`<a href="${href}">x</a>`)).toEqual([
    { file: "page /", line: 1, message: expect.stringContaining(`The link "${href}" ${expected}`) },
  ]);
});

test("checks Coming Soon too, and reports a link that many pages share once, with its source line", async () => {
  const link = '<a href="/assets/carbon">How we count</a>';
  const [problem, ...others] = await problemsOf(link, link);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ file: "app/components/carbon-figure.tsx" });
  const lines = readFileSync("app/components/carbon-figure.tsx", "utf8").split("\n");
  expect(lines[(problem?.line ?? 0) - 1]).toContain('"/assets/carbon"');
});
