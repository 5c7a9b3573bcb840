import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type AppOptions, createApp } from "../../server/app.ts";
import { parseConfig } from "../../server/config.ts";
import { type Build, loadBuild } from "../../server/http/build-files.ts";
import { Readiness } from "../../server/http/health.ts";
import { LIMITS, type Limits } from "../../server/http/limits.ts";
import { acceptanceRules } from "../../server/store/intake.ts";
import { openStoreInProcess } from "./in-process-store.ts";
import { type ChangedStore, withStore } from "./post-office.ts";

export type AppUnderTest = Awaited<ReturnType<typeof openApp>>;

type Parts = Pick<Partial<AppOptions>, "onStored" | "openedStore" | "now"> & { build?: Build; limits?: Limits };

export interface Question {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  payload?: object | string;
}

/** The whole app on the real build and a real SQLite file. Injected requests do not see pages, which need a port. */
export async function openApp(
  env: Record<string, string> = {},
  overrides: ChangedStore = {},
  { build = loadBuild("dist"), limits = LIMITS, ...parts }: Parts = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), "app-"));
  const config = parseConfig({ DATA_DIR: dataDir, RATE_LIMIT: "off", HOURLY_LIMIT: "off", ...env });
  const rules = acceptanceRules(config, build.manifest.site.referencePrefix);
  const store = await openStoreInProcess({ ...config, rules });
  let log = "";
  let wakes = 0;
  const app = createApp({
    config,
    build,
    limits,
    openedStore: async () => withStore(store, overrides),
    readiness: new Readiness(),
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
  let port: Promise<number> | undefined;
  /** Asks over the network, which also sees pages. The URL is sent as it is. */
  async function ask(question: Question | string) {
    const { url, method = "GET", headers = {}, payload } = typeof question === "string" ? { url: question } : question;
    port ??= app.listen({ port: 0, host: "127.0.0.1" }).then((address) => Number(new URL(address).port));
    const json = typeof payload === "object" && { "content-type": "application/json" };
    const sent = { ...json, host: "localhost", connection: "close", ...headers };
    const asking = request({ port: await port, host: "127.0.0.1", path: url, method, headers: sent });
    asking.end(typeof payload === "object" ? JSON.stringify(payload) : payload);
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    const rawPayload = await buffer(answer);
    return { statusCode: answer.statusCode, headers: answer.headers, rawPayload, body: rawPayload.toString() };
  }
  return {
    app,
    ask,
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
