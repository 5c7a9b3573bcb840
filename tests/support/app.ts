import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AppOptions, createApp } from "../../server/app.ts";
import { parseConfig } from "../../server/config.ts";
import { loadBuild } from "../../server/http/build-files.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { type ChangedStore, withStore } from "./post-office.ts";

export type AppUnderTest = Awaited<ReturnType<typeof openApp>>;

/** The whole app on the real build and a real SQLite file, without a socket: requests are injected. */
export async function openApp(
  env: Record<string, string> = {},
  overrides: ChangedStore = {},
  parts: Pick<Partial<AppOptions>, "limits" | "onStored" | "build" | "store" | "now" | "site"> = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), "app-"));
  const config = parseConfig({ DATA_DIR: dataDir, RATE_LIMIT: "off", HOURLY_LIMIT: "off", ...env });
  const store = await openStoreInProcess(config);
  let log = "";
  let wakes = 0;
  const app = createApp({
    config,
    build: loadBuild("dist"),
    store: withStore(store, overrides),
    logStream: {
      write(line) {
        log += line;
      },
    },
    onStored(state) {
      if (state === "queued") wakes += 1;
    },
    ...parts,
  });
  return {
    app,
    store,
    /** The whole log so far. */
    log: () => log,
    /** How often the app announced a message to be mailed. */
    wakes: () => wakes,
    async close() {
      await app.close();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
