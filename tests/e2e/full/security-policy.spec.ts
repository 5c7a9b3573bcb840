import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "@playwright/test";
import { collectTrouble, test } from "../../support/site.ts";
import { collectViolations } from "../../support/violations.ts";

// A violation is a console error, which fails every test in the other files.
test.describe("foreign content in a page", () => {
  test.use({ expectedTrouble: /Content Security Policy|ERR_BLOCKED_BY_CSP|csp|foreign request|EvalError/i });

  const INTRUSIONS: [what: string, violation: string, intrude: () => void][] = [
    ["a script written into it", "script-src-elem inline", () => addElement("script", { text: "self.hasRun = true" })],
    ["another site's script", "script-src-elem https://evil.example/x.js", () => addElement("script", { src: EVIL })],
    ["a style written into it", "style-src-elem inline", () => addElement("style", { textContent: "*{color:red}" })],
    ["another site's picture", "img-src https://evil.example/x.js", () => addElement("img", { src: EVIL })],
    ["another site's frame", "frame-src https://evil.example", () => addElement("iframe", { src: EVIL })],
    ["a handler in an attribute", "script-src-attr inline", () => document.body.setAttribute("onclick", "1")],
    ["another base address", "base-uri https://evil.example/x.js", () => addElement("base", { href: EVIL })],
    ["a call to another site", "connect-src https://evil.example/x.js", () => void fetch(EVIL).catch(() => {})],
    ["code from text", "script-src eval", () => void setTimeout(() => Function("self.hasRun = true")())],
  ];
  test("is blocked, and the tests detect it", async ({ page, site }) => {
    const violations = await collectViolations(page);
    const trouble = collectTrouble(page, site.url);
    await page.goto("/contact");
    for (const [what, violation, intrude] of INTRUSIONS) {
      await page.evaluate(
        `{ const EVIL = "https://evil.example/x.js";
           const addElement = (name, properties) => document.body.append(Object.assign(document.createElement(name), properties));
           try { (${intrude})() } catch {} }`,
      );
      await expect.poll(() => violations, { message: what }).toContain(violation);
      expect(await page.evaluate("self.hasRun"), what).toBeUndefined();
      await expect.poll(() => trouble.join("\n"), { message: what }).toContain("Content Security Policy");
      violations.length = trouble.length = 0;
    }
  });
});

// Declared for the functions above, which run in the page.
declare const EVIL: string;
declare function addElement(name: string, properties: Record<string, string>): void;

test.describe("a film from another host in the settings", () => {
  // A page that a test has changed has no origin, so it needs permission to connect to this machine.
  test.use({ expectedTrouble: /foreign request/, permissions: ["local-network-access"] });

  test("plays under the policy, even if that host sends no Cross-Origin-Resource-Policy", async ({ page }) => {
    const film = readdirSync("dist/media").find((name) => name.includes("h264")) ?? "";
    const host = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "video/mp4" }).end(readFileSync(`dist/media/${film}`));
    }).listen(0, "127.0.0.1");
    await once(host, "listening");
    const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
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
