import { answerTimeInWords } from "../../contract/duration.ts";
import { ContactEmail } from "../components/links.tsx";
import { ContactForm, FORM_ROOT_ID } from "../contact/contact-form.tsx";
import { OPEN_AT_FRAGMENT } from "../contact/footprint-part.tsx";
import type { RenderContext, Screen } from "../screen.ts";
import { site } from "../site.ts";
import formStyles from "../styles/contact.css?inline";
import estimateStyles from "../styles/estimate.css?inline";
import resultStyles from "../styles/estimate-result.css?inline";

export const contact: Screen = {
  name: "contact",
  title: `Contact us | ${site.brand}`,
  headline: "Get in Touch",
  description: `Ask ${site.brand} about carbon offsetting and renewable energy credits. We answer by email.`,
  isIndexed: true,
  styles: formStyles + estimateStyles,
  laterStyles: resultStyles,
  codeBeforePaint: OPEN_AT_FRAGMENT,
  script: "contact",
  fetches: ({ countriesUrl }) => [{ kind: "data", urls: [countriesUrl] }],
  render: (context) => <Contact {...context} />,
};

function Contact({ settings, electricityUrl, countries = [], answered }: RenderContext) {
  const { siteUrl, apiBase, countriesUrl } = settings;
  const { pricePerTonne: price } = site;
  const answerWithin = site.answerWithin ? answerTimeInWords(site.answerWithin) : "";
  return (
    <div className="contact">
      <p className="print-only contact-owner">
        <b>{site.brand}</b>, {siteUrl}
      </p>
      <section className="contact-intro">
        <h1>{contact.headline}</h1>
        <p className="lead">
          We're here to help and answer any question you might have. We look forward to hearing from you.
        </p>
        <p className="contact-email">
          <ContactEmail />
        </p>
        <div className="contact-why">
          <p className="contact-tagline">{site.contactTagline}</p>
          <p>
            Sustainability is steady work: measure, cut what you can, and, for the rest, pay for solar and wind projects
            elsewhere. Tell us where you are on that path and we will suggest a next step that fits.
          </p>
        </div>
      </section>
      <div
        id={FORM_ROOT_ID}
        className="contact-parts"
        data-api-base={apiBase}
        data-countries-url={countriesUrl}
        data-electricity-url={electricityUrl}
        data-price={price ? JSON.stringify(price) : undefined}
        data-answer-within={answerWithin || undefined}
        data-email={site.contactEmail}
        data-answer={answered?.json}
        data-country={answered?.country}
      >
        <ContactForm
          {...{ apiBase, countriesUrl, electricityUrl, price, answerWithin, countries }}
          email={site.contactEmail}
          answer={answered?.answer ?? null}
          reportHtml={answered?.reportHtml ?? ""}
        />
      </div>
    </div>
  );
}
