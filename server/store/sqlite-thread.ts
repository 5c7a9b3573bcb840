import { workerData } from "node:worker_threads";
import { openHere } from "./store.ts";
import { serveThread } from "./thread.ts";

await serveThread(() => openHere(workerData, { isServer: true }));
