import { expect, test } from "@playwright/test";
import { fillForm, submit } from "../../support/contact.ts";
import { startServer } from "../../support/run-server.ts";
import { startStaticHost } from "../../support/static-host.ts";

test("the form on a static host sends to API_BASE on another origin, if that allows it", async ({ page }) => {
  const host = await startStaticHost();
  const api = await startServer({ ALLOWED_ORIGINS: host.url });
  try {
    // As if built with API_BASE. Without a policy, so that only the API's headers can block the request.
    await page.route("**/contact/", async (route) => {
      const page = await (await route.fetch()).text();
      const body = page.replace("&quot;apiBase&quot;:&quot;&quot;", `&quot;apiBase&quot;:&quot;${api.url}&quot;`);
      await route.fulfill({ contentType: "text/html", body });
    });
    // A page that a test has changed has no origin, so it needs permission to connect to this machine.
    await page.context().grantPermissions(["local-network-access"]);
    for (const [origin, outcome] of [
      [host.url, "Message sent successfully!"],
      [host.url.replace("127.0.0.1", "localhost"), "An error occurred while sending your message."],
    ]) {
      await page.goto(`${origin}/contact/`);
      await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
      await fillForm(page);
      await submit(page).click();
      await expect(page.getByText(String(outcome), { exact: true })).toBeVisible();
    }
  } finally {
    await api.stop();
    host.close();
  }
});
