import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "@playwright/test";
import type { FilmSource } from "../../../app/site.ts";
import type { BuildManifest } from "../../../contract/build-manifest.ts";
import { contentSecurityPolicy } from "../../../prerender/content-security-policy.ts";
import { type Build, loadBuild } from "../../../server/http/build-files.ts";
import { openApp } from "../../support/app.ts";
import { collectTrouble, test } from "../../support/site.ts";
import { collectViolations } from "../../support/violations.ts";

const manifest = JSON.parse(readFileSync("dist.json", "utf8")) as BuildManifest;

// What a policy refuses is an error on the console, which fails every test of the other files. Only what none of them
// opens is here.
test.describe("the failure page", () => {
  test.use({ expectedTrouble: /status (of )?500/ });

  test("breaks nothing of its policy", async ({ page }) => {
    const policy = manifest.files.find(({ file }) => file === "500.html")?.policy ?? "";
    const headers = { "content-type": "text/html", "content-security-policy": policy };
    await page.route("/", (route) => route.fulfill({ status: 500, headers, path: "dist/500.html" }));
    await page.goto("/", { waitUntil: "networkidle" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Unexpected Application Error!");
  });
});

test.describe("what does not belong to a page", () => {
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
  test("is refused, and seen by these tests", async ({ page, site }) => {
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

// Known to the functions above where they run: in the page.
declare const EVIL: string;
declare function addElement(name: string, properties: Record<string, string>): void;

test.describe("a film that the settings take from another host", () => {
  test.use({ expectedTrouble: /foreign request/ });

  test("plays under the policy, though that host says nothing of who may embed it", async ({ page }) => {
    const host = createServer((_request, response) => {
      const file = manifest.files.find(({ file }) => file.startsWith("media/") && file.includes("h264"))?.file;
      response.writeHead(200, { "content-type": "video/mp4" }).end(readFileSync(`dist/${file}`));
    }).listen(0, "127.0.0.1");
    await once(host, "listening");
    const film = { url: `http://127.0.0.1:${(host.address() as AddressInfo).port}/film.mp4`, type: "video/mp4" };
    const { app, close } = await openApp({}, {}, { build: buildWithFilm(film) });
    try {
      await page.goto(await app.listen({ port: 0, host: "127.0.0.1" }));
      const video = page.locator("#film");
      await expect.poll(() => video.evaluate(({ currentTime }: HTMLVideoElement) => currentTime)).toBeGreaterThan(0);
      expect(await video.evaluate(({ currentSrc }: HTMLVideoElement) => currentSrc)).toBe(film.url);
    } finally {
      await page.close();
      await close();
      host.close();
      host.closeAllConnections();
    }
  });
});

/** The build as it is, but for where the home page finds its film. */
function buildWithFilm(film: FilmSource): Build {
  const build = loadBuild("dist");
  const home = build.files.get("/");
  if (!home) throw new Error("The build has no home page.");
  const html = home.variants.identity.body.toString().replaceAll(/\/media\/[^"]+\.mp4/g, film.url);
  const body = Buffer.from(html);
  const textsOf = (element: RegExp) => [...html.matchAll(element)].map(([, text = ""]) => text);
  const inlineStyles = textsOf(/<style[^>]*>([\s\S]*?)<\/style>/g);
  const inlineScripts = textsOf(/<script[^>]*>([\s\S]*?)<\/script>/g);
  const fetches = [{ kind: "film", urls: [film.url] }] as const;
  const policy = contentSecurityPolicy({ inlineStyles, inlineScripts, fetches }, build.manifest.settings);
  const headers = [
    "content-type",
    home.contentType,
    "content-length",
    String(body.length),
    ...Object.entries({ ...build.headers, "content-security-policy": policy }).flat(),
  ];
  const variant = { ...home.variants.identity, body, headers };
  const variants = { identity: variant, br: variant, gzip: variant };
  return { ...build, files: new Map(build.files).set("/", { ...home, policy, variants }) };
}
