/** Frames of the scene as PNG, drawn by a real browser. */

import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { chromium, type Page, type Route } from "@playwright/test";

declare global {
  interface Window {
    frameAsPng?: (phase: number) => string;
  }
}

/** Any host will do: every request is answered from this folder and none leaves the machine. */
const origin = "http://film.invalid";

async function answer(route: Route): Promise<void> {
  const name = new URL(route.request().url()).pathname.slice(1);
  if (!/^[a-z-]+\.(html|ts)$/.test(name)) return route.fulfill({ status: 404 });
  const source = await readFile(new URL(name, import.meta.url), "utf8");
  if (name.endsWith(".html")) return route.fulfill({ contentType: "text/html", body: source });
  return route.fulfill({ contentType: "text/javascript", body: stripTypeScriptTypes(source) });
}

async function framePng(page: Page, phase: number): Promise<Buffer> {
  const dataUrl = await page.evaluate((at) => window.frameAsPng?.(at) ?? "", phase);
  const comma = dataUrl.indexOf(",");
  if (comma < 0) throw new Error("The scene gave no picture.");
  return Buffer.from(dataUrl.slice(comma + 1), "base64");
}

/**
 * Draws the given phases in order and hands each PNG to `onFrame`. The rasteriser is the software one, so that the
 * pictures do not depend on the machine's graphics card. Rejects when the scene reports an error.
 */
export async function drawFrames(
  browserPath: string,
  phases: readonly number[],
  onFrame: (png: Buffer, index: number) => Promise<void>,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: [
      "--no-sandbox",
      "--no-first-run",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-gpu",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
    ],
  });
  try {
    const page = await browser.newPage();
    const failures: string[] = [];
    page.on("pageerror", (error) => failures.push(error.message));
    await page.route(`${origin}/**`, answer);
    await page.goto(`${origin}/scene.html`);
    for (const [index, phase] of phases.entries()) {
      if (failures.length > 0) throw new Error(`The scene failed: ${failures.join("; ")}`);
      await onFrame(await framePng(page, phase), index);
    }
  } finally {
    await browser.close();
  }
}
