import type { RenderedPage, RenderedSite } from "../app/render.tsx";
import type { SiteSettings } from "../app/site-schema.ts";
import { type FilePath, findPathProblems, type Problem } from "./page-files.ts";
import { linesWith, sourceFiles } from "./site-dir.ts";

interface LinkTargets {
  siteUrl: string;
  /** The paths of files that are not pages, such as `/robots.txt`. */
  filePaths: readonly string[];
  /** Pages that the build refused. A link to one is not reported as a second problem. */
  refused: readonly FilePath[];
}

/**
 * Follows every internal link on every page to its page and heading. Does not follow links to other sites, because a
 * build needs no network.
 */
export async function findBrokenLinks(rendered: RenderedSite, targets: LinkTargets): Promise<Problem[]> {
  const pages = [...rendered.pages, rendered.comingSoon, rendered.failure];
  const judge = linkJudge(rendered, targets);
  const problems = new Map<string, Problem>();
  for (const page of pages) {
    for (const href of new Set(linksOf(page.html))) {
      const message = judge(page, href);
      if (message === null) continue;
      for (const { file, line } of await findInSources(href, page, rendered.siteDir)) {
        problems.set(`${file}:${line} ${href}`, { file, line, message });
      }
    }
  }
  return [...problems.values()];
}

/** Returns a function that says what is wrong with a link and how to correct it, or `null` if it is right. */
function linkJudge(rendered: RenderedSite, { siteUrl, filePaths, refused }: LinkTargets) {
  const { pages, comingSoon, siteDir } = rendered;
  const pathsOf = (some: readonly RenderedPage[]) =>
    new Map(some.flatMap((page) => page.paths.map((path) => [path, page] as const)));
  const ownPages = pathsOf(pages.filter(({ file }) => file === null));
  const written = pathsOf(pages.filter(({ file }) => file !== null));
  const announced = new Set(announcedPaths(rendered));
  const others = new Set([...filePaths, ...refused.map(({ path }) => path)]);

  /** The remedy for a link to a missing page. */
  const remedyFor = (path: string): string => {
    const isFree = findPathProblems([{ file: "", path }], [...ownPages.keys()]).length === 0 && !/\/index$/.test(path);
    return isFree ? `Correct it, or write the page as ${siteDir}pages${path}.md` : "Correct it.";
  };

  return (page: RenderedPage, href: string): string | null => {
    if (/^(https?:\/\/|mailto:|tel:)/i.test(href) && !href.startsWith(`${siteUrl}/`)) return null;
    const own = href.startsWith(`${siteUrl}/`) ? href.slice(siteUrl.length) : href;
    if (/^[a-z][\w+.-]*:/i.test(own)) {
      return `The link "${href}" has a scheme that pages cannot use. Start it with https:, mailto:, tel: or /`;
    }
    if (!/^(\/(?!\/)|#)/.test(own)) {
      return `The link "${href}" is relative, so it leads to different places on different pages. Start it with /, as in /contact`;
    }
    const path = own.startsWith("#") ? null : pathOf(own);
    // If a file was refused because its path is taken, a link to that path leads to the existing page.
    if (path !== null && !ownPages.has(path) && others.has(path)) return null;
    const target =
      path === null
        ? page
        : (ownPages.get(path) ?? written.get(path) ?? (announced.has(path) ? comingSoon : undefined));
    if (!target) return `The link "${href}" leads to a page that does not exist. ${remedyFor(path ?? "")}`;
    const place = decode(own.split("#")[1] ?? "");
    // Browsers handle these themselves: the top of the page, and a text fragment.
    if (place === "" || place === "top" || place.startsWith(":~:")) return null;
    const places = [...target.html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id);
    if (places.includes(place)) return null;
    const [main = ""] = /<main[\s\S]*<\/main>/.exec(target.html) ?? [];
    const headings = [...main.matchAll(/<h[2-6] id="(?!contents-title)([^"]+)"/g)].map(([, id]) => `#${id}`);
    const choice = headings.length > 0 ? `Its headings are: ${headings.join(" ")}` : "It has no headings to link to.";
    return `The link "${href}" leads to a heading that ${path ?? "the page"} does not have. ${choice}`;
  };
}

/** Pages in the site's navigation that have no file: they show Coming Soon. */
export function announcedPaths({ site, pages }: RenderedSite): string[] {
  const written = new Set(pages.flatMap(({ paths }) => paths));
  const paths = hrefsOf(site)
    .filter((href) => href.startsWith("/"))
    .map(pathOf);
  return [...new Set(paths)].filter((path) => !written.has(path));
}

/** Every `href` at any depth in the settings. */
function hrefsOf(value: SiteSettings | object): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === "object" && inner !== null ? hrefsOf(inner) : key === "href" ? [String(inner)] : [],
  );
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

/** React writes `&` in an attribute as `&amp;`. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
}

/** Finds the link in the page's own file, otherwise in the shared sources. */
async function findInSources(
  href: string,
  { name, file }: RenderedPage,
  siteDir: string,
): Promise<{ file: string; line: number }[]> {
  // A path matches wherever it is quoted, a plain word only in a link.
  const before = /^[/#]|:/.test(href) ? `["'\`(<]|\\]:\\s+` : `href[=:]\\s*["'\`]|\\]\\(<?|\\]:\\s+`;
  const written = new RegExp(`(${before})(${RegExp.escape(href)}|${RegExp.escape(decode(href))})($|[\\s"')>\`])`);
  const own = file === null ? [] : await linesWith(written, [file]);
  if (own.length > 0) return own;
  const found = await linesWith(written, sourceFiles(siteDir));
  return found.length > 0 ? found : [{ file: file ?? `page ${name}`, line: 1 }];
}
