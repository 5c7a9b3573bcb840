import { hydrateRoot } from "react-dom/client";
import { ErrorBoundary } from "./components/error-message.tsx";
import { ContactForm, FORM_ROOT_ID } from "./contact/contact-form.tsx";

const root = document.getElementById(FORM_ROOT_ID);
// A separate task, so that a slow phone can respond to its user between loading React and hydrating.
if (root) setTimeout(hydrate, 0, root);

function hydrate(root: HTMLElement): void {
  const { apiBase = "", countriesUrl = "", electricityUrl = "", price = "null", answerWithin = "" } = root.dataset;
  hydrateRoot(
    root,
    <ErrorBoundary>
      <ContactForm
        apiBase={apiBase}
        countriesUrl={countriesUrl}
        electricityUrl={electricityUrl}
        price={JSON.parse(price)}
        answerWithin={answerWithin}
      />
    </ErrorBoundary>,
  );
}
