import { Fragment } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { FIELD_NAMES } from "../contract/contact-message.ts";
import { answerTimeInWords } from "../contract/duration.ts";
import type { ElectricityTable } from "../contract/footprint/arithmetic.ts";
import { AMOUNTS, FIELD_PREFIX } from "../contract/footprint/fields.ts";
import { ErrorMessage, ReloadButton } from "./components/error-message.tsx";
import { type Estimator, PrintButton } from "./contact/contact-form.tsx";
import { EmailField } from "./contact/field.tsx";
import { FootprintPart } from "./contact/footprint-part.tsx";
import { CopyReference, ErrorSummary, FormAlert } from "./contact/form-alert.tsx";
import { FormHead } from "./contact/form-head.tsx";
import {
  type FormState,
  type FormView,
  formView,
  problemsIn,
  START_VALUES,
  startState,
  type Values,
} from "./contact/form-state.ts";
import { site } from "./site.ts";

/** Every text of the contact page that only its script shows, for the review of the site's claims. */
export async function renderScriptTexts(): Promise<string> {
  // A dynamic import, as in the page; otherwise the figures would be in the same file as the form.
  const { createEstimator } = await import("./contact/estimate-result.tsx");
  const estimator = createEstimator(ELECTRICITY);
  return renderToStaticMarkup(
    <>
      <EveryOutcome {...estimator} />
      <EveryResult {...estimator} />
    </>,
  );
}

const ELECTRICITY: ElectricityTable = {
  name: "",
  world: [473, 2024],
  worldRange: [90, 700],
  countries: { GB: [168, 2026] },
};

function EveryOutcome({ read, show }: Estimator) {
  const start = startState({ answer: null, reportHtml: "" });
  const phases: FormState["phase"][] = [
    { kind: "sending" },
    { kind: "sent", reference: "0", totalKg: 0, keepsEdits: true },
    { kind: "failed", text: "Nothing you typed is lost." },
    { kind: "broken", isOffline: true },
    { kind: "broken", isOffline: false },
  ];
  const view = formView({ ...start, values: everyAmount("1") }, read);
  const problem: [string, string] = ["", ""];
  const views: FormView[] = [
    view,
    { ...view, problems: [problem] },
    { ...view, problems: [problem, problem] },
    { ...view, isEnclosed: false, example: "student" },
  ];
  return (
    <>
      {phases.map((phase) => (
        <FormAlert
          key={JSON.stringify(phase)}
          state={{ ...start, phase }}
          answerWithin={site.answerWithin ? answerTimeInWords(site.answerWithin) : ""}
          hasReport
        />
      ))}
      <FormAlert
        state={{
          ...start,
          phase: { kind: "sent", reference: "0", totalKg: null, keepsEdits: false },
          submitted: { email: "name@example.com" },
        }}
        answerWithin={site.answerWithin ? answerTimeInWords(site.answerWithin) : ""}
        hasReport={false}
      />
      <CopyReference reference="" />
      {["x", "1.500", "1 x"].flatMap((text) =>
        Object.values(read(everyAmount(text)).errors).map((error) => <p key={error}>{error}</p>),
      )}
      {["", "\0", "x".repeat(9999)].map((text) => (
        <ErrorSummary
          key={text}
          state={{
            ...start,
            errors: problemsIn(Object.fromEntries(FIELD_NAMES.map((field) => [field, text])), {}),
          }}
        />
      ))}
      <EmailField name="email" label="" value="ada@gmial.com" onEdit={() => {}} />
      {views.map((view) => (
        <Fragment key={view.example + view.problems.length}>
          <FootprintPart
            view={view}
            open={[]}
            result={undefined}
            hasFailedToLoad
            countries={[]}
            fieldOf={(name) => ({ name, value: "", onEdit: () => {} })}
            dispatch={() => {}}
            act={() => {}}
          />
          <FormHead view={view} act={() => {}} />
        </Fragment>
      ))}
      <div>{show(read(START_VALUES), null, "", () => {}).total}</div>
      <div>{show(read(everyAmount("1")), null, "student", () => {}).total}</div>
      <PrintButton />
      <ErrorMessage level="h2" detail="" email={site.contactEmail}>
        <ReloadButton />
      </ErrorMessage>
    </>
  );
}

function everyAmount(text: string): Values {
  return { ...START_VALUES, ...Object.fromEntries(Object.keys(AMOUNTS).map((field) => [FIELD_PREFIX + field, text])) };
}

/** Every sentence that the estimate can show. */
function EveryResult({ read, show, report }: Estimator) {
  const { pricePerTonne: price } = site;
  const withPrefix = (inputs: Values) =>
    Object.fromEntries(Object.entries(inputs).map(([field, text]) => [FIELD_PREFIX + field, text]));
  const dearer = { carFuel: "electric", shortFlightClass: "business", longFlightClass: "first", carUnit: "mi" };
  const variants = [
    {},
    { shortFlightKm: "100", for: "organisation", people: "40" },
    { shortFlightKm: "9000", people: "41", ...dearer },
  ].map(withPrefix);
  const places = ["", "GB", "AQ"];
  const single = Object.keys(AMOUNTS).flatMap((field) =>
    ["1,000 ", "9e9"].map((text) => withPrefix({ [field]: text })),
  );
  return [...single, everyAmount("1000")].flatMap((amounts) =>
    variants.flatMap((variant) =>
      places.map((country) => {
        const values = { ...START_VALUES, ...amounts, ...variant, country };
        const reading = read(values);
        const { total, details, sources } = show(reading, price, "", () => {});
        const html = report({ values, reference: "", date: new Date(0) }, price);
        return (
          <div key={JSON.stringify(values)}>
            {total}
            {details}
            {sources}
            {Object.entries({ ...reading.hints, ...reading.questions }).map(([name, hint]) => (
              <p key={name}>{hint}</p>
            ))}
            {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own text */}
            <div dangerouslySetInnerHTML={{ __html: html }} />
          </div>
        );
      }),
    ),
  );
}
