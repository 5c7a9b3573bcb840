import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { AnsweredPost } from "../../contract/send-email-answer.ts";
import { ContactForm } from "./contact-form.tsx";

const SETTINGS = { apiBase: "", countriesUrl: "", price: null, answerWithin: "", assurance: "", brand: "", email: "" };
const RECEIPT = { reference: "BC-1", sentAt: "", address: "", totalKg: null, estimate: null };

test("progress and an outcome appear in an atomic live region: assertive for a failure, otherwise polite", () => {
  const regionOf = (answered: AnsweredPost) => {
    const html = renderToStaticMarkup(<ContactForm settings={SETTINGS} answered={answered} />);
    return /<div class="live" ([^>]*)><(?!\/)/.exec(html)?.[1];
  };
  const [polite, assertive] = ["polite", "assertive"].map((live) => `aria-live="${live}" aria-atomic="true"`);
  expect(regionOf({ kind: "sent", receipt: RECEIPT })).toBe(polite);
  expect(regionOf({ kind: "refused", error: "Try later.", errors: {}, values: {} })).toBe(assertive);
});
