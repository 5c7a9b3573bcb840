import { type ComponentProps, type MouseEvent, useState } from "react";
import { formatTotal, unbroken } from "../../contract/footprint/fields.ts";
import { problemsOf, problemsTitle, SENT_ALERT_ID, SENT_ESTIMATE_ID } from "../../contract/send-email-answer.ts";
import { ProblemList } from "./field.tsx";
import type { FormState, SentPhase } from "./form-state.ts";

/** What the server or the network reported, if the last submit failed. */
function failureOf({ phase }: FormState): { title: string; more: string } | null {
  if (phase.kind === "failed") return { title: "Failed to send message.", more: phase.text };
  if (phase.kind !== "broken") return null;
  const { isOffline } = phase;
  const cause = isOffline ? "Your device is offline." : "We cannot tell whether it arrived.";
  const remedy = isOffline ? "Connect to the internet and press Submit again" : "Press Submit again";
  return {
    title: "An error occurred while sending your message.",
    more: `${cause} ${remedy}: it will not be sent twice.`,
  };
}

/**
 * Stands above the form, so that visitors need not search for the fields to correct. It gets the focus, and screen
 * readers read all of it. It lists the errors of the last submit and stays the same during corrections, so that nothing
 * moves.
 */
export function ErrorSummary({ state }: { state: FormState }) {
  const problems = problemsOf(state.errors);
  if (problems.length === 0) return null;
  const failure = failureOf(state);
  const count = problemsTitle(problems.length);
  return (
    <Failure state={state} className="alert alert-failed error-summary" aria-labelledby="problems">
      <h3 id={failure ? undefined : "problems"} className="alert-text">
        {failure?.title ?? count}
      </h3>
      {failure && (
        <p className="alert-more">
          <span>{failure.more}</span> <span id="problems">{count}</span>:
        </p>
      )}
      <ProblemList problems={problems} />
    </Failure>
  );
}

/** The focus must go there: without script, nothing else shows the answer to a post. */
function Failure({ state, ...props }: ComponentProps<"div"> & { state: FormState }) {
  // biome-ignore lint/a11y/noAutofocus: see above
  return <div {...props} role="alert" tabIndex={-1} autoFocus={!state.isInteractive} />;
}

interface OutcomeProps {
  /** How soon the company answers; empty if it does not say. */
  answerWithin: string;
  hasReport?: boolean;
}

/**
 * The progress and the outcome of the last submit, which screen readers announce. With the roles alone, Orca skips
 * failures and reads half of a success; with role and `aria-live` on one element, it reads everything twice.
 */
export function FormAlert({ state, ...props }: OutcomeProps & { state: FormState }) {
  const { phase } = state;
  // The summary above the form shows a failure with errors.
  const failure = Object.keys(state.errors).length > 0 ? null : failureOf(state);
  return (
    <>
      <div className="alerts" aria-live="polite" aria-atomic="true">
        {phase.kind === "sending" && <p className="visually-hidden">Sending…</p>}
        {phase.kind === "sent" && <Sent {...phase} {...props} address={state.submitted.email ?? ""} />}
      </div>
      <div className="alerts" aria-live="assertive" aria-atomic="true">
        {failure && (
          <Failure state={state} className="alert alert-failed">
            <p className="alert-text">{failure.title}</p>
            <p className="alert-more">{failure.more}</p>
          </Failure>
        )}
      </div>
    </>
  );
}

/** The confirmation. `address` is where the company answers; absent if only the server knows it. */
function Sent({ answerWithin, hasReport, ...sent }: OutcomeProps & Partial<SentPhase> & { address?: string }) {
  const { reference = "", totalKg = null, keepsEdits, address = "" } = sent;
  return (
    <div className="alert alert-sent" role="status" id={SENT_ALERT_ID}>
      <h2 className="sent-title">
        <span>Message sent successfully!</span>{" "}
        {reference !== "" && (
          <span className="sent-reference">
            <span>Your reference is</span> <b>{reference}</b>
            <span className="visually-hidden">.</span>
          </span>
        )}
      </h2>
      <p className="alert-more">
        {reference !== "" && (
          <span>
            We will answer {address === "" ? "by email" : <bdi>{`to ${address}`}</bdi>}
            {`${answerWithin && ` within ${answerWithin}`}. If you write again, give this reference.`}
          </span>
        )}
        {totalKg !== null && (
          <span>
            {" "}
            We received your estimate too: <span data-fact="total">{unbroken(formatTotal(totalKg))}</span>.
          </span>
        )}
        {totalKg !== null && hasReport && (
          <span>
            {" "}
            <a href={`#${SENT_ESTIMATE_ID}`}>See and print it</a>.
          </span>
        )}
        {keepsEdits && (
          <span>
            {" "}
            Changes that you made while the message was being sent were not sent. They are still in the form.
          </span>
        )}
      </p>
    </div>
  );
}

/** Copies the reference, or selects it where a page may not copy. Outside of the live region, which has only text. */
export function CopyReference({ reference }: { reference: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(reference);
      setCopied(true);
    } catch {
      getSelection()?.selectAllChildren(document.querySelector(".sent-reference b") ?? document.body);
    }
  }
  return (
    <button type="button" className="button button-primary" aria-live="polite" onClick={copy}>
      {isCopied ? "Copied" : "Copy the reference"}
    </button>
  );
}

/**
 * For a static host, where no server can write the reference into the page after a post without script: CSS shows this
 * alert while it is the page's `:target`.
 */
export function SentElsewhere({ answerWithin }: { answerWithin: string }) {
  return (
    <div className="sent-elsewhere">
      <Sent answerWithin={answerWithin} />
      <SendAnother />
    </div>
  );
}

export function SendAnother({ onClick }: { onClick?(event: MouseEvent): void }) {
  return (
    <a className="button button-outline send-another" href="/contact" onClick={onClick}>
      Send another message
    </a>
  );
}
