import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { startServer } from "../../../scripts/run-server.ts";
import { recordShifts, shiftsOf } from "../../support/layout-shifts.ts";
import { openPort } from "../../support/raw-http.ts";
import { COMING_SOON_PATH } from "../../support/screens.ts";
import { startStaticHost } from "../../support/static-host.ts";

let host: Awaited<ReturnType<typeof startStaticHost>>;
test.beforeAll(async () => {
  host = await startStaticHost();
});
test.afterAll(() => host.close());

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
    await page.goto(`${host.url.replace("127.0.0.1", "localhost")}${COMING_SOON_PATH}`);
    await expect(send()).rejects.toThrow("Failed to fetch");
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
