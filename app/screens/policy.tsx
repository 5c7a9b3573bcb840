import { fillFacts } from "../../contract/facts.ts";
import { Contents, markCurrent } from "../components/contents.tsx";
import { factsOf, SITE_FACTS } from "../facts.ts";
import deliveryText from "../policies/delivery.md";
import privacyText from "../policies/privacy.md";
import refundsText from "../policies/refunds.md";
import termsText from "../policies/terms.md";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/policy.css?inline";
import { Fact, noticeStyles, sectionsOf, Text, type TextFile } from "../text.tsx";

export const privacy = policyScreen("/privacy", privacyText);
export const terms = policyScreen("/terms", termsText);
export const refunds = policyScreen("/cancellation", refundsText, "refundsLastUpdated");
export const delivery = policyScreen("/delivery", deliveryText);

/** The printed copy shows its path and its date. */
function policyScreen(
  path: string,
  file: TextFile,
  date: "lastUpdated" | "refundsLastUpdated" = "lastUpdated",
): Screen {
  const title = fillFacts(file.title, SITE_FACTS);
  const sections = sectionsOf(file, { isNumbered: true });
  return {
    name: "policy",
    title: `${title} | ${site.brand}`,
    headline: title,
    description: fillFacts(file.description, SITE_FACTS),
    isIndexed: true,
    styles: styles + noticeStyles(file) + markCurrent(sections),
    render({ settings }) {
      const facts = factsOf(settings);
      return (
        <article className="policy">
          <h1>{title}</h1>
          <p className="print-only">
            {site.legalName}, <Fact name="websiteUrl" value={facts.websiteUrl} />
            {path}, last updated on <Fact name={date} value={facts[date]} />
          </p>
          <Contents sections={sections} />
          <div className="pane-frame">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard */}
            <section className="pane" aria-label={`${title}, full text`} tabIndex={0}>
              <Text file={file} facts={facts} isNumbered />
              <p className="more-below" aria-hidden="true">
                <span>More below</span>
              </p>
            </section>
          </div>
        </article>
      );
    },
  };
}
