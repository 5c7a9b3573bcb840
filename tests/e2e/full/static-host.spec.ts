import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { expect, test } from "@playwright/test";
import { CONTENT_TYPE } from "../../../contract/response-headers.ts";
import { fillForm, submit } from "../../support/contact.ts";
import { openPort } from "../../support/raw-http.ts";
import { startServer } from "../../support/run-server.ts";

test("the form on a static host sends to API_BASE on another origin, if that allows it", async ({ page }) => {
  let apiBase = "";
  const host = createServer(async (request, response) => {
    const path = `dist/site${request.url?.replace(/\/$/, "/index.html")}`;
    const file = await readFile(path).catch(() => "");
    response.setHeader("content-type", CONTENT_TYPE[extname(path)] ?? "");
    // As if built with API_BASE. Without a policy, so that only the API's headers can block the request.
    const setting = (address: string) => `&quot;apiBase&quot;:&quot;${address}&quot;`;
    response.end(path.endsWith(".html") ? String(file).replace(setting(""), setting(apiBase)) : file);
  });
  const port = await openPort(host);
  const api = await startServer({ ALLOWED_ORIGINS: `http://127.0.0.1:${port}` });
  apiBase = api.url;
  try {
    for (const [name, outcome] of [
      ["127.0.0.1", "Message sent successfully!"],
      ["localhost", "An error occurred while sending your message."],
    ] as const) {
      await page.goto(`http://${name}:${port}/contact/`);
      await page.locator("select[name=country] option:nth-child(2)").waitFor({ state: "attached" });
      await fillForm(page);
      await submit(page).click();
      await expect(page.getByText(outcome, { exact: true })).toBeVisible();
    }
  } finally {
    await api.stop();
    host.close();
    host.closeAllConnections();
  }
});
