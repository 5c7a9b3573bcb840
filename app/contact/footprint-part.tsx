import type { KeyboardEvent, ReactNode } from "react";
import { CHOICES, FIELD_PREFIX, optionLabel, UNITS } from "../../contract/footprint/fields.ts";
import { capitalised } from "../../contract/visible-text.ts";
import { type Country, countryOptions } from "./countries.ts";
import {
  Field,
  type FieldState,
  FOOTPRINT_TITLE_ID,
  FORM_HEAD_ID,
  FORM_ID,
  FORM_TITLE_ID,
  focusOn,
  NEXT_ID,
  ProblemList,
  TextButton,
} from "./field.tsx";
import type { Act, FormEvent, FormView } from "./form-state.ts";
import { FOLDED, type Fold, GROUPS, type Group, WHOM, type Words } from "./questions.ts";

/** The fragment that opens the part. */
const FRAGMENT = "footprint";
/** Our script opens the part before the first paint. Browsers open it later, which would move everything below. */
export const OPEN_AT_FRAGMENT = `location.hash=="#${FRAGMENT}"&&new MutationObserver((_,o)=>{const d=document.querySelector(".footprint");if(d)d.open=1,o.disconnect()}).observe(document,{childList:1,subtree:1})`;
/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";

/** What the page shows of an estimate in three places. */
export interface Result {
  total: ReactNode;
  details?: ReactNode;
  sources?: ReactNode;
}

interface FootprintPartProps {
  view: FormView;
  open: readonly Fold[];
  /** `undefined` until the arithmetic has loaded. Without script, it never does. */
  result: Result | undefined;
  hasFailedToLoad: boolean;
  countries: readonly Country[];
  fieldOf(name: string): FieldState;
  dispatch(event: FormEvent): void;
  act: Act;
}

/**
 * The optional estimate: inputs of the contact form in a separate part, with the result beside them. Without script,
 * the server computes it.
 */
export function FootprintPart(props: FootprintPartProps) {
  const { view, open, result, countries, fieldOf, dispatch, act } = props;
  const { reading, problems, example, unreadable } = view;
  const country = fieldOf("country");
  const whom = fieldOf(`${FIELD_PREFIX}for`);
  const detailsOf = (fold: Fold) => ({
    "data-fold": fold,
    open: open.includes(fold),
    onToggle: ({ currentTarget }: { currentTarget: HTMLDetailsElement }) =>
      dispatch({ type: "toggled", fold, isOpen: currentTarget.open }),
  });
  const groupOf = (group: Group, children?: ReactNode) => (
    <QuestionGroup key={String(group.legend)} group={group} fieldOf={fieldOf}>
      {children}
    </QuestionGroup>
  );
  return (
    <details className="footprint" {...detailsOf("footprint")}>
      <summary id={FOOTPRINT_TITLE_ID}>
        <h2>Estimate your footprint</h2>
        <span className="footprint-optional">Optional: send an estimate along with your message.</span>
      </summary>
      <div className="footprint-body" id={FRAGMENT}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it handles a key of the fields inside */}
        <div className="footprint-inputs" onKeyDown={nextOnEnter}>
          {/* Above the inputs while they are in view. Screen readers skip it, because the result has the same text. */}
          <div className="footprint-bar" aria-hidden="true">
            {reading?.estimate && (
              <p>
                {example === "" ? <span>Your estimate: </span> : <em>Example: </em>}
                <b data-fact="total">{reading.total}</b>
              </p>
            )}
            {problems.length > 0 && (
              <p className="footprint-problem" data-fact="problems">
                {problems.length === 1 ? "1 amount needs a correction" : `${problems.length} amounts need a correction`}
              </p>
            )}
            {!reading?.estimate && problems.length === 0 && <p>Your estimate appears here.</p>}
          </div>
          <div>
            <h3>About how much CO₂e do you emit in a year?</h3>
            <p>Enter what you know, and leave the rest empty. Nothing leaves this page until you press Submit.</p>
          </div>
          {groupOf(
            WHOM,
            CHOICES.for.options.map((option) => (
              <label key={option} className="footprint-choice">
                <input
                  type="radio"
                  name={whom.name}
                  value={option}
                  checked={whom.value === option}
                  onChange={() => whom.onEdit(option)}
                  form={FORM_ID}
                />
                <span>{option === "household" ? "Me or my household" : "My organisation"}</span>
              </label>
            )),
          )}
          {/* A second control for the form's country. It has no name, so the form sends one country. */}
          <Field
            id="estimate-country"
            name=""
            label="Your country"
            value={country.value}
            options={countryOptions(countries, country.value)}
            hint="We count electricity and hotels with the figures for your country. It is the same one as in the form below."
            onEdit={country.onEdit}
          />
          {GROUPS.map((group) => groupOf(group))}
          {FOLDED.map(({ fold, title, note, groups }) => (
            <details key={fold} className="footprint-more" {...detailsOf(fold)}>
              <summary>
                <span>{title}</span> <span className="footprint-note">{note}</span>
              </summary>
              {groups.map((group) => groupOf(group))}
            </details>
          ))}
        </div>
        <div className="footprint-outcome">
          <div className="footprint-panel">
            {result?.total ?? (
              <noscript>
                <p className="footprint-empty">Your estimate is shown after you have sent the message.</p>
              </noscript>
            )}
            {props.hasFailedToLoad && (
              <p className="footprint-empty">
                The estimate cannot be shown at the moment. You can still send your message: we compute the estimate
                from what you entered.
              </p>
            )}
            {problems.length > 0 && (
              <div className="footprint-problem">
                <p>Not counted yet:</p>
                <ProblemList problems={problems} />
              </div>
            )}
            <div className="footprint-actions">
              {example === "" ? (
                <a
                  id={NEXT_ID}
                  className={`button button-${reading?.estimate ? "primary" : "outline"}`}
                  href={`#${FORM_TITLE_ID}`}
                  onClick={(event) => {
                    event.preventDefault();
                    if (unreadable) focusOn(unreadable);
                    else act({ type: "toggled", fold: "footprint", isOpen: false }, FORM_HEAD_ID);
                  }}
                >
                  Continue to your message
                </a>
              ) : (
                <button
                  type="button"
                  id={NEXT_ID}
                  className="button button-primary"
                  onClick={() => act({ type: "adopted" }, NEXT_ID)}
                >
                  Use this
                </button>
              )}
              {(reading?.estimate || example !== "") && (
                <TextButton onClick={() => act({ type: "removed" }, example === "" ? FOOTPRINT_TITLE_ID : NEXT_ID)}>
                  {example === "" ? "Remove the estimate" : "Clear the example"}
                </TextButton>
              )}
            </div>
          </div>
          {result?.details}
        </div>
        <div className="footprint-about">
          {result?.sources}
          <p className="footprint-limits">
            This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
            water, buildings and investments, so most people and companies emit more. Cutting comes before offsetting.
            Neither this estimate nor buying credits makes anyone carbon neutral.{" "}
            <a href={FOOTPRINT_PATH}>How we estimate</a>
          </p>
        </div>
        {/* Orca reads all of it only with both attributes. */}
        <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
          {view.announcement}
        </p>
      </div>
    </details>
  );
}

interface QuestionGroupProps extends Pick<FootprintPartProps, "fieldOf"> {
  group: Group;
  /** Shown before the fields. */
  children: ReactNode;
}

function QuestionGroup({ group: { legend, note, labels }, fieldOf, children }: QuestionGroupProps) {
  const questions = Object.entries(labels).map(([field, label]) => ({
    field,
    label,
    ...fieldOf(FIELD_PREFIX + field),
  }));
  const noteId = `${questions[0]?.field}-note`;
  return (
    <fieldset className="footprint-group" data-fields={questions.length} aria-describedby={noteId}>
      <legend>
        <WordsFor words={legend} />
      </legend>
      {children}
      <p className="footprint-note" id={noteId}>
        <WordsFor words={note} />
      </p>
      {/* Orca does not read a fieldset's description, so the first field refers to the note too. */}
      {questions.map(({ field, ...question }, index) => (
        <Field
          key={field}
          {...question}
          {...controlOf(field)}
          noteId={index === 0 ? noteId : undefined}
          form={FORM_ID}
        />
      ))}
      {/* A field is too narrow for the question about its amount. */}
      {questions.map(
        ({ name, label, question }) =>
          question && (
            <p key={name} className="field-question" id={`${name}-question`}>
              <b>{label}</b>: <span>{question}</span>
            </p>
          ),
      )}
    </fieldset>
  );
}

/** The options of a select, or what an input needs for a number. */
function controlOf(field: string) {
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
