import Text from "../../docs/carbon.md";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/carbon.css?inline";

/** Explains the figure in the footer, with the text of the documentation. */
export const carbon: Screen = {
  name: "carbon",
  title: `How we count carbon | ${site.brand}`,
  headline: "How we count the carbon of this site",
  description: `What one view of a page of ${site.brand} emits, how that is computed, and what it leaves out.`,
  isIndexed: false,
  styles,
  render: () => (
    <article className="carbon">
      <Text />
    </article>
  ),
};
