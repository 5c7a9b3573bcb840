import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFirefox } from "../../../scripts/programs.mjs";
import type { Driver, Engine, Modes } from "./engine.ts";

/** Driven by WebDriver BiDi, the protocol that Firefox speaks without any program between. */
export const FIREFOX: Engine = { name: "firefox", launch };

const NO_NETWORK = {
  "app.update.disabledForTesting": true,
  "app.normandy.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.safebrowsing.update.enabled": false,
  "browser.search.update": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.push.serverURL": "",
  "extensions.systemAddon.update.enabled": false,
  "extensions.update.enabled": false,
  "media.gmp-manager.updateEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "toolkit.telemetry.enabled": false,
};

function preferences(modes: Modes): Readonly<Record<string, unknown>> {
  return {
    ...NO_NETWORK,
    "browser.shell.checkDefaultBrowser": false,
    "browser.startup.page": 0,
    "datareporting.policy.firstRunURL": "",
    "print.always_print_silent": true,
    "ui.prefersReducedMotion": Number(modes.isMotionReduced),
    "layout.css.prefers-color-scheme.content-override": modes.isDark ? 0 : 1,
    "browser.display.document_color_use": modes.areColoursForced ? 2 : 1,
    "javascript.enabled": !modes.isScriptOff,
    "media.autoplay.default": modes.isAutoplayBlocked ? 5 : 0,
    "ui.useOverlayScrollbars": Number(!modes.areScrollbarsClassic),
    "font.size.variable.x-western": 16 * modes.textScale,
  };
}

interface Message {
  id?: number;
  type: "success" | "error" | "event";
  method?: string;
  message?: string;
  result?: unknown;
  params?: Record<string, unknown>;
}

async function launch(modes: Modes): Promise<Driver> {
  const profile = await mkdtemp(join(tmpdir(), "firefox-"));
  const lines = Object.entries(preferences(modes)).map(
    (entry) => `user_pref(${entry.map((one) => JSON.stringify(one))});`,
  );
  await writeFile(join(profile, "user.js"), lines.join("\n"));
  const flags = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile, "about:blank"];
  const child = spawn(findFirefox() ?? "firefox", flags, {
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const endWithTests = () => child.kill();
  process.once("exit", endWithTests);
  const address = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (chunk) => {
      output += chunk;
      const found = /listening on (ws:\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(`Firefox did not start:\n${output}`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await once(socket, "open");

  const trouble: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) return void trouble.push(...troubleOf(message));
    const answer = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === "success") answer?.resolve(message.result);
    else answer?.reject(new Error(message.message));
  });
  function send<Result>(method: string, params: object = {}): Promise<Result> {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    socket.send(JSON.stringify({ id: lastId, method, params }));
    return answer.promise as Promise<Result>;
  }

  const session = await send<{ capabilities: { browserVersion: string } }>("session.new", { capabilities: {} });
  // A new tab has the focus; in the first one the address bar has it.
  const { context } = await send<{ context: string }>("browsingContext.create", { type: "tab" });
  await send("session.subscribe", { events: ["log.entryAdded", "network.responseCompleted", "network.fetchError"] });
  // Firefox writes of these to its own console only.
  await send("script.addPreloadScript", {
    functionDeclaration: `() => addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      console.error("refused by the policy:", effectiveDirective, blockedURI))`,
  });
  const perform = (type: string, actions: object[]) =>
    send("input.performActions", { context, actions: [{ type, id: type, actions }] });
  return {
    version: session.capabilities.browserVersion,
    open: (url) => send("browsingContext.navigate", { context, url, wait: "complete" }),
    reload: () => send("browsingContext.reload", { context, wait: "complete" }),
    back: () => send("browsingContext.traverseHistory", { context, delta: -1 }),
    async evaluate(code) {
      // A sandbox, because it runs where the page's own scripts are off.
      const { type, result, exceptionDetails } = await send<{
        type: "success" | "exception";
        result: { value: string };
        exceptionDetails: { text: string };
      }>("script.callFunction", {
        functionDeclaration: `() => { ${code} }`,
        awaitPromise: false,
        target: { context, sandbox: "test" },
      });
      if (type === "exception") throw new Error(exceptionDetails.text);
      return result.value;
    },
    resize: (width, height) => send("browsingContext.setViewport", { context, viewport: { width, height } }),
    press: async (x, y) =>
      void (await perform("pointer", [
        { type: "pointerMove", x, y },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ])),
    keys: async (names) =>
      void (await perform(
        "key",
        names
          .map((name) => KEY_CODE[name] ?? name)
          .flatMap((value) => [
            { type: "keyDown", value },
            { type: "keyUp", value },
          ]),
      )),
    async screenshot() {
      const { data } = await send<{ data: string }>("browsingContext.captureScreenshot", {
        context,
        origin: "document",
      });
      return Buffer.from(data, "base64");
    },
    async print() {
      const page = { width: 21, height: 29.7 };
      const { data } = await send<{ data: string }>("browsingContext.print", { context, page });
      return Buffer.from(data, "base64");
    },
    trouble,
    async close() {
      await send("browser.close").catch(() => child.kill("SIGKILL"));
      socket.close();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      process.off("exit", endWithTests);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** WebDriver's code points for keys that are no characters. */
const KEY_CODE: Readonly<Record<string, string>> = {
  Delete: "\uE017",
  Enter: "\uE007",
  Escape: "\uE00C",
  Tab: "\uE004",
  " ": " ",
};

function troubleOf({ method, params = {} }: Message): string[] {
  if (method === "log.entryAdded") {
    const { level, text } = params as { level: string; text: string };
    return level === "error" || level === "warn" ? [`console: ${text}`] : [];
  }
  const { request, response, errorText } = params as {
    request: { url: string };
    response?: { status: number };
    errorText?: string;
  };
  if (method === "network.fetchError")
    return isAborted(errorText) ? [] : [`failed request: ${request.url} ${errorText}`];
  const status = response?.status ?? 0;
  return status >= 400 ? [`status ${status}: ${request.url}`] : [];
}

/** Leaving a page ends what it was still fetching. */
function isAborted(errorText = ""): boolean {
  return errorText === "NS_BINDING_ABORTED";
}
