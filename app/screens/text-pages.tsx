import { site } from "virtual:site";
import { ours } from "virtual:texts";
import type { ReactNode } from "react";
import { fillFacts } from "../../contract/facts.ts";
import { ACCESSIBILITY_PATH } from "../components/footer.tsx";
import { CARBON_PATH } from "../components/ruler.tsx";
import { FOOTPRINT_PATH } from "../contact/questions.ts";
import { factTexts, siteFacts } from "../facts.ts";
import type { RenderContext, Screen } from "../screen.ts";
import type { Link } from "../site-schema.ts";
import pageStyles from "../styles/page.css?inline";
import policyStyles from "../styles/policy.css?inline";
import { Fact, noticeStyles, type Section, sectionsOf, Table, Text, type TextFile } from "../text.tsx";

/** A page with fewer sections has no table of contents. */
const LONG_PAGE_SECTIONS = 4;

const SITE_FACTS = siteFacts(site);

export const privacy = policyScreen(ours["/privacy"]);
export const terms = policyScreen(ours["/terms"]);
export const refunds = policyScreen(ours["/cancellation"], "refundsLastUpdated");
export const delivery = policyScreen(ours["/delivery"]);
/** Explains the figure in the footer. */
export const carbon = explanationScreen(ours[CARBON_PATH], PageWeights);
/** Explains the estimate on the contact page. */
export const footprint = explanationScreen(ours[FOOTPRINT_PATH]);
/** Says what was tested, and whom to ask. */
export const accessibility = explanationScreen(ours[ACCESSIBILITY_PATH]);

/** What all screens with a text have in common; `sections` are those of its table of contents. */
function screenOf(name: string, file: WrittenPage, styles: string, sections: readonly Section[]) {
  const title = fillFacts(file.title, SITE_FACTS);
  return {
    name,
    title: `${title} | ${site.brand}`,
    headline: title,
    description: fillFacts(file.description, SITE_FACTS),
    file: file.file,
    isIndexed: true,
    styles: styles + noticeStyles(file) + (sections.length > 0 ? markCurrent(sections) : ""),
  };
}

export interface WrittenPage extends TextFile {
  file: string;
  path: string;
}

/** `After` shows what the text cannot contain. */
export function pageScreen(
  page: WrittenPage,
  pages: readonly WrittenPage[],
  After?: (context: RenderContext) => ReactNode,
): Screen {
  const parents = parentsOf(page, pages);
  const all = sectionsOf(page, SITE_FACTS);
  const sections = all.length >= LONG_PAGE_SECTIONS ? all : [];
  const screen = screenOf("page", page, pageStyles, sections);
  return {
    ...screen,
    isPaintedWhole: true,
    parents,
    // The largest source is an upper bound for the browser's choice.
    fetches: () =>
      Object.values(page.pictures).map(({ sources }) => ({ kind: "picture", urls: [sources.at(-1)?.url ?? ""] })),
    render: (context) => (
      <article className="page">
        {parents.length > 1 && <Breadcrumb links={parents} />}
        <h1>{screen.headline}</h1>
        <p className="print-only">
          {site.legalName}, {context.settings.siteUrl}
          {page.path}
        </p>
        {sections.length > 0 && <Contents sections={sections} />}
        <div className="text">
          <Text file={page} facts={factTexts(site, context.settings)} hasAnchors />
          {After && <After {...context} />}
        </div>
      </article>
    ),
  };
}

/** The home page and every parent that exists: for `/articles/first` also `/articles`, if that page is written. */
function parentsOf({ path }: WrittenPage, pages: readonly WrittenPage[]): Link[] {
  const written = pages.filter((page) => path.startsWith(`${page.path}/`));
  return [
    { label: "Home", href: "/" },
    ...written
      .toSorted((a, b) => a.path.length - b.path.length)
      .map((page) => ({ label: fillFacts(page.title, SITE_FACTS), href: page.path })),
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

/** Shows a text of ours like a page of the company. */
function explanationScreen(page: WrittenPage, After?: (context: RenderContext) => ReactNode): Screen {
  const { parents: _, ...screen } = pageScreen(page, [], After);
  return screen;
}

/** This page's own figure is in its footer. */
function PageWeights({ weights = [] }: RenderContext) {
  const others = weights.filter(({ page }) => page !== CARBON_PATH).toSorted((a, b) => b.grams - a.grams);
  return (
    <Table title="Pages">
      <thead>
        <tr>
          <th>Page</th>
          <th>g CO₂e, at most</th>
          <th>Rating</th>
        </tr>
      </thead>
      <tbody>
        {others.map(({ page, title, grams, rating }) => (
          <tr key={page}>
            <td>{title}</td>
            <td>{grams.toFixed(3)}</td>
            <td>{rating}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** The fragment that shows a policy without its pane. */
const WHOLE_TEXT = "all";

/** The printed copy shows its path and its date. */
function policyScreen(page: WrittenPage, date: "lastUpdated" | "refundsLastUpdated" = "lastUpdated"): Screen {
  const sections = sectionsOf(page, SITE_FACTS, { isNumbered: true });
  const screen = screenOf("policy", page, policyStyles, sections);
  return {
    ...screen,
    isPaintedWhole: true,
    render({ settings }) {
      const facts = factTexts(site, settings);
      return (
        <article className="page">
          <h1>{screen.headline}</h1>
          <p className="print-only">
            {site.legalName}, <Fact name="websiteUrl" value={facts.websiteUrl} />
            {page.path}, last updated on <Fact name={date} value={facts[date]} />
          </p>
          <Contents sections={sections} />
          <div>
            <p className="pane-all">
              <a href={`#${WHOLE_TEXT}`}>Read it as one page</a>
            </p>
            <div className="pane-frame">
              <section
                id={WHOLE_TEXT}
                className="text pane"
                aria-label={`${screen.headline}, full text`}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard
                tabIndex={0}
              >
                <Text file={page} facts={facts} isNumbered />
                <p className="more-below" aria-hidden="true">
                  <span>More below</span>
                </p>
              </section>
            </div>
          </div>
        </article>
      );
    },
  };
}

/**
 * Styles that mark the section in view. A browser without `:target-current` marks the section that the visitor chose.
 * Not in a style sheet: Lightning CSS does not know the selector yet.
 */
function markCurrent(sections: readonly Section[]): string {
  const chosen = sections.map(({ id }) => `:has([id="${id}"]:target)>.contents [href="#${id}"]`).join();
  const mark = "{color:var(--ink);font-weight:600;text-decoration-color:var(--underline)}";
  const fallback = `@supports not selector(:target-current){${chosen}${mark}}`;
  return `@layer screen{.contents ol{scroll-target-group:auto}.contents a:target-current${mark}${fallback}}`;
}

function Contents({ sections }: { sections: readonly Section[] }) {
  return (
    <nav className="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">On this page</h2>
      <ol>
        {sections.map((section) => (
          <li key={section.id}>
            <a href={`#${section.id}`}>{section.title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
