import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { FormAlert } from "./form-alert.tsx";
import { type FormState, startState } from "./form-state.ts";

test("progress and an outcome appear in an atomic live region: assertive for a failure, otherwise polite", () => {
  const regionOf = (phase: FormState["phase"]) => {
    const state = { ...startState({ answer: null, reportHtml: "" }), phase };
    const html = renderToStaticMarkup(<FormAlert state={state} answerWithin="" hasReport={false} />);
    return /<div class="alerts" ([^>]*)><(?!\/)/.exec(html)?.[1];
  };
  const [polite, assertive] = ["polite", "assertive"].map((live) => `aria-live="${live}" aria-atomic="true"`);
  expect(regionOf({ kind: "sending" })).toBe(polite);
  expect(regionOf({ kind: "sent", reference: "", totalKg: null, keepsEdits: false })).toBe(polite);
  expect(regionOf({ kind: "failed", text: "" })).toBe(assertive);
  expect(regionOf({ kind: "broken", isOffline: true })).toBe(assertive);
});
