import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Builder, Key } from "selenium-webdriver";
import { findFreePort, type RunningProgram, startProgram } from "../run-server.ts";
import type { Driver, Engine, Modes } from "./engine.ts";

/** WebKitGTK in our own window on an invisible display, driven by WebKitWebDriver. */
export const WEBKIT: Engine = { name: "webkit", launch };

const VIEW = join(import.meta.dirname, "webkit-view.py");
/** Ends a program when the tests end for any reason. The view ends too when its display is gone. */
export const WITH_TESTS = ["setpriv", "--pdeathsig", "KILL"] as const;
const KEYS: Readonly<Record<string, string>> = {
  Delete: Key.DELETE,
  Enter: Key.ENTER,
  Escape: Key.ESCAPE,
  Tab: Key.TAB,
};

async function launch(modes: Modes): Promise<Driver> {
  // The next test run empties this folder, because a WebKit process may still write to its cache after the test.
  const folder = test.info().outputPath("webkit");
  await mkdir(folder, { recursive: true });
  const consoleFile = join(folder, "console.txt");
  const display = await startDisplay();
  let program: RunningProgram | undefined;
  const stop = async () => {
    await program?.stop();
    await display.stop();
  };
  try {
    const port = await findFreePort();
    program = await startProgram([...WITH_TESTS, "WebKitWebDriver", "-p", String(port)], {
      env: { HOME: folder, DISPLAY: display.name, GDK_BACKEND: "x11", LIBGL_ALWAYS_SOFTWARE: "1" },
      port,
    });
    const args = [VIEW, JSON.stringify({ modes, consoleFile })];
    const driver = await new Builder()
      .usingServer(program.url)
      .withCapabilities({
        browserName: "MiniBrowser",
        "webkitgtk:browserOptions": {
          // Debian's own Python, because only that one has GTK.
          binary: "/usr/bin/python3",
          args,
        },
      })
      .build();
    return {
      open: (url) => driver.get(url),
      reload: () => driver.navigate().refresh(),
      back: () => driver.navigate().back(),
      evaluate: (code) => driver.executeScript<string>(code),
      async resize(width, height) {
        await driver.manage().window().setRect({ x: 0, y: 0, width, height });
        // The page gets its new size later than the window.
        await expect.poll(() => driver.executeScript("return innerWidth")).toBe(width);
      },
      press: (x, y) => driver.actions().move({ x, y, duration: 0 }).click().perform(),
      keys: (...names) =>
        driver
          .actions()
          .sendKeys(...names.map((name) => KEYS[name] ?? name))
          .perform(),
      async trouble() {
        const lines = (await readFile(consoleFile, "utf8")).split("\n");
        // WebKitGTK is built without web app manifests. It reports a request that ends with the page as refused.
        const isExpected = (line: string) =>
          line.includes("Unrecognized Content-Security-Policy directive 'manifest-src'") ||
          /Fetch API cannot load http:\/\/127\.0\.0\.1:\S+ due to access control checks/.test(line);
        return lines.filter((line) => /CONSOLE (\S+ )?(ERROR|WARN)/.test(line) && !isExpected(line));
      },
      async close() {
        // A crashed view cannot be asked to quit.
        await driver.quit().catch(() => {});
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startDisplay(): Promise<{ name: string; stop(): Promise<void> }> {
  const [file, ...prefix] = WITH_TESTS;
  const flags = ["-displayfd", "3", "-screen", "0", "2000x1400x24", "-nolisten", "tcp"];
  const server = spawn(file, [...prefix, "Xvfb", ...flags], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const [number] = await once(server.stdio[3] as NodeJS.ReadableStream, "data");
  return {
    name: `:${String(number).trim()}`,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill();
      await once(server, "exit");
    },
  };
}
