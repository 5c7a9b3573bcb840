import { site } from "virtual:site";
import { createElement } from "react";
import type { FormSettings } from "../../contract/build-manifest.ts";
import { answerTimeInWords } from "../../contract/duration.ts";
import { formatAmount } from "../../contract/footprint/fields.ts";
import { ContactEmail } from "../components/links.tsx";
import { startState } from "../contact/form-state.ts";
import { formTitle } from "../contact/form-view.ts";
import { FormRoot } from "../contact/render-form.tsx";
import type { RenderContext, Screen } from "../screen.ts";
import formStyles from "../styles/contact.css?inline";
import estimateStyles from "../styles/estimate.css?inline";
import resultStyles from "../styles/estimate-result.css?inline";

export const contact: Screen = {
  name: "contact",
  title: formTitle(startState(null), site.brand),
  headline: "Get in Touch",
  description: `Ask ${site.brand} about carbon offsetting and renewable energy credits. We answer by email.`,
  isIndexed: true,
  styles: formStyles + estimateStyles,
  laterStyles: resultStyles,
  script: "form",
  fetches: ({ countriesUrl }) => [{ kind: "data", urls: [countriesUrl] }],
  render: (context) => <Contact {...context} />,
};

export function formSettings({ settings }: RenderContext): FormSettings {
  const { brand, contactEmail: email, pricePerTonne: price, answerWithin: promised } = site;
  const { apiBase, countriesUrl } = settings;
  const answerWithin = promised ? answerTimeInWords(promised) : "";
  return { apiBase, countriesUrl, price, answerWithin, assurance: assurance(answerWithin), brand, email };
}

function assurance(answerWithin: string): string {
  const { legalName, pricePerTonne: price, policyFacts } = site;
  const { companyNumber, registeredAddress } = policyFacts;
  const includes = price?.includes ? ` including ${price.includes}` : "";
  const company = [legalName, companyNumber && `company number ${companyNumber}`, registeredAddress].filter(Boolean);
  return [
    answerWithin && `We answer within ${answerWithin}.`,
    price && `Credits for a tonne cost ${formatAmount(price.amount)} ${price.currency}${includes}.`,
    company.length > 1 && `${company.join(", ")}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

function Contact(context: RenderContext) {
  return (
    <div className="contact">
      <p className="print-only contact-owner">
        <b>{site.brand}</b>, {context.settings.siteUrl}
      </p>
      <section className="contact-intro">
        <h1>{contact.headline}</h1>
        <p className="lead">
          We're here to help and answer any question you might have. We look forward to hearing from you.
        </p>
        <p className="contact-email">
          <ContactEmail />
        </p>
      </section>
      {context.answered ? (
        // FORM_MARKER: the server writes the form here.
        createElement("answer-form")
      ) : (
        <FormRoot settings={formSettings(context)} countries={context.countries ?? []} answered={null} />
      )}
      <div className="contact-why">
        <p className="contact-tagline">{site.contactTagline}</p>
        <p>
          Sustainability is steady work: measure, cut what you can, and, for the rest, pay for solar and wind projects
          elsewhere. Tell us where you are on that path and we will suggest a next step that fits.
        </p>
      </div>
    </div>
  );
}
