import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createApp } from "../../server/app.ts";
import { parseConfig } from "../../server/config.ts";
import { loadSite } from "../../server/http/site-files.ts";
import type { Store } from "../../server/store/store.ts";

/** The app on a real port, before a store that the test holds; for tests that need the outbox's clock. Gives its URL. */
export async function openFrontDoor(store: Store, onQueued: () => void): Promise<string> {
  const config = parseConfig({ RATE_LIMIT: "off", HOURLY_LIMIT: "off", LOG_LEVEL: "silent" });
  const app = createApp({
    config,
    site: loadSite("dist"),
    store,
    onStored: (state) => state === "queued" && onQueued(),
  });
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: "127.0.0.1" });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}
