// What the page keeps of the visitor's input outside of React's state: in the fields themselves, and in the history
// entry of the page.
import { START_VALUES, type Values } from "./form-state.ts";
import type { Fold } from "./questions.ts";

/** The values of the form's fields, whoever wrote them: the visitor, the browser, a program or the server. */
export function readValues(form: HTMLFormElement): Values {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/**
 * After a reload or a step back, not every browser restores the fields: Chromium leaves out those that React controls,
 * no browser can restore the country before the list has loaded, and nothing is left of a form that was replaced by an
 * error message. So the history entry keeps the values.
 */
export function rememberValues(values: Values): void {
  history.replaceState(values, "");
}

export type Seed = ReturnType<typeof readSeed>;

/** What the form starts with: its fields as they are now, and the remembered values for those that are not filled in. */
export function readSeed(root: HTMLElement) {
  const form = root.querySelector("form");
  const typed = form ? readValues(form) : {};
  const isStart = (values: Values, name: string) => (values[name] ?? "") === START_VALUES[name];
  const values: Record<string, string> = { ...typed };
  for (const [name, value] of Object.entries({ country: root.dataset.country ?? "", ...Object(history.state) })) {
    if (name in START_VALUES && typeof value === "string" && isStart(typed, name)) values[name] = value;
  }
  const folds = [...root.querySelectorAll<HTMLDetailsElement>("details[data-fold][open]")];
  return { values, open: folds.map(({ dataset }) => dataset.fold as Fold) };
}
