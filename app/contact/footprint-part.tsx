import type { KeyboardEvent, ReactNode } from "react";
import { CHOICES, FIELD_PREFIX, optionLabel, UNITS } from "../../contract/footprint/fields.ts";
import { capitalised } from "../../contract/visible-text.ts";
import { type Country, countryOptions } from "./countries.ts";
import { Field, type FieldState, FORM_ID, ProblemList, questionId } from "./field.tsx";
import { FORM_TITLE_ID } from "./form-head.tsx";
import { FOLDED, type Fold, GROUPS, type Group, type Words } from "./questions.ts";
import type { Reading } from "./reading.ts";

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

/** Before the arithmetic has loaded. Without script, it never does. */
export const NO_RESULT: Result = {
  total: (
    <noscript>
      <p className="footprint-empty">Your estimate is shown after you have sent the message.</p>
    </noscript>
  ),
};

export const FAILED_RESULT: Result = {
  total: (
    <p className="footprint-empty">
      The estimate cannot be shown at the moment. You can still send your message: we compute the estimate from what you
      entered.
    </p>
  ),
};

interface FootprintPartProps {
  open: readonly Fold[];
  /** `undefined` until the arithmetic has loaded. */
  reading: Reading | undefined;
  result: Result;
  /** The unreadable amounts, with a sentence for each. */
  problems: readonly (readonly [name: string, sentence: string])[];
  announcement: string;
  countries: readonly Country[];
  fieldOf(name: string): FieldState;
  onToggle(fold: Fold, isOpen: boolean): void;
  onContinue(): void;
  onRemove(): void;
}

/**
 * The optional estimate: inputs of the contact form in a separate part, with the result beside them. Without script,
 * the server computes it.
 */
export function FootprintPart(props: FootprintPartProps) {
  const { open, reading, result, problems, announcement, countries, fieldOf, onToggle, onContinue, onRemove } = props;
  const country = fieldOf("country");
  const whom = fieldOf(`${FIELD_PREFIX}for`);
  const fold = (name: Fold) => ({
    "data-fold": name,
    open: open.includes(name),
    onToggle: ({ currentTarget }: { currentTarget: HTMLDetailsElement }) => onToggle(name, currentTarget.open),
  });
  const groupsIn = (name: Fold) =>
    GROUPS.filter((group) => group.fold === name).map((group) => (
      <QuestionGroup key={Object.keys(group.labels)[0]} group={group} fieldOf={fieldOf} />
    ));
  return (
    <details className="footprint" {...fold("footprint")}>
      <summary>
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
                <span>Your estimate: </span>
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
          <fieldset className="footprint-group footprint-whom">
            <legend>Who is it for?</legend>
            {CHOICES.for.options.map((option) => (
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
            ))}
            <Question field="people" label="Number of people (optional)" noteId="people-note" fieldOf={fieldOf} />
            <p className="footprint-note" id="people-note">
              Every amount below is for all the people counted.
            </p>
            <Questions labels={{ people: "Number of people" }} fieldOf={fieldOf} />
          </fieldset>
          {/* A second control for the form's country. It has no name, so the form sends one country. */}
          <Field
            id="estimate-country"
            name=""
            label="Your country"
            value={country.value}
            options={countryOptions(countries, country.value)}
            hint="We count electricity and hotels with the figures for this country. The form below shows the same country."
            onEdit={country.onEdit}
          />
          <noscript>
            <p className="footprint-note">
              Electricity and hotels are counted with the figures for the country that you choose in the form below.
            </p>
          </noscript>
          {groupsIn("footprint")}
          {FOLDED.map(({ name, title, note }) => (
            <details key={name} className="footprint-more" {...fold(name)}>
              <summary>
                <span>{title}</span> <span className="footprint-note">{note}</span>
              </summary>
              {groupsIn(name)}
            </details>
          ))}
        </div>
        <div className="footprint-outcome">
          <div className="footprint-panel">
            {result.total}
            {problems.length > 0 && (
              <div className="footprint-problem">
                <p>Not counted yet:</p>
                <ProblemList problems={problems} />
              </div>
            )}
            <div className="footprint-actions">
              <a
                className={`button button-${reading?.estimate ? "primary" : "outline"}`}
                href={`#${FORM_TITLE_ID}`}
                onClick={(event) => {
                  event.preventDefault();
                  onContinue();
                }}
              >
                Continue to your message
              </a>
              {reading?.estimate && (
                <button type="button" className="text-button" onClick={onRemove}>
                  Remove the estimate
                </button>
              )}
            </div>
          </div>
          {result.details}
        </div>
        <div className="footprint-about">
          {result.sources}
          <p className="footprint-limits">
            This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
            water, buildings and investments, so most people and companies emit more. Cutting comes before offsetting.
            Neither this estimate nor buying credits makes anyone carbon neutral.{" "}
            <a href={FOOTPRINT_PATH}>How we estimate</a>
          </p>
        </div>
        {/* Orca reads all of it only with both attributes. */}
        <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
          {announcement}
        </p>
      </div>
    </details>
  );
}

interface QuestionProps {
  field: string;
  label: string;
  noteId?: string | undefined;
  fieldOf(name: string): FieldState;
}

function Question({ field, label, noteId, fieldOf }: QuestionProps) {
  const units = UNITS[field as keyof typeof UNITS];
  const codes = units ?? CHOICES[field as keyof typeof CHOICES]?.options;
  // Units are not capitalised.
  const nameOf = (code: string) => (units ? optionLabel(code) : capitalised(optionLabel(code)));
  return (
    <Field
      {...fieldOf(FIELD_PREFIX + field)}
      {...{ label, noteId, form: FORM_ID }}
      {...(codes
        ? { options: codes.map((code) => ({ code, name: nameOf(code) })) }
        : { inputMode: field === "people" ? "numeric" : "decimal", maxLength: 40, enterKeyHint: "next" })}
    />
  );
}

function QuestionGroup({
  group: { legend, note, labels },
  fieldOf,
}: Pick<QuestionProps, "fieldOf"> & { group: Group }) {
  const questions = Object.entries(labels);
  const noteId = `${questions[0]?.[0]}-note`;
  return (
    <fieldset className="footprint-group" data-columns={questions.length % 3 === 0 ? 3 : 2} aria-describedby={noteId}>
      <legend>
        <WordsFor words={legend} />
      </legend>
      <p className="footprint-note" id={noteId}>
        <WordsFor words={note} />
      </p>
      {/* Orca does not read a fieldset's description, so the first field refers to the note too. */}
      {questions.map(([field, label], index) => (
        <Question key={field} {...{ field, label, fieldOf }} noteId={index === 0 ? noteId : undefined} />
      ))}
      <Questions labels={labels} fieldOf={fieldOf} />
    </fieldset>
  );
}

/** The questions about unusual amounts in a group. */
function Questions({ labels, fieldOf }: Pick<QuestionProps, "fieldOf"> & Pick<Group, "labels">) {
  return Object.entries(labels).map(([field, label]) => {
    const { name, question } = fieldOf(FIELD_PREFIX + field);
    return (
      question && (
        <p key={field} className="field-question" id={questionId(name)}>
          <b>{label}</b>: <span>{question}</span>
        </p>
      )
    );
  });
}

function WordsFor({ words }: { words: Words }) {
  if (typeof words === "string") return words;
  return (
    <>
      <span className="for-household">{words[0]}</span> <span className="for-organisation">{words[1]}</span>
    </>
  );
}

/** The control that opens and closes the part. */
export function footprintSummary(): HTMLElement | null {
  return document.querySelector(".footprint > summary");
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
  (next ?? document.querySelector<HTMLElement>(".footprint-actions a"))?.focus();
}
