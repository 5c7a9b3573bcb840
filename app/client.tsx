import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import type { AnsweredPost } from "../contract/send-email-answer.ts";
import { ContactForm, FORM_ROOT_ID } from "./contact/contact-form.tsx";
import { readFields, readSeed, remember } from "./contact/kept-values.ts";

const PAUSE_MS = 250;

const root = document.getElementById(FORM_ROOT_ID);
// A separate task, so that a slow phone can respond to its user between loading React and hydrating.
if (root) setTimeout(hydrate, 0, root);

async function hydrate(root: HTMLElement): Promise<void> {
  const { settings = "", answered: answer = "null" } = root.dataset;
  const answered: AnsweredPost | null = JSON.parse(answer);
  const hasEstimate = answered?.kind === "sent" && answered.receipt.estimate !== null;
  const resultModule = hasEstimate ? await import("./contact/estimate-result.tsx").catch(() => null) : null;
  // Read before React touches the page, because React discards the fields if a translator has changed the texts around
  // them.
  let seed = readSeed(root);
  const readAgain = () => {
    seed = readSeed(root);
  };
  root.addEventListener("input", readAgain);
  const takeSeed = () => {
    root.removeEventListener("input", readAgain);
    return seed;
  };
  // As a transition, React hydrates in short tasks. An event on the form makes it finish at once.
  startTransition(() => {
    const form = (
      <ContactForm
        settings={JSON.parse(settings)}
        answered={answered}
        resultModule={resultModule}
        takeSeed={takeSeed}
      />
    );
    hydrateRoot(root, form);
  });
  const rememberFields = () => {
    const form = root.querySelector("form");
    if (form) remember({ values: readFields(form) });
  };
  // Chromium loses a state that is written while the page reloads, so typed text is stored after a short pause, and not
  // with every key, which browsers limit.
  let pause = 0;
  const rememberSoon = () => {
    clearTimeout(pause);
    pause = window.setTimeout(rememberFields, PAUSE_MS);
  };
  root.addEventListener("input", rememberSoon);
  // A button may fill or clear fields.
  root.addEventListener("click", rememberSoon);
  root.addEventListener("change", rememberFields);
  addEventListener("pagehide", rememberFields);
  // A link within the page creates a history entry that lacks the values.
  addEventListener("hashchange", rememberFields);
}
