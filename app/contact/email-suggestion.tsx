import { suggestEmail } from "../../contract/email-suggestion.ts";

/** The live region contains only the question: Orca does not announce controls in it, and reads the rest twice. */
export function EmailSuggestion({ typed, onAccept }: { typed: string; onAccept(address: string): void }) {
  const suggestion = suggestEmail(typed);
  const isAnother = suggestion !== null && suggestion !== typed;
  return (
    <>
      <p className="field-hint" aria-live="polite">
        {/* Replaced as a whole: a translator may have changed the texts, and Orca announces parts separately. */}
        {isAnother && (
          <span key={suggestion}>
            Did you mean {suggestion}? <span className="visually-hidden">A button to use this address follows.</span>
          </span>
        )}
        {suggestion !== null && !isAnother && <span>Is this address complete? Most end in something like .com.</span>}
      </p>
      {isAnother && (
        <button type="button" className="suggestion" onClick={() => onAccept(suggestion)}>
          Use this address
        </button>
      )}
    </>
  );
}
