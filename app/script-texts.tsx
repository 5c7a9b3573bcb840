import { renderToStaticMarkup } from "react-dom/server";
import { FIELD_NAMES } from "../contract/contact-message.ts";
import type { ElectricityTable } from "../contract/footprint/arithmetic.ts";
import { AMOUNTS, FIELD_PREFIX } from "../contract/footprint/fields.ts";
import { ErrorMessage, ReloadButton } from "./components/error-message.tsx";
import { PrintButton } from "./contact/contact-form.tsx";
import { EmailSuggestion } from "./contact/email-suggestion.tsx";
import { FootprintPart } from "./contact/footprint-part.tsx";
import { CopyReference, ErrorSummary, FormAlert } from "./contact/form-alert.tsx";
import { FormHead } from "./contact/form-head.tsx";
import { type FormState, problemsIn, START_VALUES, startState, type Values } from "./contact/form-state.ts";
import type { Estimator } from "./contact/loading.ts";
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
  return (
    <>
      {phases.map((phase) => (
        <FormAlert
          key={JSON.stringify(phase)}
          state={{ ...start, phase }}
          answerWithin={site.answerWithin ?? ""}
          hasReport
        />
      ))}
      <FormAlert
        state={{
          ...start,
          phase: { kind: "sent", reference: "0", totalKg: null, keepsEdits: false },
          submitted: { email: "name@example.com" },
        }}
        answerWithin={site.answerWithin ?? ""}
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
      {["ada@gmial.com", "ada@example"].map((typed) => (
        <EmailSuggestion key={typed} typed={typed} onAccept={() => {}} />
      ))}
      {[1, 2].map((count) => (
        <FootprintPart
          key={count}
          open={[]}
          reading={count === 1 ? read(everyAmount("1.500")) : read(everyAmount("1"))}
          result={undefined}
          hasFailedToLoad
          problems={[["", ""] as [string, string], ["", ""] as [string, string]].slice(0, count)}
          announcement=""
          example={count === 1 ? "" : "student"}
          countries={[]}
          fieldOf={(name) => ({ name, value: "", onEdit: () => {}, onLeave: () => {} })}
          onToggle={() => {}}
          onContinue={() => {}}
          onUseExample={() => {}}
          onRemove={() => {}}
        />
      ))}
      <div>{show(read(START_VALUES), null, EXAMPLE).total}</div>
      <div>{show(read(everyAmount("1")), null, { ...EXAMPLE, example: "student" }).total}</div>
      <FormHead
        isEnclosed={false}
        example="student"
        reading={undefined}
        problems={[]}
        onEdit={() => {}}
        onRemove={() => {}}
      />
      <PrintButton />
      <ErrorMessage level="h2" detail="" email={site.contactEmail}>
        <ReloadButton />
      </ErrorMessage>
      {[[], [["", "Car: ?"] as [string, string]]].map((problems) => (
        <FormHead
          key={problems.length}
          isEnclosed
          example=""
          reading={read(everyAmount("1"))}
          problems={problems}
          onEdit={() => {}}
          onRemove={() => {}}
        />
      ))}
    </>
  );
}

const EXAMPLE = { example: "", onChoose: () => {} };

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
        const { total, details, sources } = show(reading, price, EXAMPLE);
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
