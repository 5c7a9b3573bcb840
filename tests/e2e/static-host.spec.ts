import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startServer } from "../../scripts/run-server.ts";
import { parseHeadersFile } from "../support/headers-file.ts";
import { SCREENS } from "../support/screens.ts";
import { collectViolations } from "../support/violations.ts";

/** What any static host does, and no more: a file, a folder's index, or 404.html, with the headers of `_headers`. */
let host: Server;
let url = "";

test.beforeAll(async () => {
  const headersFor = parseHeadersFile(await readFile("dist/_headers", "utf8"));
  host = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const path = join("dist", decodeURI(pathname));
    const isFolder = (await stat(path).catch(() => null))?.isDirectory();
    if (isFolder && !request.url?.endsWith("/")) return response.writeHead(301, { location: `${request.url}/` }).end();
    const file = await readFile(isFolder ? join(path, "index.html") : path).catch(() => null);
    response.setHeaders(new Map(Object.entries(headersFor(pathname))));
    if (!file) return response.writeHead(404, { "content-type": "text/html" }).end(await readFile("dist/404.html"));
    const type = { html: "text/html", js: "text/javascript", svg: "image/svg+xml", json: "application/json" };
    const extension = (isFolder ? "html" : path.split(".").at(-1)) as keyof typeof type;
    return response.writeHead(200, { "content-type": type[extension] ?? "application/octet-stream" }).end(file);
  }).listen(0, "127.0.0.1");
  await once(host, "listening");
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
});

test.afterAll(() => {
  host.close();
  host.closeAllConnections();
});

for (const { heading, paths } of SCREENS) {
  test(`a plain static host serves ${paths.join(", ")}`, async ({ page }) => {
    const violations = await collectViolations(page);
    for (const path of paths) {
      const response = await page.goto(url + path);
      expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    }
    expect(violations).toEqual([]);
  });
}

test("a plain static host shows Coming Soon for any other path", async ({ page }) => {
  await page.goto(`${url}/about`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Coming Soon");
});

test("a plain static host's contact form hydrates", async ({ page }) => {
  await page.goto(`${url}/contact/`);
  await expect(page.locator("option[value=GB]")).toBeAttached();
});

test("a page on a static host may send a message to an API on another origin, if that allows it", async ({ page }) => {
  const api = await startServer({ ALLOWED_ORIGINS: url });
  try {
    const send = () =>
      page.evaluate(async (to) => {
        const message = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "From afar" };
        const headers = { "content-type": "application/json" };
        const answer = await fetch(to, { method: "POST", headers, body: JSON.stringify(message) });
        return (await answer.json()).success;
      }, `${api.url}/send-email`);
    // This page has no policy of its own, so that nothing but the API's headers can be in the way.
    await page.goto(`${url}/about`);
    expect(await send()).toBe(true);
    await page.goto(`${url.replace("127.0.0.1", "localhost")}/about`);
    await expect(send()).rejects.toThrow("Failed to fetch");
  } finally {
    await api.stop();
  }
});
