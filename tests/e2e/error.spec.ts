import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";

/** The development server hands out each module by itself, so that one of them can be made to fail. */
test.describe("an unexpected rendering failure", () => {
  let dev: ChildProcess;
  let url = "";
  let dataDir = "";

  test.beforeAll(async () => {
    const port = await freePort();
    dataDir = await mkdtemp(join(tmpdir(), "site-dev-"));
    url = `http://localhost:${port}`;
    dev = spawn(process.execPath, ["scripts/dev.ts"], {
      env: { PATH: process.env.PATH, PORT: String(port), DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise<void>((resolve) => {
      dev.stdout?.on("data", (chunk) => String(chunk).includes("Development server on") && resolve());
    });
  });

  test.afterAll(async () => {
    dev.kill("SIGTERM");
    if (dev.exitCode === null) await once(dev, "exit");
    await rm(dataDir, { recursive: true, force: true });
  });

  test("shows the error screen with the error's message and a way home", async ({ page }) => {
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
  });

  test("pages of the development server are the same, and the form reaches the same API", async ({ page }) => {
    await page.goto(`${url}/contact`);
    await page.locator("option[value=GB]").waitFor({ state: "attached" });
    const answer = await page.request.post(`${url}/send-email`, {
      data: { name: "A", email: "a@example.com", phone: "1", country: "", message: "From development" },
    });
    expect(await answer.json()).toMatchObject({ success: true });
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as import("node:net").AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
