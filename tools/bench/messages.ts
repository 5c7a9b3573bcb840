import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Store } from "../../server/store/open-store.ts";
import { startPostgres } from "../../tests/support/run-postgres.ts";
import { type RunningServer, startProgram, startServer } from "../../tests/support/run-server.ts";
import { acceptMessage, openSampleStore } from "../sample-inbox.ts";
import { type LoadResult, measureLoad, nextMessage } from "./http-load.ts";
import { type BenchTable, median, type Start, timesMs, withServer } from "./report.ts";

const CONNECTIONS = 200;
const WARM_UP_SECONDS = 10;
const SECONDS = 5;
const ROUNDS = 3;

export async function benchMessages(): Promise<BenchTable[]> {
  return [await acceptance(), await growth()];
}

async function acceptance(): Promise<BenchTable> {
  const rows: BenchTable["rows"] = [];
  const postgres = await startPostgres({ isDurable: true });
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const databaseUrl = await postgres.createDatabase();
      const bare = (folder: string) => ["node", "tools/bench/bare-servers.ts", "messages", join(folder, "bare.db")];
      const servers: Readonly<Record<string, Start>> = {
        "bare group commit (SQLite)": (folder) => startProgram(bare(folder)),
        "ours on SQLite": (folder) => startServer({ DATA_DIR: folder, LOG_LEVEL: "error" }),
        "ours on PostgreSQL": (folder) =>
          startServer({ DATA_DIR: folder, DATABASE_URL: databaseUrl, LOG_LEVEL: "error" }),
      };
      let barePerSecond = 0;
      for (const [server, start] of Object.entries(servers)) {
        const result = await measure(start);
        barePerSecond ||= result.perSecond;
        rows.push({ round, server, ...shown(result), ratio: (result.perSecond / barePerSecond).toFixed(2) });
      }
    }
  } finally {
    await postgres.stop();
  }
  return {
    title: `Messages accepted at ${CONNECTIONS} connections`,
    rows,
    notes: [
      "Each answer means: committed to disk. The bare server parses, inserts and commits, and does nothing else.",
      "PostgreSQL runs on this machine too, with fsync and synchronous_commit on.",
    ],
  };
}

async function measure(start: Start): Promise<LoadResult> {
  return withServer(start, async ({ port, process }) => {
    const load = { port, connections: CONNECTIONS, request: nextMessage };
    try {
      // Warms up first, because Node compiles the busiest functions within the first seconds.
      await measureLoad({ ...load, seconds: WARM_UP_SECONDS });
      return await measureLoad({ ...load, seconds: SECONDS });
    } finally {
      // A regular stop would wait for the mails in progress.
      process.kill("SIGKILL");
    }
  });
}

function shown({ perSecond, p50Ms, p99Ms, failures }: LoadResult) {
  return { "messages/s": Math.round(perSecond), "p50 ms": p50Ms.toFixed(1), "p99 ms": p99Ms.toFixed(1), failures };
}

const SIZES = [10, 1_000, 100_000];
const QUERIES = 21;

async function growth(): Promise<BenchTable> {
  const rows: BenchTable["rows"] = [];
  for (const stored of SIZES) {
    let queries: Record<string, number> = {};
    const start: Start<RunningServer> = async (folder) => {
      queries = await fillAndQuery(folder, stored);
      return startServer({ DATA_DIR: folder, LOG_LEVEL: "error" });
    };
    rows.push({ "stored messages": stored, ...(await withServer(start, acceptAndDeliver)), ...queries });
  }
  return {
    title: "Growth: the same work with more messages stored",
    rows,
    notes: ["The stored messages are delivered, except for 10 that wait. Delivery is to files."],
  };
}

async function fillAndQuery(folder: string, count: number): Promise<Record<string, number>> {
  const store = await openSampleStore(folder);
  try {
    await fill(store, count);
    const list = await medianMs(() => store.messages.list({ limit: 50 }));
    // The lease ends at once, so that the same messages can be claimed every time.
    const claim = await medianMs(() => store.queue.claim("mail", 10, 0, new Date()));
    return { "list ms": list, "claim ms": claim };
  } finally {
    await store.close();
  }
}

async function fill(store: Store, count: number): Promise<void> {
  const waiting = 10;
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    const messages = Array.from({ length: size }, (_, index) => messageOf(from + index, `No. ${from + index}`));
    await Promise.all(messages.map((message) => acceptMessage(store, message)));
    const delivered = from + size < count ? size : size - waiting;
    const claims = await store.queue.claim("mail", delivered, 60_000, new Date());
    await Promise.all(claims.map((claim) => store.queue.settle(claim, { kind: "delivered" }, new Date())));
  }
}

function messageOf(number: number, message: string) {
  return { name: "Ada", email: `ada${number}@example.com`, phone: "1", country: "GB", message };
}

async function medianMs(query: () => Promise<unknown>): Promise<number> {
  return Number(median(await timesMs(query, QUERIES)).toFixed(2));
}

async function acceptAndDeliver({ url, port, process, dataDir }: RunningServer): Promise<Record<string, number>> {
  try {
    const startedAt = performance.now();
    const response = await fetch(`${url}/send-email`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(messageOf(0, `First at ${Date.now()}`)),
    });
    const { reference } = (await response.json()) as { reference: string };
    while (!existsSync(join(dataDir, "outbox", `${reference}.eml`))) await setTimeout(2);
    const firstDeliveryMs = performance.now() - startedAt;
    const load = { port, connections: CONNECTIONS, request: nextMessage };
    await measureLoad({ ...load, seconds: 3 });
    const { perSecond } = await measureLoad({ ...load, seconds: 4 });
    return { "accepted/s": Math.round(perSecond), "first delivery ms": Math.round(firstDeliveryMs) };
  } finally {
    process.kill("SIGKILL");
  }
}
