import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expect } from "@playwright/test";
import { openPort } from "../../support/raw-http.ts";
import { collectTrouble, test } from "../../support/site.ts";

// A violation is a console error, which fails every test in the other files.
test.describe("foreign content in a page", () => {
  test.use({ expectedTrouble: /Content Security Policy|csp|foreign request/i });

  const INTRUSIONS = {
    "script-src": "Object.assign(document.createElement('script'), { text: 'self.hasRun = true' })",
    "img-src": "Object.assign(new Image(), { src: 'https://evil.example/x.png' })",
  };
  for (const [directive, element] of Object.entries(INTRUSIONS)) {
    test(`is blocked, and the tests detect it: ${directive}`, async ({ page, site }) => {
      const trouble = collectTrouble(page, site.url);
      await page.goto("/contact");
      await page.evaluate(`void document.body.append(${element})`);
      const violation = new RegExp(`violates the following Content Security Policy directive.+${directive} `);
      await expect.poll(() => trouble.join("\n")).toMatch(violation);
      expect(await page.evaluate("self.hasRun")).toBeUndefined();
    });
  }
});

test.describe("a film from another host in the settings", () => {
  // A page that a test has changed has no origin, so it needs permission to connect to this machine.
  test.use({ expectedTrouble: /foreign request/, permissions: ["local-network-access"] });

  test("plays under the policy, even if that host sends no Cross-Origin-Resource-Policy", async ({ page }) => {
    const film = readdirSync("dist/media").find((name) => name.includes("h264")) ?? "";
    const host = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "video/mp4" }).end(readFileSync(`dist/media/${film}`));
    });
    const origin = `http://127.0.0.1:${await openPort(host)}`;
    await page.route("/", async (route) => {
      const response = await route.fetch();
      const { "content-security-policy": policy = "", ...headers } = response.headers();
      headers["content-security-policy"] = policy.replace("media-src 'self'", `media-src 'self' ${origin}`);
      const body = (await response.text()).replaceAll(/\/media\/[^"]+\.mp4/g, `${origin}/film.mp4`);
      await route.fulfill({ response, headers, body });
    });
    await page.goto("/");
    const video = page.locator("#film");
    await expect.poll(() => video.evaluate(({ currentTime }: HTMLVideoElement) => currentTime)).toBeGreaterThan(0);
    expect(await video.evaluate(({ currentSrc }: HTMLVideoElement) => currentSrc)).toBe(`${origin}/film.mp4`);
    await page.close();
    host.close();
    host.closeAllConnections();
  });
});
