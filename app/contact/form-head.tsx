import { unbroken } from "../../contract/footprint/fields.ts";

/** The form's heading, and the text that screen readers read with it. */
export const FORM_TITLE_ID = "form-title";
const FORM_HEAD_ID = "form-head";
const ENCLOSED_ID = "enclosed";

interface FormHeadProps {
  /** The estimate that goes with the message, as text. Unknown values are empty. `null` while nothing is entered. */
  enclosed: {
    total: string;
    /** "Flights, 55%". */
    largest: string;
    /** Names unreadable inputs, which prevent sending. */
    problem: string;
  } | null;
  onEdit(): void;
  onRemove(): void;
}

/** The title of the form, and what goes with the message. */
export function FormHead({ enclosed, onEdit, onRemove }: FormHeadProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups words that screen readers read together, not fields
    <div
      className="form-head"
      id={FORM_HEAD_ID}
      role="group"
      aria-labelledby={`${FORM_TITLE_ID} ${ENCLOSED_ID}`}
      tabIndex={-1}
    >
      <h2 id={FORM_TITLE_ID}>Send us a Message</h2>
      {enclosed ? (
        <div className="enclosed">
          {/* The keys make React replace the whole sentence: on a translated page it cannot change its texts. */}
          <p id={ENCLOSED_ID}>
            {enclosed.problem === "" ? (
              <span key="included">
                Your estimate is included
                {enclosed.total !== "" && (
                  <span>
                    : <b data-fact="total">{unbroken(enclosed.total)}</b>
                  </span>
                )}
                <span>.</span>
                {enclosed.largest !== "" && (
                  <span>
                    {" "}
                    The largest part: <span data-fact="largest">{enclosed.largest}</span>.
                  </span>
                )}
              </span>
            ) : (
              <span key="doubtful">
                Your estimate needs a correction before you send it. <span data-fact="problem">{enclosed.problem}</span>
              </span>
            )}
          </p>
          <div className="enclosed-buttons">
            <button type="button" className="text-button" aria-label="Edit the estimate" onClick={onEdit}>
              Edit
            </button>
            <button type="button" className="text-button" aria-label="Remove the estimate" onClick={onRemove}>
              Remove
            </button>
          </div>
        </div>
      ) : (
        <p className="form-note">To add an estimate, enter an amount.</p>
      )}
    </div>
  );
}

/** Focuses the form's heading: screen readers read the whole group, and phones do not open their keyboard. */
export function focusForm(): void {
  document.getElementById(FORM_HEAD_ID)?.focus();
}
