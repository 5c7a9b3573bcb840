import { unbroken } from "../../contract/footprint/fields.ts";
import { FOOTPRINT_TITLE_ID, FORM_HEAD_ID, FORM_TITLE_ID, focusOn, TextButton } from "./field.tsx";
import type { Act, FormView } from "./form-state.ts";

/** The title of the form, and what goes with the message. */
export function FormHead({ view, act }: { view: FormView; act: Act }) {
  const { isEnclosed, isInError, example, reading, problems, unreadable } = view;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups words that screen readers read together, not fields
    <div
      className="form-head"
      id={FORM_HEAD_ID}
      role="group"
      aria-labelledby={`${FORM_TITLE_ID} enclosed`}
      tabIndex={-1}
    >
      <h2 id={FORM_TITLE_ID}>Send us a Message</h2>
      {isEnclosed ? (
        <div className="enclosed">
          {/* The keys make React replace the whole sentence: on a translated page it cannot change its texts. */}
          <p id="enclosed">
            {problems.length === 0 ? (
              <span key="included">
                Your estimate is included
                {reading?.total && (
                  <span>
                    : <b data-fact="total">{unbroken(reading.total)}</b>
                  </span>
                )}
                <span>.</span>
                {reading?.largest && (
                  <span>
                    {" "}
                    The largest part: <span data-fact="largest">{reading.largest}</span>.
                  </span>
                )}
              </span>
            ) : (
              <span key="doubtful">
                Your estimate needs a correction before you send it.{" "}
                <span data-fact="problem">{problems.map(([, sentence]) => sentence).join(" ")}</span>
              </span>
            )}
          </p>
          <div className="enclosed-buttons">
            <TextButton aria-label="Edit the estimate" onClick={() => focusOn(unreadable ?? FOOTPRINT_TITLE_ID)}>
              Edit
            </TextButton>
            <TextButton aria-label="Remove the estimate" onClick={() => act({ type: "removed" }, FORM_HEAD_ID)}>
              Remove
            </TextButton>
          </div>
        </div>
      ) : (
        // Without script, a refused form may contain amounts that the state does not know.
        <p className="form-note">
          {example !== "" ? "The example is not included." : !isInError && "To add an estimate, enter an amount."}
        </p>
      )}
    </div>
  );
}
