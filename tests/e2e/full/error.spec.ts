import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { findFreePort, startProgram } from "../../../scripts/run-server.ts";

/** Uses the development server, which serves each module separately, so that one module can be made to fail. */
test("an unexpected rendering failure shows the error screen with the error's message and a way home", async ({
  page,
}) => {
  const port = await findFreePort();
  const dataDir = await mkdtemp(join(tmpdir(), "site-dev-"));
  const url = `http://localhost:${port}`;
  const dev = await startProgram(["node", "scripts/dev.ts"], { env: { PORT: String(port), DATA_DIR: dataDir }, port });
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
    await rm(dataDir, { recursive: true, force: true });
  }
});
