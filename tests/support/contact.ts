import type { Page } from "@playwright/test";
import { hold } from "./site.ts";

export const VISITOR = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  phone: "+44 20 7946 0000",
  country: "GB",
  message: "How do I offset a small office?\nThank you.",
};

/** Fills the form like a visitor, and chooses the country once the list has loaded. */
export async function fillForm(page: Page, visitor: Partial<typeof VISITOR> = VISITOR): Promise<void> {
  const { name = "", email = "", phone = "", country = "", message = "" } = visitor;
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Phone Number", { exact: true }).fill(phone);
  if (country) await page.getByLabel("Country", { exact: true }).selectOption(country);
  await page.getByLabel("Message", { exact: true }).fill(message);
}

/** The current values of the fields. */
export async function readForm(page: Page): Promise<typeof VISITOR> {
  return {
    name: await page.getByLabel("Name", { exact: true }).inputValue(),
    email: await page.getByLabel("Email", { exact: true }).inputValue(),
    phone: await page.getByLabel("Phone Number", { exact: true }).inputValue(),
    country: await page.getByLabel("Country", { exact: true }).inputValue(),
    message: await page.getByLabel("Message", { exact: true }).inputValue(),
  };
}

/** Opens the contact page and waits until its script has started. */
export async function openForm(page: Page): Promise<void> {
  await page.goto("/contact");
  await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
}

/** Delays the form's script until the returned function is called. */
export const holdScript = (page: Page) => hold(page, "**/assets/contact-*.js");
