import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AppOptions, createApp } from "../../server/app.ts";
import { parseConfig } from "../../server/config.ts";
import { type Build, loadBuild } from "../../server/http/build-files.ts";
import { createReadiness } from "../../server/http/health.ts";
import { LIMITS, type Limits } from "../../server/http/limits.ts";
import { createSite } from "../../server/http/pages.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { type ChangedStore, withStore } from "./post-office.ts";

export type AppUnderTest = Awaited<ReturnType<typeof openApp>>;

type Parts = Pick<Partial<AppOptions>, "onStored" | "store" | "now" | "site"> & { build?: Build; limits?: Limits };

/** The whole app on the real build and a real SQLite file, without a socket: requests are injected. */
export async function openApp(
  env: Record<string, string> = {},
  overrides: ChangedStore = {},
  { build = loadBuild("dist"), limits = LIMITS, ...parts }: Parts = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), "app-"));
  const config = parseConfig({ DATA_DIR: dataDir, RATE_LIMIT: "off", HOURLY_LIMIT: "off", ...env });
  const store = await openStoreInProcess(config);
  let log = "";
  let wakes = 0;
  const app = createApp({
    config,
    site: createSite(build, limits),
    store: withStore(store, overrides),
    readiness: createReadiness(),
    logStream: {
      write(line) {
        log += line;
      },
    },
    onStored(state) {
      if (state === "queued") wakes += 1;
    },
    onNotStored() {},
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
