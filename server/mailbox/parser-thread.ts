import { parentPort } from "node:worker_threads";
import { parseMail } from "./parse.ts";

parentPort?.on("message", async ({ raw, size }: { raw: Uint8Array; size: number }) => {
  parentPort?.postMessage(await parseMail(raw, size).catch(() => null));
});
parentPort?.postMessage("ready");
