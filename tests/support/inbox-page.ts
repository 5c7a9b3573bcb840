import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { test as base } from "@playwright/test";
import { type Inbox, startInbox } from "../../desk/browser/serve.ts";
import type { Store } from "../../server/store/store.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { deskOf } from "./inbox-command.ts";
import { findFreePort } from "./run-server.ts";
import { SCRATCH_PARENT } from "./scratch-parent.ts";
import { collectTrouble } from "./site.ts";

type RunningInbox = Awaited<ReturnType<typeof start>>;

interface OpenInbox extends RunningInbox {
  /** Opens a path of it with the token of this run. */
  open(path?: string): Promise<unknown>;
  /** Matching console errors and failed requests do not fail the test. */
  expectTrouble(pattern: RegExp): void;
}

/** Every test gets an inbox with an empty store, and fails on any error that the browser reports. */
export const test = base.extend<{ running: RunningInbox; inbox: OpenInbox }>({
  running: async ({ browserName: _ }, use) => {
    const running = await start();
    await use(running);
    await running.close();
  },
  baseURL: ({ running }, use) => use(running.origin),
  inbox: async ({ page, running }, use) => {
    const trouble = collectTrouble(page, running.origin);
    // A download is a request for a blob that the page itself made.
    const expected = [new RegExp(`blob:${running.origin}`)];
    await use({
      ...running,
      open: (path = "/?tab=all") => page.goto(`${path}#${running.token()}`),
      expectTrouble: (pattern) => void expected.push(pattern),
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const unexpected = trouble.filter((line) => !expected.some((one) => one.test(line)));
    if (unexpected.length > 0) throw new Error(`The browser reported:\n${unexpected.join("\n")}`);
  },
});

async function start() {
  const dataDir = await mkdtemp(join(SCRATCH_PARENT, "inbox-"));
  const store = await openStoreInProcess({ dataDir, databaseUrl: null, account: "anna" });
  // Not the default port, which another worker could use while this inbox is stopped.
  const port = await findFreePort();
  let run: { inbox: Inbox; store: Store } | null = null;
  const stop = async () => {
    await run?.inbox.close();
    await run?.store.close();
    run = null;
  };
  let token = "";
  /** Starts a new run on the same port. */
  const restart = async () => {
    await stop();
    const store = await openStoreInProcess({ dataDir, databaseUrl: null, account: "operator" });
    const desk = deskOf({ store, dataDir, account: "operator" });
    const inbox = await startInbox({ desk, filesDir: "dist/inbox", port, onDefect: console.error });
    run = { inbox, store };
    token = new URL(inbox.url).hash.slice(1);
  };
  await restart();
  return {
    /** The same database, opened by a colleague's command. */
    store,
    origin: `http://localhost:${port}`,
    /** Of the present run. */
    token: () => token,
    stop,
    restart,
    dataDir,
    /** As if the inbox had been silent for long: a restore then believes that it is gone. */
    forget: () => run?.store.status.closeInbox(),
    async close() {
      await stop();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
