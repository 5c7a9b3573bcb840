import type { Retention } from "../../contract/build-settings.ts";
import type { AcceptanceRules } from "../../server/store/intake.ts";
import type { Store } from "../../server/store/store.ts";
import { createStore, openDatabase, openStore, type StoreOptions } from "../../server/store/store.ts";
import { DAY_MS } from "../../server/time.ts";
import { NO_LIMITS } from "../store-contract/samples.ts";

export const RETENTION: Retention = { deliveredMs: 30 * DAY_MS, failedMs: 90 * DAY_MS, quarantinedMs: 14 * DAY_MS };

/** The store as the operator's commands open it, with SQLite in this thread, except that it creates its tables. */
export async function openStoreInProcess(
  settings: {
    dataDir: string;
    databaseUrl: string | null;
    acknowledge?: boolean;
    retention?: Retention | undefined;
    account?: string;
    rules?: AcceptanceRules;
  },
  options: StoreOptions = {},
): Promise<Store> {
  const all = { rules: NO_LIMITS, ...settings, retention: settings.retention ?? RETENTION };
  return options.isServer ? openStore(all, options) : createStore(await openDatabase(all), all);
}
