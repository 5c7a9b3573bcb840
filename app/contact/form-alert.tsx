import type { ReactNode, Ref } from "react";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import {
  ALERT_ID,
  PROBLEMS_SLOT,
  problemsOf,
  REFERENCE_SLOT_ID,
  SENT_ESTIMATE_ID,
  TOTAL_SLOT_ID,
} from "../../contract/send-email-answer.ts";
import { type FormState, START } from "./form-state.ts";

const TEXT = {
  sent: "Message sent successfully!",
  failed: "Failed to send message.",
  broken: "An error occurred while sending your message.",
} as const;

type Outcome = keyof typeof TEXT;

export const SEND_ANOTHER = "Send another message";

interface ErrorSummaryProps {
  ref: Ref<HTMLDivElement>;
  state: FormState;
  onPick(field: string): void;
}

/**
 * Stands above the form, so that visitors need not search for the fields to correct. It gets the focus, and screen
 * readers read all of it. It lists the errors of the last submit and stays the same during corrections, so that nothing
 * moves.
 */
export function ErrorSummary({ ref, state, onPick }: ErrorSummaryProps) {
  const problems = listedProblems(state);
  if (problems.length === 0) return null;
  return (
    <div ref={ref} className="alert alert-failed error-summary" role="alert" tabIndex={-1} aria-labelledby="problems">
      {state.phase === "failed" && <AlertText outcome="failed">{state.error} Nothing you typed is lost.</AlertText>}
      <h3 id="problems" className="alert-text">
        {problems.length === 1 ? "There is a problem" : `There are ${problems.length} problems`}
      </h3>
      <ul>
        {problems.map(([name, sentence]) => (
          <li key={name}>
            <a
              href={`#${name}`}
              onClick={(event) => {
                event.preventDefault();
                onPick(name);
              }}
            >
              {sentence}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function listedProblems(state: FormState) {
  return "fields" in state ? problemsOf(state.fields) : [];
}

interface FormAlertProps {
  state: FormState;
  apiBase: string;
  answerWithin?: string;
}

/** "We will answer by email within two working days." */
function AnswerPromise({ within }: { within: string }) {
  return `We will answer by email${within && ` within ${within}`}.`;
}

/**
 * The outcome of the last submit, which screen readers announce. With the roles alone, Orca skips failures and reads
 * half of a success; with role and `aria-live` on one element, it reads everything twice.
 */
export function FormAlert({ state, apiBase, answerWithin = "" }: FormAlertProps) {
  return (
    <>
      <div className="alerts" aria-live="polite" aria-atomic="true">
        {state.phase === "sent" && (
          <Alert
            outcome="sent"
            reference={
              state.reference !== "" && (
                <>
                  Your reference is <b>{state.reference}</b>.
                </>
              )
            }
          >
            {state.reference !== "" && (
              <>
                <AnswerPromise within={answerWithin} />
                {state.totalKg !== null && (
                  <>
                    {" "}
                    We received your estimate too: <span data-fact="total">{unbroken(formatTotal(state.totalKg))}</span>
                    .
                    {state.hasReport && (
                      <>
                        {" "}
                        <a href={`#${SENT_ESTIMATE_ID}`}>See and print it</a>.
                      </>
                    )}
                  </>
                )}
              </>
            )}
            {state.keepsEdits &&
              " Changes that you made while the message was being sent were not sent. They are still in the form."}
          </Alert>
        )}
      </div>
      <div className="alerts" aria-live="assertive" aria-atomic="true">
        {state.phase === "failed" && listedProblems(state).length === 0 && (
          <Alert outcome="failed">{state.error} Nothing you typed is lost.</Alert>
        )}
        {state.phase === "broken" && (
          <Alert outcome="broken">
            Your message could not be sent. Nothing you typed is lost: please try again in a few minutes.
          </Alert>
        )}
      </div>
      {state === START && <AlertsWithoutScript apiBase={apiBase} answerWithin={answerWithin} />}
    </>
  );
}

/** Without script the server redirects to one of these by its id; each is hidden until it is the page's `:target`. */
function AlertsWithoutScript({ apiBase, answerWithin }: Required<Omit<FormAlertProps, "state">>) {
  const goBack = " Go back one page to find what you typed";
  return (
    <>
      {/* Our own server removes `hidden` for a message that it stored. On another host no server can do that. */}
      <div hidden={apiBase === ""} id={ALERT_ID.sent} className="alert-target" tabIndex={-1} suppressHydrationWarning>
        <Alert
          outcome="sent"
          reference={
            // biome-ignore lint/security/noDangerouslySetInnerHtml: the server writes a reference here, and React must not remove it
            <span id={REFERENCE_SLOT_ID} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} />
          }
        >
          <AnswerPromise within={answerWithin} />
          {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the server writes the estimate's total here */}
          <span id={TOTAL_SLOT_ID} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: "" }} />
        </Alert>
        <a className="button button-outline send-another" href="/contact">
          {SEND_ANOTHER}
        </a>
      </div>
      <div id={ALERT_ID.failed} className="alert-target" tabIndex={-1}>
        <Alert outcome="failed">
          <Problems otherwise="Please check every field." />
          {`${goBack}, and try again.`}
        </Alert>
      </div>
      <div id={ALERT_ID.limited} className="alert-target" tabIndex={-1}>
        <Alert outcome="failed">
          <Problems otherwise="You have sent several messages already. Please try again later." />
          {`${goBack}.`}
        </Alert>
      </div>
      <div id={ALERT_ID.broken} className="alert-target" tabIndex={-1}>
        <Alert outcome="broken">
          <Problems otherwise="Please try again in a few minutes." />
          {`${goBack}.`}
        </Alert>
      </div>
    </>
  );
}

/** Our own server replaces the text with the reason: the fields to correct, or when to try again. */
function Problems({ otherwise }: { otherwise: string }) {
  return (
    <span
      {...{ [PROBLEMS_SLOT]: "" }}
      suppressHydrationWarning
      // biome-ignore lint/security/noDangerouslySetInnerHtml: our own text; React must not overwrite the server's
      dangerouslySetInnerHTML={{ __html: otherwise }}
    />
  );
}

interface AlertProps {
  outcome: Outcome;
  /** Shown in the heading of a success. */
  reference?: ReactNode;
  children: ReactNode;
}

function Alert({ outcome, reference, children }: AlertProps) {
  const isSent = outcome === "sent";
  return (
    <div className={`alert alert-${outcome}`} role={isSent ? "status" : "alert"}>
      {isSent ? (
        <>
          <h3 className="sent-title">
            <span>{TEXT.sent}</span> {reference && <span className="sent-reference">{reference}</span>}
          </h3>
          <p className="alert-more">{children}</p>
        </>
      ) : (
        <AlertText outcome={outcome}>{children}</AlertText>
      )}
    </div>
  );
}

function AlertText({ outcome, children }: { outcome: Outcome; children: ReactNode }) {
  return (
    <>
      <p className="alert-text">{TEXT[outcome]}</p>
      <p className="alert-more">{children}</p>
    </>
  );
}
