// What the page keeps of the visitor's input outside of React's state: in the fields themselves, and in the history
// entry of the page.
import type { Receipt } from "../../contract/send-email-answer.ts";
import { type Name, onlyNames, START_VALUES } from "./form-state.ts";

/** The fields of the form, whoever wrote them: the visitor, the browser, a program or the server. */
export function readFields(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

type Kept = { values?: Readonly<Record<string, string>>; receipt?: Receipt | null; isFolded?: boolean };

/**
 * After a reload or a step back, not every browser restores the fields: Chromium leaves out those that React controls,
 * no browser can restore the country before the list has loaded, and nothing is left of a form that was replaced by an
 * error message. So the history entry keeps the values, and the receipt of the last message that was sent.
 */
export function remember(kept: Kept): void {
  history.replaceState({ ...history.state, ...kept }, "");
}

export type Seed = ReturnType<typeof readSeed>;

export function readSeed(root: HTMLElement) {
  const form = root.querySelector("form");
  const typed = form ? onlyNames(readFields(form)) : {};
  const { values: kept, receipt: known = null, isFolded = false }: Kept = Object(history.state);
  // A link to the page's own address keeps the history entry, but is a new visit, which shows the empty form.
  const isNewVisit = performance
    .getEntriesByType("navigation")
    .some((entry) => "type" in entry && entry.type === "navigate");
  const receipt = isNewVisit ? null : known;
  if (receipt !== known) remember({ receipt });
  const filled = Object.entries(typed).filter(([name, text]) => text !== START_VALUES[name as Name]);
  const values = { ...typed, ...onlyNames({ ...kept }), ...Object.fromEntries(filled) };
  return { values, isOpen: root.querySelector(".footprint[open]") !== null, receipt, isFolded };
}
