import type { KeyboardEvent, ReactNode } from "react";
import { CHOICES, type FootprintField, nameOf, optionLabel, UNITS } from "../../contract/footprint/fields.ts";
import { capitalised } from "../../contract/text.ts";
import {
  Field,
  type FieldState,
  FOOTPRINT_TITLE_ID,
  FORM_HEAD_ID,
  FORM_ID,
  focusOn,
  NEXT_ID,
  TextButton,
} from "./field.tsx";
import type { Act, FormEvent, Name } from "./form-state.ts";
import type { FormView } from "./form-view.ts";
import { EXAMPLES, type ExampleName, FOLDED, type Fold, GROUPS, type Group, WHOM, type Words } from "./questions.ts";

/** The fragment that opens the part. */
const FRAGMENT = "footprint";
/** Our script opens the part before the first paint. Browsers open it later, which would move everything below. */
export const OPEN_AT_FRAGMENT = `location.hash=="#${FRAGMENT}"&&new MutationObserver((_,o)=>{const d=document.querySelector(".footprint");if(d)d.open=1,o.disconnect()}).observe(document,{childList:1,subtree:1})`;
/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";

interface EstimatePartProps {
  view: FormView;
  open: readonly Fold[];
  /** The result; `undefined` until the part that shows it has loaded. Without script, it never does. */
  result: ReactNode;
  notes: ReactNode;
  hasFailedToLoad: boolean;
  fieldOf(name: Name): FieldState;
  dispatch(event: FormEvent): void;
  act: Act;
}

/**
 * The optional estimate: inputs of the contact form in a separate part, below their result. Without script, the server
 * computes it.
 */
export function EstimatePart(props: EstimatePartProps) {
  const { view, open, result, notes, hasFailedToLoad, fieldOf, dispatch, act } = props;
  const { unreadable, example, isEnclosed } = view;
  const detailsOf = (fold: Fold) => ({
    "data-fold": fold,
    open: open.includes(fold),
    onToggle: ({ currentTarget }: { currentTarget: HTMLDetailsElement }) =>
      dispatch({ type: "toggled", fold, isOpen: currentTarget.open }),
  });
  return (
    <details className="footprint" {...detailsOf("footprint")}>
      <summary id={FOOTPRINT_TITLE_ID}>
        <h2>Estimate your footprint</h2>
        <span className="footprint-optional">Optional: send an estimate along with your message.</span>
      </summary>
      <div className="footprint-body" id={FRAGMENT}>
        <div>
          <h3>About how much CO₂e do you emit in a year?</h3>
          <p>Enter what you know, and leave the rest empty. Nothing leaves this page until you press Submit.</p>
        </div>
        <div className="footprint-result">
          {result ?? (
            <noscript>
              <p>Your estimate is shown after you have sent the message.</p>
            </noscript>
          )}
          {hasFailedToLoad && (
            <p>
              The estimate cannot be shown at the moment. You can still send your message: we compute the estimate from
              what you entered.
            </p>
          )}
        </div>
        <div className="footprint-examples">
          <span>Examples:</span>
          {(Object.keys(EXAMPLES) as ExampleName[]).map((name) => (
            <TextButton
              key={name}
              aria-pressed={example === name}
              onClick={() => dispatch({ type: "exampled", name: example === name ? "" : name })}
            >
              {capitalised(name)}
            </TextButton>
          ))}
          {example !== "" && (
            <p>
              These are not your figures, and they are not sent.{" "}
              <TextButton onClick={() => act({ type: "adopted" }, NEXT_ID)}>Start from these figures</TextButton>
            </p>
          )}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it handles a key of the fields inside */}
        <div className="footprint-inputs" onKeyDown={nextOnEnter}>
          <QuestionGroup group={WHOM} fieldOf={fieldOf}>
            <WhomChoice field={fieldOf("footprint.for")} />
          </QuestionGroup>
          {GROUPS.map((group) => (
            <QuestionGroup key={String(group.legend)} group={group} fieldOf={fieldOf} />
          ))}
          {FOLDED.map(({ fold, title, note, groups }) => (
            <details key={fold} className="footprint-more" {...detailsOf(fold)}>
              <summary>
                <span>{title}</span> <span className="footprint-note">{note}</span>
              </summary>
              {groups.map((group) => (
                <QuestionGroup key={String(group.legend)} group={group} fieldOf={fieldOf} />
              ))}
            </details>
          ))}
        </div>
        <div className="footprint-notes">{notes}</div>
        <div className="footprint-actions">
          <a
            id={NEXT_ID}
            className="button button-outline"
            href={`#${FORM_HEAD_ID}`}
            onClick={(event) => {
              event.preventDefault();
              focusOn(unreadable ?? FORM_HEAD_ID);
            }}
          >
            Continue to your message
          </a>
          {isEnclosed && <TextButton onClick={() => act({ type: "removed" }, NEXT_ID)}>Remove the estimate</TextButton>}
        </div>
        <p className="footprint-note">
          This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
          water, buildings and investments, so most people and companies emit more.{" "}
          <a href={FOOTPRINT_PATH}>How we estimate</a>
        </p>
      </div>
    </details>
  );
}

function WhomChoice({ field }: { field: FieldState }) {
  return CHOICES.for.options.map((option) => (
    <label key={option} className="footprint-choice">
      <input
        type="radio"
        name={field.name}
        value={option}
        checked={field.value === option}
        onChange={() => field.onEdit(option)}
        form={FORM_ID}
      />
      <span>{option === "household" ? "Me or my household" : "My organisation"}</span>
    </label>
  ));
}

interface QuestionGroupProps extends Pick<EstimatePartProps, "fieldOf"> {
  group: Group;
  /** Shown before the fields. */
  children?: ReactNode;
}

function QuestionGroup({ group: { legend, note, labels }, fieldOf, children }: QuestionGroupProps) {
  const fields = Object.keys(labels) as FootprintField[];
  const noteId = `${fields[0]}-note`;
  return (
    <fieldset className="footprint-group" aria-describedby={noteId}>
      <legend>
        <WordsFor words={legend} />
      </legend>
      {children}
      <p className="footprint-note" id={noteId}>
        <WordsFor words={note} />
      </p>
      {/* Orca does not read a fieldset's description, so the first field refers to the note too. */}
      {fields.map((field, index) => (
        <Field
          key={field}
          {...fieldOf(nameOf(field))}
          label={labels[field] ?? ""}
          {...controlOf(field)}
          noteId={index === 0 ? noteId : undefined}
          form={FORM_ID}
        />
      ))}
    </fieldset>
  );
}

/** The options of a select, or what an input needs for a number. */
function controlOf(field: FootprintField) {
  const units = UNITS[field as keyof typeof UNITS];
  const codes = units ?? CHOICES[field as keyof typeof CHOICES]?.options;
  if (!codes)
    return { inputMode: field === "people" ? "numeric" : "decimal", maxLength: 40, enterKeyHint: "next" } as const;
  // Units are not capitalised.
  return { options: codes.map((code) => ({ code, name: units ? optionLabel(code) : capitalised(optionLabel(code)) })) };
}

function WordsFor({ words }: { words: Words }) {
  if (typeof words === "string") return words;
  return (
    <>
      <span className="for-household">{words[0]}</span> <span className="for-organisation">{words[1]}</span>
    </>
  );
}

/** Enter after a number moves to the next field, as "Next" on a phone's keyboard does. It must not send the message. */
function nextOnEnter(event: KeyboardEvent<HTMLElement>): void {
  // The first Enter of an input method, such as for full-width digits, only ends the composition.
  const isComposing = event.nativeEvent.isComposing;
  if (event.key !== "Enter" || isComposing || !(event.target instanceof HTMLInputElement)) return;
  event.preventDefault();
  const fields = [...event.currentTarget.querySelectorAll<HTMLElement>("input:not([type=radio]), select, summary")];
  const visible = fields.filter((field) => field.checkVisibility());
  const next = visible[visible.indexOf(event.target) + 1];
  (next ?? document.getElementById(NEXT_ID))?.focus();
}
