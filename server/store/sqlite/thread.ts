// The thread that holds the SQLite database; started by sqlite-thread-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { openSqliteCore, type SqliteCore } from "../sqlite-store.ts";
import type { Call, PlainError, Reply } from "../sqlite-thread-store.ts";

const port = parentPort;
if (!port) throw new Error("This file is a thread's, not a program's.");
const reply = (message: Reply) => port.postMessage(message);

try {
  const core = await openSqliteCore(workerData.dataDir);
  port.on("message", (call: Call) => void answer(core, call));
  reply({ id: 0, result: core.clientKey });
} catch (error) {
  reply({ id: 0, failure: plain(error) });
}

async function answer(core: SqliteCore, { id, method, args }: Call): Promise<void> {
  try {
    const run = core[method] as (...values: unknown[]) => Promise<unknown>;
    reply({ id, result: await run(...args) });
  } catch (error) {
    reply({ id, failure: plain(error) });
  }
}

function plain(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? { name, message } : { name, message, code };
}
