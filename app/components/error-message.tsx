import { ButtonLink } from "./button.tsx";
import { ContactEmail } from "./contact-email.tsx";

interface ErrorMessageProps {
  level: "h1" | "h2";
  /** The status or the error's message; never a stack trace. */
  detail: string;
}

export function ErrorMessage({ level: Heading, detail }: ErrorMessageProps) {
  return (
    <div className="error-message" role="alert">
      <Heading>Unexpected Application Error!</Heading>
      <p className="error-detail">{detail}</p>
      <p>
        Something broke on our side, not yours. Please try again in a moment, or write to us at <ContactEmail />.
      </p>
      <ButtonLink link={{ label: "Back to the home page", href: "/" }} look="primary" />
    </div>
  );
}
