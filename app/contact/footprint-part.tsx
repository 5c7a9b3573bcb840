import type { KeyboardEvent, ReactNode } from "react";
import { CAR_UNITS, CHOICES, FIELD_PREFIX, optionLabel, unbroken } from "../../contract/footprint/fields.ts";
import type { AnswerErrors } from "../../contract/send-email-answer.ts";
import { type Country, countryOptions } from "./countries.ts";
import { Field, focusField } from "./field.tsx";
import type { Fold, FormState } from "./form-state.ts";
import { FIRST, FOLDED_GROUPS, type Group, type Words } from "./questions.ts";
import type { Reading } from "./reading.ts";

/** The fragment that opens the part. */
const FRAGMENT = "footprint";
/** Our script opens the part before the first paint. Browsers open it later, which would move everything below. */
export const OPEN_AT_FRAGMENT = `location.hash=="#${FRAGMENT}"&&new MutationObserver((_,o)=>{const d=document.querySelector(".footprint");if(d)d.open=1,o.disconnect()}).observe(document,{childList:1,subtree:1})`;
/** The page that explains the figures: under /assets/, because every other path belongs to the site's own pages. */
export const FOOTPRINT_PATH = "/assets/footprint";

interface FootprintPartProps {
  state: FormState;
  formId: string;
  /** The heading of the form. */
  formTitleId: string;
  countries: readonly Country[];
  reading: Reading | null;
  errors: AnswerErrors;
  /** The unreadable amounts, with a sentence for each. */
  problems: readonly (readonly [name: string, sentence: string])[];
  /** The figures did not load. */
  hasFailed: boolean;
  onEdit(name: string, value: string): void;
  onLeave(name: string): void;
  onToggle(fold: Fold, isOpen: boolean): void;
  onContinue(): void;
  onRemove(): void;
  /** The result, which needs the arithmetic. */
  total: ReactNode;
  details: ReactNode;
  sources: ReactNode;
  announcement: string;
}

/**
 * The optional estimate: inputs of the contact form in a separate part, with the result beside them. Without script,
 * the server computes it.
 */
export function FootprintPart(props: FootprintPartProps) {
  const { state, formId, formTitleId, countries, reading, errors, problems, hasFailed, onEdit, onLeave } = props;
  const fold = (name: Fold) => ({
    "data-fold": name,
    open: state.open.includes(name),
    onToggle: ({ currentTarget }: { currentTarget: HTMLDetailsElement }) => props.onToggle(name, currentTarget.open),
  });
  const control = (field: string, label: string, noteId?: string) => {
    const name = FIELD_PREFIX + field;
    const error = errors[name as keyof typeof errors];
    const options = optionsOf(field);
    const value = state.values[name] ?? "";
    return (
      <Field
        key={name}
        {...{ name, label, value, error, noteId, form: formId }}
        hint={error === undefined ? reading?.hints[name] : undefined}
        onEdit={(text) => onEdit(name, text)}
        onLeave={() => onLeave(name)}
        {...(options
          ? { options }
          : { inputMode: field === "people" ? "numeric" : "decimal", maxLength: 40, enterKeyHint: "next" })}
      >
        {error !== undefined && (
          <Meanings
            texts={reading?.meanings[name] ?? []}
            onChoose={(text) => {
              onEdit(name, text);
              focusField(name);
            }}
          />
        )}
      </Field>
    );
  };
  const group = ({ legend, note, questions }: Group) => {
    const noteId = `${questions[0]?.[0]}-note`;
    return (
      <fieldset
        key={noteId}
        className="footprint-group"
        data-columns={questions.length % 3 === 0 ? 3 : 2}
        aria-describedby={noteId}
      >
        <legend>
          <WordsFor words={legend} />
        </legend>
        <p className="footprint-note" id={noteId}>
          <WordsFor words={note} />
        </p>
        {/* Orca does not read a fieldset's description, so the first field refers to the note too. */}
        {questions.map(([field, label], index) => control(field, label, index === 0 ? noteId : undefined))}
      </fieldset>
    );
  };
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
                  name={`${FIELD_PREFIX}for`}
                  value={option}
                  checked={state.values[`${FIELD_PREFIX}for`] === option}
                  onChange={() => onEdit(`${FIELD_PREFIX}for`, option)}
                  form={formId}
                />
                <span>{option === "household" ? "Me or my household" : "My organisation"}</span>
              </label>
            ))}
            {control("people", "Number of people (optional)")}
          </fieldset>
          {/* A second control for the form's country. It has no name, so the form sends one country. */}
          <Field
            id="estimate-country"
            name=""
            label="Your country"
            value={state.values.country ?? ""}
            options={countryOptions(countries, state.values.country ?? "")}
            hint="We count electricity and hotels with the figures for this country. The form below shows the same country."
            onEdit={(code) => onEdit("country", code)}
          />
          <noscript>
            <p className="footprint-note">
              Electricity and hotels are counted with the figures for the country that you choose in the form below.
            </p>
          </noscript>
          {FIRST.map(group)}
          <details className="footprint-more" {...fold("flights")}>
            <summary>
              <span>Flight distance and class</span>{" "}
              <span className="footprint-note">{unbroken("default: 1,500 and 6,500 km, economy")}</span>
            </summary>
            {FOLDED_GROUPS.flights.map(group)}
          </details>
          <details className="footprint-more" {...fold("more")}>
            <summary>
              <span>Add more</span> <span className="footprint-note">public transport, hotels, other fuels</span>
            </summary>
            {FOLDED_GROUPS.more.map(group)}
          </details>
        </div>
        <div className="footprint-outcome">
          <div className="footprint-panel">
            {props.total}
            {!reading && <NoResult hasFailed={hasFailed} />}
            {problems.length > 0 && (
              <div className="footprint-problem">
                <p>Not counted yet:</p>
                <ProblemList problems={problems} />
              </div>
            )}
            <div className="footprint-actions">
              <a
                className={`button button-${reading?.estimate ? "primary" : "outline"}`}
                href={`#${formTitleId}`}
                onClick={(event) => {
                  event.preventDefault();
                  props.onContinue();
                }}
              >
                Continue to your message
              </a>
              {reading?.estimate && (
                <button type="button" className="text-button" onClick={props.onRemove}>
                  Remove the estimate
                </button>
              )}
            </div>
          </div>
          {props.details}
        </div>
        <div className="footprint-about">
          {props.sources}
          <p className="footprint-limits">
            This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
            water, buildings and investments, so most people and companies emit more. Cutting comes before offsetting.
            Neither this estimate nor buying credits makes anyone carbon neutral.{" "}
            <a href={FOOTPRINT_PATH}>How we estimate</a>
          </p>
        </div>
        {/* Orca reads all of it only with both attributes. */}
        <p className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
          {props.announcement}
        </p>
      </div>
    </details>
  );
}

function NoResult({ hasFailed }: { hasFailed: boolean }) {
  if (hasFailed) {
    return (
      <p className="footprint-empty">
        The estimate cannot be shown at the moment. You can still send your message: we compute the estimate from what
        you entered.
      </p>
    );
  }
  return (
    <noscript>
      <p className="footprint-empty">Your estimate is shown after you have sent the message.</p>
    </noscript>
  );
}

/** Links to the fields to correct. */
export function ProblemList({ problems }: { problems: readonly (readonly [name: string, sentence: string])[] }) {
  return (
    <ul>
      {problems.map(([name, sentence]) => (
        <li key={name}>
          <a
            href={`#${name}`}
            onClick={(event) => {
              event.preventDefault();
              focusField(name);
            }}
          >
            {sentence}
          </a>
        </li>
      ))}
    </ul>
  );
}

function WordsFor({ words }: { words: Words }) {
  if (typeof words === "string") return words;
  return (
    <>
      <span className="for-household">{words[0]}</span> <span className="for-organisation">{words[1]}</span>
    </>
  );
}

/** Buttons for the numbers that an amount such as "1.500" can mean. */
function Meanings({ texts, onChoose }: { texts: readonly string[]; onChoose(text: string): void }) {
  if (texts.length === 0) return null;
  return (
    <p className="meanings">
      {texts.map((text) => (
        <button key={text} type="button" className="suggestion" data-fact="amount" onClick={() => onChoose(text)}>
          {`Use ${text}`}
        </button>
      ))}
    </p>
  );
}

function optionsOf(field: string): { code: string; name: string }[] | undefined {
  const options = field === "carUnit" ? CAR_UNITS : CHOICES[field as keyof typeof CHOICES]?.options;
  return options?.map((code) => ({
    code,
    name: field === "carUnit" ? optionLabel(code) : capitalised(optionLabel(code)),
  }));
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Enter after a number moves to the next field, as "Next" on a phone's keyboard does. It must not send the message. */
function nextOnEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
  event.preventDefault();
  const fields = [...event.currentTarget.querySelectorAll<HTMLElement>("input:not([type=radio]), select, summary")];
  const visible = fields.filter((field) => field.checkVisibility());
  const next = visible[visible.indexOf(event.target) + 1];
  (next ?? document.querySelector<HTMLElement>(".footprint-actions a"))?.focus();
}
