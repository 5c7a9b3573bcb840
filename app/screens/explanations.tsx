import type { MDXContent } from "mdx/types.js";
import type { ComponentProps, ReactNode } from "react";
import CarbonText, { sections as carbonSections } from "../../docs/carbon.md";
import FootprintText, { sections as footprintSections } from "../../docs/footprint.md";
import { Contents, markCurrent, type Section } from "../components/contents.tsx";
import type { RenderContext, Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/page.css?inline";
import { TEXT_COMPONENTS } from "./page.tsx";

interface Explanation {
  name: string;
  /** Shown in the browser's tab. */
  title: string;
  headline: string;
  description: string;
  sections: readonly Section[];
  Text: MDXContent;
  Table: (props: ComponentProps<"table">) => ReactNode;
  /** What the document cannot contain. */
  After?: (context: RenderContext) => ReactNode;
}

/** Explains the figure in the footer. */
export const carbon = explanationScreen({
  name: "carbon",
  title: "How we count carbon",
  headline: "How we count this site’s carbon",
  description: "What one page view emits, how we compute it, and what we leave out.",
  sections: carbonSections,
  Text: CarbonText,
  Table: TEXT_COMPONENTS.table,
  After: PageWeights,
});

/** Explains the estimate on the contact page. */
export const footprint = explanationScreen({
  name: "footprint",
  title: "How we estimate a footprint",
  headline: "How we estimate a footprint",
  description: "What the estimate on the contact page counts, where its factors come from, and what it leaves out.",
  sections: footprintSections,
  Text: FootprintText,
  Table: (props) => <TEXT_COMPONENTS.table {...props} title="Factors" />,
});

/** Shows a document of `docs/` like a page from a file. Leaves out the document's heading, because the page has one. */
function explanationScreen({ title, sections, Text, Table, After, ...explanation }: Explanation): Screen {
  const { headline } = explanation;
  return {
    ...explanation,
    title: `${title} | ${site.brand}`,
    isIndexed: true,
    styles: styles + markCurrent(sections),
    render: (context) => (
      <article className="page page-long">
        <h1>{headline}</h1>
        <Contents sections={sections} />
        <div className="page-text">
          <Text components={{ ...TEXT_COMPONENTS, h1: () => null, table: Table }} />
          {After && <After {...context} />}
        </div>
      </article>
    ),
  };
}

/** The figures of this build; in development there are none. This page's own figure is in its footer. */
function PageWeights({ weights = [] }: RenderContext) {
  return (
    <TEXT_COMPONENTS.table title="Pages">
      <thead>
        <tr>
          <th>Page</th>
          <th>g CO₂e, at most</th>
          <th>Rating</th>
        </tr>
      </thead>
      <tbody>
        {weights.map(({ name, grams, rating }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{grams.toFixed(3)}</td>
            <td>{rating}</td>
          </tr>
        ))}
      </tbody>
    </TEXT_COMPONENTS.table>
  );
}
