import { hydrateRoot } from "react-dom/client";
import { ErrorBoundary } from "./components/error-boundary.tsx";
import { ContactForm } from "./contact/contact-form.tsx";
import { FORM_ROOT_ID } from "./contact/island.ts";

const root = document.getElementById(FORM_ROOT_ID);
if (root) {
  const { apiBase = "", countriesUrl = "" } = root.dataset;
  hydrateRoot(
    root,
    <ErrorBoundary>
      <ContactForm apiBase={apiBase} countriesUrl={countriesUrl} />
    </ErrorBoundary>,
  );
}
