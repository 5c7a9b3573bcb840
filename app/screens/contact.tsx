import { createElement } from "react";
import type { FormSettings } from "../../contract/build-manifest.ts";
import { answerTimeInWords } from "../../contract/duration.ts";
import { ContactEmail } from "../components/links.tsx";
import { FRAGMENT } from "../contact/estimate-part.tsx";
import { startState } from "../contact/form-state.ts";
import { formTitle } from "../contact/form-view.ts";
import { FormRoot } from "../contact/render-form.tsx";
import type { RenderContext, Screen } from "../screen.ts";
import { site } from "../site.ts";
import formStyles from "../styles/contact.css?inline";
import estimateStyles from "../styles/estimate.css?inline";
import resultStyles from "../styles/estimate-result.css?inline";

/** Opens the estimate before the first paint. Browsers open it later, which would move everything below. */
const OPEN_AT_FRAGMENT = `location.hash=="#${FRAGMENT}"&&new MutationObserver((_,o)=>{const d=document.querySelector(".footprint");if(d)d.open=1,o.disconnect()}).observe(document,{childList:1,subtree:1})`;

export const contact: Screen = {
  name: "contact",
  title: formTitle(startState(null), site.brand),
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

export function formSettings({ settings }: RenderContext): FormSettings {
  const { brand, contactEmail: email, pricePerTonne: price, answerWithin: promised } = site;
  const { apiBase, countriesUrl } = settings;
  const answerWithin = promised ? answerTimeInWords(promised) : "";
  return { apiBase, countriesUrl, price, answerWithin, brand, email };
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
        <div className="contact-why">
          <p className="contact-tagline">{site.contactTagline}</p>
          <p>
            Sustainability is steady work: measure, cut what you can, and, for the rest, pay for solar and wind projects
            elsewhere. Tell us where you are on that path and we will suggest a next step that fits.
          </p>
        </div>
      </section>
      {context.answered ? (
        // FORM_MARKER: the server writes the form here.
        createElement("answer-form")
      ) : (
        <FormRoot settings={formSettings(context)} countries={context.countries ?? []} answered={null} />
      )}
    </div>
  );
}
