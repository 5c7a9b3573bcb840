import type { MDXContent } from "mdx/types.js";
import type { ComponentProps } from "react";
import CarbonText from "../../docs/carbon.md";
import FootprintText from "../../docs/footprint.md";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/page.css?inline";
import { TEXT_COMPONENTS } from "./page.tsx";

/** Explains the figure in the footer. */
export const carbon: Screen = {
  name: "carbon",
  title: `How we count carbon | ${site.brand}`,
  headline: "How we count the carbon of this site",
  description: `What one view of a page of ${site.brand} emits, how that is computed, and what it leaves out.`,
  isIndexed: false,
  styles,
  render: () => <Explanation Text={CarbonText} />,
};

/** Explains the estimate on the contact page. */
export const footprint: Screen = {
  name: "footprint",
  title: `How we estimate a footprint | ${site.brand}`,
  headline: "How we estimate a footprint",
  description: "What the estimate on the contact page counts, where its factors come from, and what it leaves out.",
  isIndexed: false,
  styles,
  render: () => <Explanation Text={FootprintText} />,
};

/** The text of the documentation, in the look of a page from a file. */
function Explanation({ Text }: { Text: MDXContent }) {
  return (
    <article className="page">
      <div className="page-text">
        <Text components={{ ...TEXT_COMPONENTS, table: FactorTable }} />
      </div>
    </article>
  );
}

const FactorTable = (props: ComponentProps<"table">) => <TEXT_COMPONENTS.table {...props} title="Factors" />;
