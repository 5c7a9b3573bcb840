import { fillFacts } from "../../contract/facts.ts";
import { Contents, markCurrent } from "../components/contents.tsx";
import { factsOf, SITE_FACTS } from "../facts.ts";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import type { Link } from "../site-schema.ts";
import styles from "../styles/page.css?inline";
import { noticeStyles, sectionsOf, Text, type TextFile } from "../text.tsx";

/** A page from a file of `pages/`, as prerender/texts.ts reads it. */
export interface WrittenPage extends TextFile {
  file: string;
  path: string;
}

/** A page with fewer sections has no table of contents. */
const LONG_PAGE_SECTIONS = 4;

export function pageScreen(page: WrittenPage, pages: readonly WrittenPage[]): Screen {
  const parents = parentsOf(page, pages);
  const sections = sectionsOf(page);
  const isLong = sections.length >= LONG_PAGE_SECTIONS;
  const title = titleOf(page);
  return {
    name: "page",
    title: `${title} | ${site.brand}`,
    headline: title,
    description: fillFacts(page.description, SITE_FACTS),
    isIndexed: true,
    isPaintedWhole: true,
    written: { file: page.file, parents },
    styles: styles + noticeStyles(page) + (isLong ? markCurrent(sections) : ""),
    // The largest source is an upper bound for the browser's choice.
    fetches: () =>
      Object.values(page.pictures).map(({ sources }) => ({ kind: "picture", urls: [sources.at(-1)?.url ?? ""] })),
    render: ({ settings }) => (
      <article className={isLong ? "page page-long" : "page"}>
        {parents.length > 1 && <Breadcrumb links={parents} />}
        <h1>{title}</h1>
        <p className="print-only">
          {site.legalName}, {settings.siteUrl}
          {page.path}
        </p>
        {isLong && <Contents sections={sections} />}
        <div className="page-text">
          <Text file={page} facts={factsOf(settings)} hasAnchors />
        </div>
      </article>
    ),
  };
}

function titleOf({ title }: TextFile): string {
  return fillFacts(title, SITE_FACTS);
}

/** The home page and every parent that exists: for `/articles/first` also `/articles`, if that page is written. */
function parentsOf({ path }: WrittenPage, pages: readonly WrittenPage[]): Link[] {
  const written = pages.filter((page) => path.startsWith(`${page.path}/`));
  return [
    { label: "Home", href: "/" },
    ...written
      .toSorted((a, b) => a.path.length - b.path.length)
      .map((page) => ({ label: titleOf(page), href: page.path })),
  ];
}

function Breadcrumb({ links }: { links: readonly Link[] }) {
  return (
    <nav className="breadcrumb" aria-label="Breadcrumb">
      <ol>
        {links.map(({ label, href }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
