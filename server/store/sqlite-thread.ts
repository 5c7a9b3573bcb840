import { workerData } from "node:worker_threads";
import { openSqliteStore } from "./open-store.ts";
import { serveThread } from "./thread.ts";

await serveThread(() => openSqliteStore(workerData, { isServer: true }));
