import { expect, test } from "@playwright/test";
import { startProgram } from "../../../scripts/run-server.ts";

/** Uses the development server, which serves each module separately, so that one module can be made to fail. */
test("an unexpected rendering failure shows the error screen with its message and a way home", async ({ page }) => {
  const env = { PORT: "0", DATA_DIR: test.info().outputPath("data") };
  const dev = await startProgram(["node", "scripts/dev.ts"], { env });
  const url = `http://localhost:${dev.port}`;
  try {
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
  } finally {
    await dev.stop();
  }
});
