import { TAKEN_IDS } from "../app/markdown.ts";
import type { RenderContext } from "../app/screen.ts";
import { fillMarks } from "../contract/facts.ts";
import type { Problem, SettingString } from "./site-dir.ts";
import type { SiteText } from "./texts.ts";

interface LinkTargets {
  settings: RenderContext["settings"];
  pages: readonly (readonly string[])[];
  filePaths: readonly string[];
  /** The problems of files whose path another page has: a link to it leads to that page. */
  taken: readonly Problem[];
}

/** Does not follow links to other sites, because a build needs no network. */
export function findBrokenLinks(
  texts: readonly SiteText[],
  strings: readonly SettingString[],
  { settings: { siteUrl }, pages, filePaths, taken }: LinkTargets,
): Problem[] {
  const announced = announcedPaths(strings, pages);
  const isPage = (path: string) => pages.some((paths) => paths.includes(path));
  const others = [...filePaths, ...announced, ...texts.map(({ page }) => page)];

  const problemOf = (href: string, ownPage: string): string | null => {
    if (/^(https?:\/\/|mailto:|tel:)/i.test(href) && !href.startsWith(`${siteUrl}/`)) return null;
    const own = href.startsWith(`${siteUrl}/`) ? href.slice(siteUrl.length) : href;
    if (/^[a-z][\w+.-]*:/i.test(own))
      return "has a scheme that pages cannot use. Start it with https:, mailto:, tel: or /";
    if (!/^(\/(?!\/)|#)/.test(own))
      return "is relative, so it leads to different places on different pages. Start it with /, as in /contact";
    const path = own.startsWith("#") ? ownPage : pathOf(own);
    if (path !== ownPage && !isPage(path) && !others.includes(path))
      return "leads to a page that does not exist. Correct it, or write the page.";
    const target = pages.find((paths) => paths.includes(path))?.[0] ?? path;
    const ids = texts.find(({ file, page }) => page === target && taken.every((one) => one.file !== file))?.ids;
    const [, place = ""] = own.split("#");
    // Browsers handle these themselves: the top of the page, and a text fragment. Our own screens have ids for scripts.
    const isKnown = place === "" || place === "top" || place.startsWith(":~:") || TAKEN_IDS.includes(place);
    if (isKnown || !ids || ids.includes(decode(place))) return null;
    const choice = ids.length > 0 ? `Its headings are: ${ids.map((id) => `#${id}`).join(" ")}` : "It has no headings.";
    return `leads to a heading that ${path} does not have. ${choice}`;
  };

  const ofTexts = texts.flatMap(({ file, page, links }) =>
    // A mail is plain text.
    page.startsWith("/") ? links.map(({ href, line }) => ({ file, line, page, href })) : [],
  );
  const ofSettings = hrefsOf(strings).map(({ value, file, line }) => ({ file, line, page: "", href: value }));
  return [...ofTexts, ...ofSettings].flatMap(({ file, line, page, href }) => {
    const filled = fillMarks(href, (name) => (name === "websiteUrl" ? siteUrl : name));
    const message = problemOf(filled, page);
    return message === null ? [] : { file, line, message: `The link "${filled}" ${message}` };
  });
}

export function announcedPaths(strings: readonly SettingString[], pages: readonly (readonly string[])[]): string[] {
  const written = pages.flat();
  const paths = hrefsOf(strings).flatMap(({ value }) => (value.startsWith("/") ? pathOf(value) : []));
  return [...new Set(paths)].filter((path) => !written.includes(path));
}

function hrefsOf(strings: readonly SettingString[]): readonly SettingString[] {
  return strings.filter(({ names }) => names.at(-1) === "href");
}

function pathOf(href: string): string {
  const [path = ""] = href.split(/[?#]/);
  return decode(path).replace(/(?!^)\/+$/, "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
