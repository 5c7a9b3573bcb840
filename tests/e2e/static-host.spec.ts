import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { SCREENS } from "../support/screens.ts";

/** What any static host does, and no more: a file, a folder's index, or 404.html. */
let host: Server;
let url = "";

test.beforeAll(async () => {
  host = createServer(async (request, response) => {
    const path = join("dist", decodeURI(new URL(request.url ?? "/", "http://host").pathname));
    const isFolder = (await stat(path).catch(() => null))?.isDirectory();
    if (isFolder && !request.url?.endsWith("/")) return response.writeHead(301, { location: `${request.url}/` }).end();
    const file = await readFile(isFolder ? join(path, "index.html") : path).catch(() => null);
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
    for (const path of paths) {
      await page.goto(url + path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    }
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
