import type { Page } from "@playwright/test";
import { hold } from "./site.ts";

export const VISITOR = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  phone: "+44 20 7946 0000",
  country: "GB",
  message: "How do I offset a small office?\nThank you.",
};

/** Fills the form as a visitor would; the country only once its list is there. */
export async function fillForm(page: Page, visitor: Partial<typeof VISITOR> = VISITOR): Promise<void> {
  const { name = "", email = "", phone = "", country = "", message = "" } = visitor;
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Phone Number", { exact: true }).fill(phone);
  if (country) await page.getByLabel("Country", { exact: true }).selectOption(country);
  await page.getByLabel("Message", { exact: true }).fill(message);
}

/** What the fields hold now. */
export async function readForm(page: Page): Promise<typeof VISITOR> {
  return {
    name: await page.getByLabel("Name", { exact: true }).inputValue(),
    email: await page.getByLabel("Email", { exact: true }).inputValue(),
    phone: await page.getByLabel("Phone Number", { exact: true }).inputValue(),
    country: await page.getByLabel("Country", { exact: true }).inputValue(),
    message: await page.getByLabel("Message", { exact: true }).inputValue(),
  };
}

/** Opens the contact page and waits until the form is the script's. */
export async function openForm(page: Page): Promise<void> {
  await page.goto("/contact");
  await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
}

/** Keeps the form's script from arriving until the function it gives is called. */
export const holdScript = (page: Page) => hold(page, "**/assets/contact-*.js");
