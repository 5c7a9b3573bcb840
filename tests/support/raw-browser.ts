import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { CHROMIUM_FLAGS, findChromium } from "../../scripts/programs.mjs";

/**
 * A Chromium as visitors have it. Playwright switches off what keeps navigation instant: pages prepared ahead of a click,
 * and pages kept whole for the way back.
 */
export interface RawBrowser {
  /** Goes on as somebody who was never here: with an empty cache, no history, and one empty page. */
  becomeNewVisitor(): Promise<void>;
  open(url: string): Promise<void>;
  /** In the page that is shown now. */
  evaluate<T>(expression: string): Promise<T>;
  hover(selector: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** The status of the latest page prepared ahead: Pending, Running, Ready, Success or Failure. */
  preparation(): string | undefined;
  /** Bytes and addresses of everything received since `open`, headers included. */
  received(): { url: string; bytes: number }[];
  close(): Promise<void>;
}

interface ProtocolMessage {
  id?: number;
  method?: string;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { message: string };
  params?: Record<string, unknown>;
}

export async function openRawBrowser(): Promise<RawBrowser> {
  const profile = await mkdtemp(join(tmpdir(), "raw-browser-"));
  const flags = ["--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "--no-startup-window"];
  const child = spawn(findChromium() ?? chromium.executablePath(), [...CHROMIUM_FLAGS, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const address = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (chunk) => {
      output += chunk;
      const found = /listening on (ws:\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(`Chromium did not start:\n${output}`)));
  });
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));

  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  const urls = new Map<string, string>();
  const bytes = new Map<string, number>();
  let lastId = 0;
  /** The page that is shown, and after it the one prepared ahead, which then takes its place. */
  const pages: string[] = [];
  let firstPage = Promise.withResolvers<unknown>();
  let preparation: string | undefined;
  socket.addEventListener("message", ({ data }) => {
    const { id, method, result = {}, error, params = {}, sessionId } = JSON.parse(String(data)) as ProtocolMessage;
    if (id !== undefined) {
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
    } else if (method === "Target.attachedToTarget") {
      const { targetInfo, sessionId: attached } = params as { targetInfo: { type: string }; sessionId: string };
      if (targetInfo.type !== "page") return;
      pages.push(attached);
      const enabled = ["Preload", "Network"].map((domain) => send(`${domain}.enable`, {}, attached));
      Promise.all(enabled).then(firstPage.resolve, firstPage.reject);
    } else if (method === "Target.detachedFromTarget") {
      pages.splice(pages.indexOf((params as { sessionId: string }).sessionId), 1);
    } else if (method === "Preload.prerenderStatusUpdated") {
      preparation = (params as { status: string }).status;
    } else if (method === "Network.requestWillBeSent" && sessionId === pages[0]) {
      const { requestId, request } = params as { requestId: string; request: { url: string } };
      urls.set(requestId, request.url);
    } else if (method === "Network.loadingFinished" && sessionId === pages[0]) {
      const { requestId, encodedDataLength } = params as { requestId: string; encodedDataLength: number };
      bytes.set(requestId, encodedDataLength);
    }
  });

  function send(method: string, params = {}, sessionId?: string): Promise<Record<string, unknown>> {
    lastId += 1;
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(lastId, answer);
    socket.send(JSON.stringify({ id: lastId, method, params, sessionId }));
    return answer.promise;
  }

  async function evaluate<T>(expression: string): Promise<T> {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result } = await send("Runtime.evaluate", options, pages[0]);
    return (result as { value: T }).value;
  }

  async function mouse(selector: string, ...types: string[]): Promise<void> {
    const find = `(() => { const link = document.querySelector(${JSON.stringify(selector)}); link.scrollIntoView();
      const { x, y, width, height } = link.getBoundingClientRect(); return [x + width / 2, y + height / 2] })()`;
    const [x, y] = await evaluate<[number, number]>(find);
    for (const type of types) {
      await send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 }, pages[0]);
    }
  }

  let context: string | undefined;
  async function becomeNewVisitor(): Promise<void> {
    if (context) await send("Target.disposeBrowserContext", { browserContextId: context });
    pages.length = 0;
    firstPage = Promise.withResolvers();
    ({ browserContextId: context } = (await send("Target.createBrowserContext")) as { browserContextId: string });
    const tab = { url: "about:blank", browserContextId: context, forTab: true };
    const { targetId } = await send("Target.createTarget", tab);
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const attach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
    await send("Target.setAutoAttach", attach, sessionId as string);
    await firstPage.promise;
  }

  return {
    async open(url) {
      urls.clear();
      bytes.clear();
      preparation = undefined;
      await send("Page.navigate", { url }, pages[0]);
    },
    evaluate,
    becomeNewVisitor,
    hover: (selector) => mouse(selector, "mouseMoved"),
    click: (selector) => mouse(selector, "mousePressed", "mouseReleased"),
    preparation: () => preparation,
    received: () => [...bytes].map(([id, size]) => ({ url: urls.get(id) ?? id, bytes: size })),
    async close() {
      socket.close();
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
