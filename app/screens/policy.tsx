import type { MDXContent } from "mdx/types.js";
import { Contents, markCurrent, type Section } from "../components/contents.tsx";
import Delivery, { sections as deliverySections } from "../policies/delivery.mdx";
import { Fact, type FactName, POLICY_COMPONENTS, SettingsContext } from "../policies/facts.tsx";
import Privacy, { sections as privacySections } from "../policies/privacy.mdx";
import Refunds, { sections as refundsSections } from "../policies/refunds.mdx";
import Terms, { sections as termsSections } from "../policies/terms.mdx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import styles from "../styles/policy.css?inline";

interface Policy {
  heading: string;
  /** Shown on printed copies. */
  path: string;
  date?: FactName;
  description: string;
  sections: readonly Section[];
  Text: MDXContent;
}

export const privacy = policyScreen({
  heading: "Privacy policy",
  path: "/privacy",
  description: `What ${site.brand} knows about you, why, who else sees it, and the six rights you have over it.`,
  sections: privacySections,
  Text: Privacy,
});

export const terms = policyScreen({
  heading: "Terms and conditions",
  path: "/terms",
  description: `The terms on which you use the site and services of ${site.brand}.`,
  sections: termsSections,
  Text: Terms,
});

export const refunds = policyScreen({
  heading: "Cancellations and refunds",
  path: "/cancellation",
  date: "refundsLastUpdated",
  description: `Unless the law gives you a right to cancel, sales by ${site.brand} are final. What that means before you buy, and whom to ask.`,
  sections: refundsSections,
  Text: Refunds,
});

export const delivery = policyScreen({
  heading: "Shipping and delivery",
  path: "/delivery",
  description: `How ${site.brand} delivers its services: online, usually at once, and within 24 hours if there is a delay.`,
  sections: deliverySections,
  Text: Delivery,
});

function policyScreen(policy: Policy): Screen {
  return {
    name: "policy",
    title: `${policy.heading} | ${site.brand}`,
    headline: policy.heading,
    description: policy.description,
    isIndexed: true,
    styles: styles + markCurrent(policy.sections),
    render: ({ settings }) => (
      <SettingsContext value={settings}>
        <PolicyPage {...policy} />
      </SettingsContext>
    ),
  };
}

function PolicyPage({ heading, path, date = "lastUpdated", sections, Text }: Policy) {
  return (
    <article className="policy">
      <h1>{heading}</h1>
      <p className="print-only">
        {site.legalName}, <Fact name="websiteUrl" />
        {path}, last updated on <Fact name={date} />
      </p>
      <Contents sections={sections} />
      <div className="pane-frame">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls must be reachable by keyboard */}
        <section className="pane" aria-label={`${heading}, full text`} tabIndex={0}>
          <Text components={POLICY_COMPONENTS} />
          <p className="more-below" aria-hidden="true">
            <span>More below</span>
          </p>
        </section>
      </div>
    </article>
  );
}
