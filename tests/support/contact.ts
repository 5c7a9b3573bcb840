import type { Page } from "@playwright/test";
import { type ContactField, EMPTY_MESSAGE, FIELD_NAMES } from "../../contract/contact-message.ts";
import { messageWith } from "../store-contract/samples.ts";
import { hold } from "./site.ts";

export const EMPTY = EMPTY_MESSAGE;
export const VISITOR = messageWith({ message: "How do I offset a small office?\nThank you." });

export const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
/** A field of the estimate. */
export const amount = (page: Page, name: string) => page.locator(`[id="footprint.${name}"]`);
export const submit = (page: Page) => page.getByRole("button", { name: "Submit" });
/** A sent message leaves the form empty, and above it the receipt. */
export const sent = (page: Page) => page.getByText("Message sent successfully!", { exact: true });

/** Fills the form like a visitor, and chooses the country once the list has loaded. */
export async function fillForm(page: Page, visitor: Partial<typeof VISITOR> = VISITOR): Promise<void> {
  const { country, ...texts } = { ...EMPTY, ...visitor };
  for (const [name, text] of Object.entries(texts)) await page.locator(`#${name}`).fill(text);
  if (country) await field(page, "Country").selectOption(country);
}

/** The current values of the fields. Runs in the page. */
export const valuesOf = (ids: readonly ContactField[]) =>
  Object.fromEntries(ids.map((id) => [id, document.querySelector<HTMLInputElement>(`#${id}`)?.value]));

export const readForm = (page: Page) => page.evaluate(valuesOf, FIELD_NAMES);

/** Opens the contact page and waits until its script has started. */
export async function openForm(page: Page): Promise<void> {
  await page.goto("/contact");
  await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
}

/** Delays the form's script until the returned function is called. */
export const holdScript = (page: Page) => hold(page, "**/assets/contact-*.js");
