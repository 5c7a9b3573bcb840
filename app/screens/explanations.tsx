import type { ReactNode } from "react";
import carbonText from "../../docs/carbon.md";
import footprintText from "../../docs/footprint.md";
import { Contents, markCurrent } from "../components/contents.tsx";
import { factsOf } from "../facts.ts";
import accessibilityText from "../policies/accessibility.md";
import type { RenderContext, Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/page.css?inline";
import { sectionsOf, Table, Text, type TextFile } from "../text.tsx";

/** Explains the figure in the footer. */
export const carbon = explanationScreen("carbon", carbonText, "How we count carbon", PageWeights);
/** Explains the estimate on the contact page. */
export const footprint = explanationScreen("footprint", footprintText, footprintText.title);
/** Says what was tested, and whom to ask. */
export const accessibility = explanationScreen("accessibility", accessibilityText, accessibilityText.title);

/** Shows a document of `docs/` like a page from a file. `After` shows what the document cannot contain. */
function explanationScreen(
  name: string,
  file: TextFile,
  tabTitle: string,
  After?: (context: RenderContext) => ReactNode,
): Screen {
  const sections = sectionsOf(file);
  return {
    name,
    title: `${tabTitle} | ${site.brand}`,
    headline: file.title,
    description: file.description,
    isIndexed: true,
    styles: styles + markCurrent(sections),
    render: (context) => (
      <article className="page page-long">
        <h1>{file.title}</h1>
        <Contents sections={sections} />
        <div className="page-text">
          <Text file={file} facts={factsOf(context.settings)} />
          {After && <After {...context} />}
        </div>
      </article>
    ),
  };
}

/** The figures of this build; in development there are none. This page's own figure is in its footer. */
function PageWeights({ weights = [] }: RenderContext) {
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
        {weights.map(({ name, grams, rating }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{grams.toFixed(3)}</td>
            <td>{rating}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
