import CarbonText from "../../docs/carbon.md";
import FootprintText from "../../docs/footprint.md";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/explanation.css?inline";

/** Explains the figure in the footer, with the text of the documentation. */
export const carbon: Screen = {
  name: "carbon",
  title: `How we count carbon | ${site.brand}`,
  headline: "How we count the carbon of this site",
  description: `What one view of a page of ${site.brand} emits, how that is computed, and what it leaves out.`,
  isIndexed: false,
  styles,
  render: () => (
    <article className="explanation">
      <CarbonText />
    </article>
  ),
};

/** Explains the estimate on the contact page. */
export const footprint: Screen = {
  name: "footprint",
  title: `How we estimate a footprint | ${site.brand}`,
  headline: "How we estimate a footprint",
  description: "What the estimate on the contact page counts, where its factors come from, and what it leaves out.",
  isIndexed: false,
  styles,
  render: () => (
    <article className="explanation">
      <FootprintText />
    </article>
  ),
};
