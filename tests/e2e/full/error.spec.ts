import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { findFreePort, type RunningProgram, startProgram } from "../../../scripts/run-server.ts";

/** The development server hands out each module by itself, so that one of them can be made to fail. */
test.describe("an unexpected rendering failure", () => {
  // One after the other, so that one development server serves both.
  test.describe.configure({ mode: "default" });

  let dev: RunningProgram;
  let url = "";
  let dataDir = "";

  test.beforeAll(async () => {
    const port = await findFreePort();
    dataDir = await mkdtemp(join(tmpdir(), "site-dev-"));
    url = `http://localhost:${port}`;
    dev = await startProgram(["node", "scripts/dev.ts"], { env: { PORT: String(port), DATA_DIR: dataDir }, port });
  });

  test.afterAll(async () => {
    await dev.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("shows the error screen with the error's message and a way home", async ({ page }) => {
    await page.route("**/app/contact/contact-form.tsx*", (route) =>
      route.fulfill({
        contentType: "text/javascript",
        body: 'export const FORM_ROOT_ID = "contact-form"; export function ContactForm() { throw new Error("Made to fail"); }',
      }),
    );
    await page.goto(`${url}/contact`);
    await expect(page.getByRole("heading", { name: "Unexpected Application Error!" })).toBeVisible();
    await expect(page.getByText("Made to fail", { exact: true })).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText("at ContactForm");
    await page.getByRole("link", { name: "Back to the home page" }).click();
    await expect(page).toHaveURL(`${url}/`);
  });

  test("pages of the development server are the same, and the form reaches the same API", async ({ page }) => {
    await page.goto(`${url}/contact`);
    await page.locator("option[value=GB]").waitFor({ state: "attached" });
    const answer = await page.request.post(`${url}/send-email`, {
      data: { name: "A", email: "a@example.com", phone: "1", country: "", message: "From development" },
    });
    expect(await answer.json()).toMatchObject({ success: true });
  });
});
