import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { SENT_ALERT_HIDDEN, SENT_ALERT_SHOWN } from "../../contract/send-email-answer.ts";
import { FormAlert } from "./form-alert.tsx";
import { type FormState, START } from "./form-state.ts";

test("without script, our server shows the hidden success alert; on another host the alert is not hidden", () => {
  const htmlFor = (apiBase: string) => renderToStaticMarkup(<FormAlert state={START} apiBase={apiBase} />);
  expect(htmlFor("")).toContain(`<div ${SENT_ALERT_HIDDEN}`);
  expect(htmlFor("https://api.example")).toContain(`<div ${SENT_ALERT_SHOWN}`);
});

test("an outcome appears in an atomic live region: polite for a success, assertive for a failure", () => {
  const regionOf = (state: FormState) =>
    /<div class="alerts" ([^>]*)><div class="alert/.exec(
      renderToStaticMarkup(<FormAlert state={state} apiBase="" />),
    )?.[1];
  const sent = { phase: "sent", reference: "", totalKg: null, keepsEdits: false, hasReport: false } as const;
  expect(regionOf(sent)).toBe('aria-live="polite" aria-atomic="true"');
  expect(regionOf({ phase: "failed", error: "", fields: {}, edited: [] })).toBe(
    'aria-live="assertive" aria-atomic="true"',
  );
  expect(regionOf({ phase: "broken" })).toBe('aria-live="assertive" aria-atomic="true"');
});
