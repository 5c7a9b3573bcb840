import { expect, test } from "@playwright/test";
import { startProgram } from "../../support/run-server.ts";

/** Uses the development server, which serves each module separately, so that one module can be made to fail. */
test("a rendering failure shows the error screen with its message; a reload keeps the input", async ({ page }) => {
  const env = { PORT: "0", DATA_DIR: test.info().outputPath("data") };
  const dev = await startProgram(["node", "scripts/dev.ts"], { env });
  const url = `http://localhost:${dev.port}`;
  try {
    // Fails once a message was typed.
    await page.route("**/app/contact/form-alert.tsx*", async (route) => {
      const response = await route.fetch();
      const code = await response.text();
      const failing = code.replace(
        "function EnclosedNote(",
        'function EnclosedNote(props) { if (document.querySelector("#message")?.value === "Hello") throw new Error("Made to fail"); return Working(props); }\nfunction Working(',
      );
      // Without the tag by which the browser would take it from its cache after the reload.
      await route.fulfill({ contentType: "text/javascript", headers: { "cache-control": "no-store" }, body: failing });
    });
    await page.goto(`${url}/contact`);
    await page.locator("option[value=GB]").waitFor({ state: "attached" });
    await page.getByLabel("Name", { exact: true }).fill("Ada");
    await page.getByLabel("Message", { exact: true }).fill("Hello");
    await expect(page.getByRole("heading", { name: "Unexpected Application Error!" })).toBeVisible();
    await expect(page.getByText("Made to fail", { exact: true })).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText("at EnclosedNote");
    await page.unroute("**/app/contact/form-alert.tsx*");
    await page.getByRole("button", { name: "Reload: what you typed is kept" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Ada");
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue("Hello");
  } finally {
    await dev.stop();
  }
});
