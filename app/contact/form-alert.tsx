import type { ReactNode } from "react";
import { formatTotal } from "../../contract/footprint-fields.ts";
import { ALERT_ID, PROBLEMS_SLOT_ID, REFERENCE_SLOT_ID } from "../../contract/send-email-answer.ts";
import { type FormState, START } from "./form-state.ts";

const TEXT = {
  sent: "Message sent successfully!",
  failed: "Failed to send message.",
  broken: "An error occurred while sending your message.",
} as const;

type Outcome = keyof typeof TEXT;

/** The outcome of the last submit, announced when it appears. */
export function FormAlert({ state, apiBase }: { state: FormState; apiBase: string }) {
  return (
    <>
      <div className="alerts" role="status">
        {state.phase === "sent" && (
          <Alert outcome="sent">
            {state.reference !== "" && (
              <>
                Your reference is <b>{state.reference}</b>. We will answer by e-mail.
                {state.totalKg !== null && (
                  <>
                    {" "}
                    We received your estimate too: <span data-fact="total">{formatTotal(state.totalKg)}</span>.
                  </>
                )}
              </>
            )}
          </Alert>
        )}
      </div>
      <div className="alerts" role="alert">
        {state.phase === "failed" && <Alert outcome="failed">{state.error} Nothing you typed is lost.</Alert>}
        {state.phase === "broken" && (
          <Alert outcome="broken">
            Nothing you typed is lost. Please check your connection and press Submit again.
          </Alert>
        )}
      </div>
      {state === START && <AlertsWithoutScript apiBase={apiBase} />}
    </>
  );
}

/** Without script the server redirects to one of these by its id; each is hidden until it is the page's `:target`. */
function AlertsWithoutScript({ apiBase }: { apiBase: string }) {
  const goBack = "Go back one page to find what you typed, and try again.";
  return (
    <>
      {/* Our own server removes `hidden` for a message that it stored. Pages on another host have nobody to ask. */}
      <div
        hidden={apiBase === ""}
        id={ALERT_ID.sent}
        className="alert-target"
        role="status"
        tabIndex={-1}
        suppressHydrationWarning
      >
        <Alert outcome="sent">
          {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the server writes a reference here, and React must not remove it */}
          <span id={REFERENCE_SLOT_ID} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} /> We will
          answer by e-mail.
        </Alert>
      </div>
      <div className="alert-target" id={ALERT_ID.failed} role="alert" tabIndex={-1}>
        <Alert outcome="failed">{goBack}</Alert>
      </div>
      <div className="alert-target" id={ALERT_ID.unreadable} role="alert" tabIndex={-1}>
        <Alert outcome="failed">
          An amount of your estimate could not be read.{" "}
          {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the server writes here which, and React must not remove it */}
          <span id={PROBLEMS_SLOT_ID} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} />
          {goBack}
        </Alert>
      </div>
      <div className="alert-target" id={ALERT_ID.limited} role="alert" tabIndex={-1}>
        <Alert outcome="failed">You have sent several messages already. Please try again later.</Alert>
      </div>
      <div className="alert-target" id={ALERT_ID.broken} role="alert" tabIndex={-1}>
        <Alert outcome="broken">{goBack}</Alert>
      </div>
    </>
  );
}

function Alert({ outcome, children }: { outcome: Outcome; children: ReactNode }) {
  return (
    <div className={`alert alert-${outcome}`}>
      <p className="alert-text">{TEXT[outcome]}</p>
      <p className="alert-more">{children}</p>
    </div>
  );
}
