import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { readAnswer, SENT_ESTIMATE_ID } from "../contract/send-email-answer.ts";
import { ContactForm, FORM_ROOT_ID } from "./contact/contact-form.tsx";
import { readSeed, readValues, rememberValues } from "./contact/kept-values.ts";

const PAUSE_MS = 250;

const root = document.getElementById(FORM_ROOT_ID);
// A separate task, so that a slow phone can respond to its user between loading React and hydrating.
if (root) setTimeout(hydrate, 0, root);

function hydrate(root: HTMLElement): void {
  const { apiBase = "", countriesUrl = "", electricityUrl = "", answerWithin = "", email = "" } = root.dataset;
  const { price = "null", answer } = root.dataset;
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
  const form = (
    <ContactForm
      apiBase={apiBase}
      countriesUrl={countriesUrl}
      electricityUrl={electricityUrl}
      price={JSON.parse(price)}
      answerWithin={answerWithin}
      email={email}
      answer={answer ? readAnswer(JSON.parse(answer)) : null}
      reportHtml={document.getElementById(SENT_ESTIMATE_ID)?.firstElementChild?.innerHTML ?? ""}
      takeSeed={takeSeed}
    />
  );
  // As a transition, React hydrates in short tasks. An event on the form makes it finish at once.
  startTransition(() => {
    hydrateRoot(root, form);
  });
  const remember = () => {
    const form = root.querySelector("form");
    if (form) rememberValues(readValues(form));
  };
  // Chromium loses a state that is written while the page reloads, so typed text is stored after a short pause. Not with
  // every key: browsers limit how often a page may write its state.
  let pause = 0;
  const rememberSoon = () => {
    clearTimeout(pause);
    pause = window.setTimeout(remember, PAUSE_MS);
  };
  root.addEventListener("input", rememberSoon);
  // A button may fill or clear fields.
  root.addEventListener("click", rememberSoon);
  root.addEventListener("change", remember);
  addEventListener("pagehide", remember);
  // A link within the page creates a history entry that lacks the values.
  addEventListener("hashchange", remember);
}
