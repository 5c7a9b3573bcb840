import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { fillForm, submit } from "../../support/contact.ts";
import { recordShifts, shiftsOf } from "../../support/layout-shifts.ts";
import { openPort } from "../../support/raw-http.ts";
import { startServer } from "../../support/run-server.ts";
import { COMING_SOON_PATH } from "../../support/screens.ts";
import { startStaticHost } from "../../support/static-host.ts";

let host: Awaited<ReturnType<typeof startStaticHost>>;
test.beforeAll(async () => {
  host = await startStaticHost();
});
test.afterAll(() => host.close());

test("the form on a static host sends to API_BASE on another origin, if that allows it", async ({ page }) => {
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
  }
});

test("nothing moves while a page arrives in parts", async ({ page }) => {
  const slow = createServer(async (request, response) => {
    // The browser may still ask for a file when the test is over and the host stops.
    const answer = await fetch(host.url + request.url).catch(() => null);
    if (!answer) return void response.destroy();
    const html = answer.headers.get("content-type")?.includes("html") ? await answer.text() : "";
    response.setHeader("content-type", "text/html");
    const cuts = ["</header>", "</h1>", "<footer", "</footer>"].map((text) => html.indexOf(text)).concat(html.length);
    for (const [index, cut] of cuts.entries()) {
      response.write(html.slice(cuts[index - 1] ?? 0, cut));
      await setTimeout(150);
    }
    response.end();
  });
  try {
    const port = await openPort(slow);
    await recordShifts(page);
    for (const path of ["/", COMING_SOON_PATH, "/contact", "/privacy"]) {
      await page.goto(`http://127.0.0.1:${port}${path}`);
      expect(await shiftsOf(page), path).toEqual([]);
    }
  } finally {
    slow.close();
    slow.closeAllConnections();
  }
});
