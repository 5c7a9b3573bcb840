import type { ComponentProps } from "react";
import { unbroken } from "../../contract/footprint/fields.ts";
import { problemsOf, problemsTitle } from "../../contract/send-email-answer.ts";
import { FOOTPRINT_TITLE_ID, FORM_HEAD_ID, focusOn, ProblemLink, TextButton } from "./field.tsx";
import type { Act, FormState } from "./form-state.ts";
import type { FormView } from "./form-view.ts";

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
    <Failure state={state} className="alert error-summary" aria-labelledby="problems">
      <h3 id={failure ? undefined : "problems"} className="alert-text">
        {failure?.title ?? count}
      </h3>
      {failure && (
        <p>
          <span>{failure.more}</span> <span id="problems">{count}</span>:
        </p>
      )}
      <ul>
        {problems.map(([name, sentence]) => (
          <li key={name}>
            <ProblemLink name={name} sentence={sentence} />
          </li>
        ))}
      </ul>
    </Failure>
  );
}

/** The focus must go there: without script, nothing else shows the answer to a post. */
function Failure({ state, ...props }: ComponentProps<"div"> & { state: FormState }) {
  // biome-ignore lint/a11y/noAutofocus: see above
  return <div {...props} role="alert" tabIndex={-1} autoFocus={!state.isInteractive} />;
}

/**
 * Next to the button: the failure of the last submit, if the summary above the form does not show it. With the role
 * alone, Orca skips it; with role and `aria-live` on one element, it reads everything twice.
 */
export function FailureAlert({ state }: { state: FormState }) {
  const failure = Object.keys(state.errors).length > 0 ? null : failureOf(state);
  return (
    <div className="live" aria-live="assertive" aria-atomic="true">
      {failure && (
        <Failure state={state} className="alert">
          <p className="alert-text">{failure.title}</p>
          <p>{failure.more}</p>
        </Failure>
      )}
    </div>
  );
}

/** Says that an estimate goes with the message. Above the button, so that no field moves when it appears. */
export function EnclosedNote({ view, act }: { view: FormView; act: Act }) {
  const { isEnclosed, example, own, problems, unreadable } = view;
  if (!isEnclosed) {
    return example !== "" && <p className="form-note">The example is not included.</p>;
  }
  return (
    <div className={problems.length === 0 ? "enclosed" : "enclosed enclosed-problem"}>
      {/* The keys make React replace the whole sentence: on a translated page it cannot change its texts. */}
      <p id="enclosed">
        {problems.length === 0 ? (
          <span key="included">
            Your estimate is included
            {own.total && (
              <span>
                : <b data-fact="total">{unbroken(own.total)}</b>
              </span>
            )}
            <span>.</span>
          </span>
        ) : (
          <span key="doubtful">
            Your estimate needs a correction before you send it.{" "}
            <span data-fact="problem">{problems.map(([, sentence]) => sentence).join(" ")}</span>
          </span>
        )}
      </p>
      <TextButton aria-label="Edit the estimate" onClick={() => focusOn(unreadable ?? FOOTPRINT_TITLE_ID)}>
        Edit
      </TextButton>
      <TextButton aria-label="Remove the estimate" onClick={() => act({ type: "removed" }, FORM_HEAD_ID)}>
        Remove
      </TextButton>
    </div>
  );
}
