import { expect, test } from "@playwright/test";
import { startServer } from "../../../scripts/run-server.ts";
import { COMING_SOON_PATH, SCREENS } from "../../support/screens.ts";
import { collectTrouble } from "../../support/site.ts";
import { startStaticHost } from "../../support/static-host.ts";

let host: Awaited<ReturnType<typeof startStaticHost>>;
test.beforeAll(async () => {
  host = await startStaticHost();
});
test.afterAll(() => host.close());

test("pages on a plain static host do not violate their policy, and the contact form hydrates", async ({ page }) => {
  const trouble = collectTrouble(page, host.url);
  for (const { heading, paths } of SCREENS) {
    await page.goto(host.url + paths[0]);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    if (paths[0] === "/contact") await expect(page.locator("option[value=GB]")).toBeAttached();
  }
  expect(trouble).toEqual([]);
});

test("a page on a static host can send a message to an API on another origin that allows it", async ({ page }) => {
  const api = await startServer({ ALLOWED_ORIGINS: host.url });
  try {
    const send = () =>
      page.evaluate(async (to) => {
        const message = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "From afar" };
        const headers = { "content-type": "application/json" };
        const body = JSON.stringify({ ...message, footprint: { busKm: 1000 } });
        const answer = await fetch(to, { method: "POST", headers, body });
        const { success, footprint } = await answer.json();
        return { success, footprint };
      }, `${api.url}/send-email`);
    // This page has no policy of its own, so that only the API's headers can block the request.
    await page.goto(`${host.url}${COMING_SOON_PATH}`);
    expect(await send()).toEqual({ success: true, footprint: { totalKg: 128 } });
    await page.evaluate((action) => {
      const form = Object.assign(document.createElement("form"), { action, method: "post" });
      const fields = { name: "Ada", email: "ada@example.com", phone: "1", message: "By form", "footprint.busKm": "10" };
      for (const [name, value] of Object.entries(fields)) {
        form.append(Object.assign(document.createElement("input"), { name, value }));
      }
      document.body.append(form);
      form.submit();
    }, `${api.url}/send-email`);
    await page.waitForURL(/\/contact\/?\?reference=BC-\w{4}-\w{2}&code=[\w-]{16}#message-sent$/);
    expect(new URL(page.url()).origin).toBe(host.url);
    await page.goto(`${host.url}${COMING_SOON_PATH}`);
    await page.goto(`${host.url.replace("127.0.0.1", "localhost")}${COMING_SOON_PATH}`);
    await expect(send()).rejects.toThrow("Failed to fetch");
  } finally {
    await api.stop();
  }
});
