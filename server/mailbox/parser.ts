import { once } from "node:events";
import { memoryUsage } from "node:process";
import { Worker } from "node:worker_threads";
import type { ParsedMail } from "./parse.ts";

const THREAD = new URL("./parser-thread.ts", import.meta.url);
const LIMITS = {
  ms: 5000,
  /** The library takes 2 KB for each line: 30 MB for a large mail, and 2 GB for 1 MB of empty lines. */
  bytes: 64 * 2 ** 20,
};
const WATCH_MS = 25;
/** Of a mail that cannot be read: its beginning may be. */
const FIRST_BYTES = 64 * 1024;

export class NoThread extends Error {}

/**
 * Parses mails in a thread, which a mail that takes too long or too much memory ends. Whatever such a mail contains, the
 * website waits for nothing.
 */
export function createParser(limits = LIMITS) {
  let thread: Worker | null = null;

  /** Rejects if there can be no thread, which is no mail's fault. */
  async function start(): Promise<Worker> {
    if (thread) return thread;
    try {
      const started = new Worker(THREAD);
      await once(started, "message");
      thread = started;
      // It may end while nobody waits for it.
      started.on("error", () => (thread = null));
      return started;
    } catch (cause) {
      throw new NoThread("No thread", { cause });
    }
  }

  async function close(): Promise<void> {
    await thread?.terminate();
    thread = null;
  }

  async function tryToParse(given: Uint8Array, size: number): Promise<ParsedMail | null> {
    const current = await start();
    const raw = new Uint8Array(given);
    const stop = new AbortController();
    const endsAtMs = performance.now() + limits.ms;
    const mostBytes = memoryUsage.rss() + limits.bytes;
    const watch = setInterval(() => {
      if (performance.now() > endsAtMs || memoryUsage.rss() > mostBytes) stop.abort();
    }, WATCH_MS);
    try {
      const answer = once(current, "message", { signal: stop.signal });
      current.postMessage({ raw, size }, [raw.buffer]);
      const [parsed] = await answer;
      return parsed;
    } catch {
      await close();
      return null;
    } finally {
      clearInterval(watch);
    }
  }

  return {
    start,
    close,
    /** One mail at a time. `null` if it cannot be read. */
    async parse(raw: Uint8Array, size = raw.length): Promise<ParsedMail | null> {
      // It may have been the time or the memory of something else.
      return (await tryToParse(raw, size)) ?? tryToParse(raw.subarray(0, FIRST_BYTES), size);
    },
  };
}

export type Parser = ReturnType<typeof createParser>;
