import { type KeyboardEvent, type ReactNode, useState } from "react";
import { CHOICES, type FootprintField, nameOf, optionLabel, UNITS } from "../../contract/footprint/fields.ts";
import type { Price } from "../../contract/footprint/words.ts";
import { capitalised } from "../../contract/text.ts";
import { useLoaded } from "../use-loaded.ts";
import { type Country, countryOptions } from "./countries.ts";
import { Field, type FieldState, FOOTPRINT_TITLE_ID, FORM_HEAD_ID, FORM_ID, focusOn, NEXT_ID } from "./field.tsx";
import { type Act, type FormState, hasAmounts, type Name, START_VALUES } from "./form-state.ts";
import type { FormView } from "./form-view.ts";
import { ENERGY, FOLDED, FOOTPRINT_PATH, GROUPS, type Group } from "./questions.ts";

export const FRAGMENT = "footprint";

export type ResultModule = typeof import("./estimate-result.tsx");

/** Loads while the part is open, and for an estimate that will be sent or was sent. */
export function useEstimator({ isOpen, values, receipt }: FormState) {
  const isNeeded = isOpen || hasAmounts(values) || Boolean(receipt?.estimate);
  return useLoaded("The footprint estimate", isNeeded ? () => import("./estimate-result.tsx") : null, isOpen);
}

interface EstimatePartProps {
  state: FormState;
  view: FormView;
  estimator: ReturnType<typeof useEstimator>;
  price: Price | null;
  countries: readonly Country[];
  fieldOf(name: Name): FieldState;
  act: Act;
}

/** Its inputs are fields of the contact form. Without script, the server computes the estimate. */
export function EstimatePart({ state, view, estimator, price, countries, fieldOf, act }: EstimatePartProps) {
  const { values, example, isOpen } = state;
  const { estimate } = view.shown;
  const { result: parts, hasFailed } = estimator;
  return (
    <details
      className="footprint"
      open={isOpen}
      onToggle={({ currentTarget }) => act({ type: "toggled", isOpen: currentTarget.open })}
    >
      <summary id={FOOTPRINT_TITLE_ID}>
        <h2>Estimate your footprint</h2>
        <span className="note">Optional: send an estimate along with your message.</span>
      </summary>
      <div className="footprint-body" id={FRAGMENT}>
        <div>
          <h3>About how much CO₂e do you emit in a year?</h3>
          <p>Enter what you know, and leave the rest empty. Nothing leaves this page until you press Submit.</p>
        </div>
        <div className="footprint-result">
          {parts ? (
            <parts.Result estimate={estimate} example={example} />
          ) : (
            <noscript>
              <p>Your estimate is shown after you have sent the message.</p>
            </noscript>
          )}
          {hasFailed && (
            <p>
              The estimate cannot be shown at the moment. You can still send your message: we compute the estimate from
              what you entered.
            </p>
          )}
        </div>
        <div className="footprint-examples">
          {parts && <parts.Examples example={example} values={values} act={act} />}
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it handles a key of the fields inside */}
        <div className="footprint-inputs" onKeyDown={nextOnEnter}>
          {GROUPS.map((group) => (
            <QuestionGroup key={group.legend} group={group} fieldOf={fieldOf}>
              {group === ENERGY && (
                // The message's country once more, beside the question that it decides. Only scripts can share it.
                <Field
                  {...fieldOf("country")}
                  id="electricity-country"
                  name={undefined}
                  label="Where is the electricity used?"
                  options={countryOptions(isOpen ? countries : [], values.country)}
                />
              )}
            </QuestionGroup>
          ))}
          {FOLDED.map((fold) => (
            <FoldedGroups key={fold.title} {...fold} fieldOf={fieldOf} />
          ))}
        </div>
        <div className="footprint-notes">
          {/* In a narrow window, instead of the one in the result, which would cover questions. */}
          {parts && <parts.EstimateRuler estimate={estimate} isFinal={false} />}
          {parts && estimate && <parts.Notes estimate={estimate} price={price} />}
        </div>
        <div className="actions">
          <a
            id={NEXT_ID}
            className="button button-outline"
            href={`#${FORM_HEAD_ID}`}
            onClick={(event) => {
              // Without an entry of its own in the history: a receipt belongs to the page's entry.
              event.preventDefault();
              focusOn(FORM_HEAD_ID);
            }}
          >
            Send it with a message
          </a>
        </div>
        <p className="note">
          This is an estimate, not a certificate. It leaves out food, goods and services, the supply chain, waste,
          water, buildings and investments, so most people and companies emit more.{" "}
          <a href={FOOTPRINT_PATH}>How we estimate</a>
        </p>
      </div>
    </details>
  );
}

/** Open if they contain input or an error, whoever wrote it, and then until the visitor closes them. */
function FoldedGroups({ title, note, groups, fieldOf }: (typeof FOLDED)[number] & Pick<EstimatePartProps, "fieldOf">) {
  const [isOpen, setIsOpen] = useState(false);
  const fields = groups.flatMap(({ labels }) => Object.keys(labels) as FootprintField[]);
  const isNeeded = fields
    .map((field) => fieldOf(nameOf(field)))
    .some(({ name, value, error }) => error || value !== START_VALUES[name]);
  return (
    <details
      className="footprint-more"
      open={isOpen || isNeeded}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>
        <span>{title}</span> <span className="note">{note}</span>
      </summary>
      {groups.map((group) => (
        <QuestionGroup key={group.legend} group={group} fieldOf={fieldOf} />
      ))}
    </details>
  );
}

interface QuestionGroupProps extends Pick<EstimatePartProps, "fieldOf"> {
  group: Group;
  children?: ReactNode;
}

function QuestionGroup({ group, fieldOf, children }: QuestionGroupProps) {
  const { legend, note, labels } = group;
  const fields = Object.keys(labels) as FootprintField[];
  const noteId = `${fields[0]}-note`;
  return (
    <fieldset className="footprint-group" aria-describedby={noteId}>
      <legend>{legend}</legend>
      <p className="note" id={noteId}>
        {note}
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
      {children}
    </fieldset>
  );
}

function controlOf(field: FootprintField) {
  const units = UNITS[field as keyof typeof UNITS];
  const codes = units ?? CHOICES[field as keyof typeof CHOICES]?.options;
  if (!codes)
    return { inputMode: field === "people" ? "numeric" : "decimal", maxLength: 40, enterKeyHint: "next" } as const;
  // Units are not capitalised.
  return { options: codes.map((code) => ({ code, name: units ? optionLabel(code) : capitalised(optionLabel(code)) })) };
}

/** Enter after a number moves to the next field, as "Next" on a phone's keyboard does. It must not send the message. */
function nextOnEnter(event: KeyboardEvent<HTMLElement>): void {
  // The first Enter of an input method, such as for full-width digits, only ends the composition.
  const isComposing = event.nativeEvent.isComposing;
  if (event.key !== "Enter" || isComposing || !(event.target instanceof HTMLInputElement)) return;
  event.preventDefault();
  const fields = [...event.currentTarget.querySelectorAll<HTMLElement>("input, select, summary")];
  const visible = fields.filter((field) => field.checkVisibility());
  const next = visible[visible.indexOf(event.target) + 1];
  (next ?? document.getElementById(NEXT_ID))?.focus();
}
