import type { MDXContent } from "mdx/types.js";
import type { ComponentProps, ReactNode } from "react";
import CarbonText, { sections as carbonSections } from "../../docs/carbon.md";
import FootprintText, { sections as footprintSections } from "../../docs/footprint.md";
import { Contents, markCurrent, type Section } from "../components/contents.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/page.css?inline";
import chartStyles from "../styles/weights.css?inline";
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
  styles?: string;
}

/** Explains the figure in the footer. */
export const carbon = explanationScreen({
  name: "carbon",
  title: "How we count carbon",
  headline: "How we count this site’s carbon",
  description: "What one page view emits, how we compute it, and what we leave out.",
  sections: carbonSections,
  Text: CarbonText,
  Table: WeightTable,
  styles: chartStyles,
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
function explanationScreen({ title, sections, Text, Table, styles: own = "", ...explanation }: Explanation): Screen {
  const { headline } = explanation;
  return {
    ...explanation,
    title: `${title} | ${site.brand}`,
    isIndexed: true,
    styles: styles + own + markCurrent(sections),
    render: () => (
      <article className="page page-long">
        <h1>{headline}</h1>
        <Contents sections={sections} />
        <div className="page-text">
          <Text components={{ ...TEXT_COMPONENTS, h1: () => null, table: Table }} />
        </div>
      </article>
    ),
  };
}

/** The build replaces `{chart}` with the chart of the table's figures. */
function WeightTable(props: ComponentProps<"table">) {
  return (
    <>
      {"{chart}"}
      <TEXT_COMPONENTS.table {...props} title="Pages" />
    </>
  );
}
