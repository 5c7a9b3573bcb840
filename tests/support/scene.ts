import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { openStoreInProcess } from "./in-process-store.ts";
import { findViolations, messageIdsOf } from "./invariant.ts";
import { type Answer, createVisitors } from "./load.ts";
import { startMailServer } from "./mail-server.ts";
import { type RunningProgram, type RunningServer, startServer } from "./run-server.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { untilEnd } from "./until-end.ts";

const SOON_MS = 90_000;
const ASK_EVERY_MS = 50;

export type Scene = Awaited<ReturnType<typeof openScene>>;

interface SceneOptions {
  dataDir?: string;
  /** The address of each visitor; by default all have the same. */
  emailOf?: (count: number) => string;
}

/** The parties of a fault test: visitors, the real server in a separate process, a database and a mail server. */
export async function openScene(options: SceneOptions = {}) {
  const dataDir = options.dataDir ?? (await makeScratchFolder());
  const mailServer = await untilEnd(startMailServer());
  const visitors = createVisitors(options.emailOf);
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const soon = { timeout: SOON_MS, interval: 50 };
  const queueIsEmpty = () => expect.poll(async () => (await store.queue.countChannel("mail")).queued, soon).toBe(0);

  return {
    dataDir,
    visitors,
    mailServer,
    /** The same database, opened as by an operator's command. */
    store,
    /** Resolves once no message waits for its mail. */
    queueIsEmpty,
    /** Starts a server. At the end of the test it is killed if it still runs. */
    async start(env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
      const server = await startServer({
        DATA_DIR: dataDir,
        SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
        LOG_LEVEL: "error",
        ...env,
      });
      onTestFinished(() => kill(server));
      return server;
    },
    /**
     * Repeats messages that were not acknowledged, waits for the mails, stops the server, and checks that acknowledged
     * references, rows and Message-IDs are the same.
     */
    async expectNothingLost(server: RunningServer, maxTimesMailed?: number): Promise<void> {
      await expect.poll(() => visitors.postAgain(server.url), soon).toBe(0);
      await queueIsEmpty();
      expect(await stopAsking(server)).toBe(0);
      const stored = await store.messages.list({ limit: 1_000_000 });
      const messageIds = messageIdsOf(mailServer.mails);
      expect(findViolations({ acknowledged: visitors.acknowledged, stored, messageIds }, maxTimesMailed)).toEqual([]);
    },
  };
}

/**
 * Stops the server, and calls /readyz until it has stopped, like a load balancer. After a call to /readyz, a stopping
 * server waits some seconds for the next call.
 */
export async function stopAsking(server: RunningServer): Promise<number | null> {
  const stopped = new AbortController();
  const code = server.stop().finally(() => stopped.abort());
  while (!stopped.signal.aborted) {
    await fetch(`${server.url}/readyz`, { signal: stopped.signal }).catch(() => undefined);
    await setTimeout(ASK_EVERY_MS);
  }
  return code;
}

/** Expects pages and `/healthz` to work while messages cannot be stored. */
export async function expectPagesUp(server: RunningProgram): Promise<void> {
  for (const path of ["/", "/contact", "/healthz"]) {
    const response = await fetch(server.url + path);
    expect([path, response.status]).toEqual([path, 200]);
    await response.arrayBuffer();
  }
}

/**
 * Expects that each message was answered with 503 and Retry-After, and that no connection was closed without an answer.
 */
export function expectRefusedForNow(answers: readonly (Answer | null)[]): void {
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, reference: null, retryAfter: expect.stringMatching(/^[1-9]\d*$/) });
  }
}

export async function kill({ process }: RunningProgram): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  process.kill("SIGKILL");
  await once(process, "exit");
}
