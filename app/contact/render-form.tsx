// The server loads this module from `dist/server/` when it first answers a post without script.
import { renderToString } from "react-dom/server";
import type { FormOfBuild } from "../../contract/build-manifest.ts";
import type { AnsweredPost } from "../../contract/send-email-answer.ts";
import { ContactForm, FORM_ROOT_ID } from "./contact-form.tsx";
import * as resultModule from "./estimate-result.tsx";

type FormRootProps = Pick<FormOfBuild, "settings" | "countries"> & { answered: AnsweredPost | null };

/** The form in the element that the browser's script hydrates. Its data attributes are the props there. */
export function FormRoot({ settings, countries, answered }: FormRootProps) {
  return (
    <div
      id={FORM_ROOT_ID}
      className="contact-parts"
      data-settings={JSON.stringify(settings)}
      data-answered={answered ? JSON.stringify(answered) : undefined}
    >
      <ContactForm settings={settings} countries={countries} answered={answered} resultModule={resultModule} />
    </div>
  );
}

export function renderForm({ settings, countries }: FormOfBuild, answered: AnsweredPost): string {
  return renderToString(<FormRoot settings={settings} countries={countries} answered={answered} />);
}
