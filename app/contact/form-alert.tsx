import type { ComponentProps, RefObject } from "react";
import { unbroken } from "../../contract/footprint/fields.ts";
import { problemsOf, problemsTitle } from "../../contract/send-email-answer.ts";
import { FOOTPRINT_TITLE_ID, FORM_HEAD_ID, focusOn, TextButton } from "./field.tsx";
import { type Act, type FormState, REMOVE_ESTIMATE } from "./form-state.ts";
import type { FormView } from "./form-view.ts";

interface FailureProps {
  state: FormState;
  outcome: RefObject<HTMLDivElement | null>;
}

/** Lists the errors of the last submit and stays the same during corrections, so that nothing moves. */
export function ErrorSummary({ state, outcome }: FailureProps) {
  const problems = problemsOf(state.errors);
  if (problems.length === 0) return null;
  const failure = state.phase.kind === "failed" ? state.phase : null;
  const count = problemsTitle(problems.length);
  return (
    <Failure state={state} ref={outcome} className="notice error-summary" aria-labelledby="problems">
      <h3 id={failure ? undefined : "problems"}>{failure?.title ?? count}</h3>
      {failure && (
        <p>
          <span>{failure.text}</span> <span id="problems">{count}</span>:
        </p>
      )}
      <ul>
        {problems.map(([name, sentence]) => (
          <li key={name}>
            <a
              href={`#${name}`}
              onClick={(event) => {
                event.preventDefault();
                focusOn(name);
              }}
            >
              {sentence}
            </a>
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

/** With the role alone, Orca skips it; with role and `aria-live` on one element, it reads everything twice. */
export function FailureAlert({ state, outcome }: FailureProps) {
  const { phase, errors } = state;
  return (
    <div className="live" aria-live="assertive" aria-atomic="true">
      {phase.kind === "failed" && Object.keys(errors).length === 0 && (
        <Failure state={state} ref={outcome} className="notice">
          <p>{phase.title}</p>
          <p>{phase.text}</p>
        </Failure>
      )}
    </div>
  );
}

/** Says that an estimate goes with the message. Above the button, so that no field moves when it appears. */
export function EnclosedNote({ view, act }: { view: FormView; act: Act }) {
  const { own, problems } = view;
  if (!view.isEnclosed) return null;
  const sentence = unbroken(
    problems.length === 0
      ? `Your estimate is included${own.total && `: ${own.total}`}.`
      : `Your estimate needs a correction before you send it. ${problems.map(([, problem]) => problem).join(" ")}`,
  );
  return (
    <div className={problems.length === 0 ? "enclosed" : "enclosed enclosed-problem"}>
      <p id="enclosed">
        {/* The key makes React replace the whole sentence: on a translated page it cannot change its text. */}
        <span key={sentence}>{sentence}</span>
      </p>
      <TextButton aria-label="Edit the estimate" onClick={() => focusOn(problems[0]?.[0] ?? FOOTPRINT_TITLE_ID)}>
        Edit
      </TextButton>
      <TextButton aria-label="Remove the estimate" onClick={() => act(REMOVE_ESTIMATE, FORM_HEAD_ID)}>
        Remove
      </TextButton>
    </div>
  );
}
