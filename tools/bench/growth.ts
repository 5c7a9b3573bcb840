import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startServer } from "../../scripts/start-process.ts";
import { openStore } from "../../server/store/open-store.ts";
import type { Store } from "../../server/store/store.ts";
import { measureLoad } from "./http-load.ts";
import { nextMessage } from "./message-request.ts";
import { type BenchTable, median } from "./table.ts";

const SIZES = [10, 1_000, 100_000];
const QUERIES = 21;
const RULES = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null };

/** Whether anything grows slower as messages pile up: accepting, the first delivery, listing, claiming. */
export async function benchGrowth(): Promise<BenchTable[]> {
  const rows: BenchTable["rows"] = [];
  for (const stored of SIZES) {
    const folder = await mkdtemp(join(tmpdir(), "bench-"));
    try {
      const queries = await fillAndAsk(folder, stored);
      rows.push({ "stored messages": stored, ...(await acceptAndDeliver(folder)), ...queries });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return [
    {
      title: "Growth: the same work with more messages stored",
      rows,
      chart: { label: "stored messages", value: "accepted/s" },
      notes: ["Stored ones are delivered already, but for 10 that wait. Delivery is to files."],
    },
  ];
}

async function fillAndAsk(folder: string, count: number): Promise<Record<string, number>> {
  const store = await openStore({ dataDir: folder, databaseUrl: null });
  try {
    await fill(store, count);
    const list = await medianMs(() => store.list({ limit: 50 }));
    // Claimed again and again: a lease that ends at once leaves the message due.
    const claim = await medianMs(() => store.claim(10, 0, new Date()));
    return { "list ms": list, "claim ms": claim };
  } finally {
    await store.close();
  }
}

async function fill(store: Store, count: number): Promise<void> {
  const waiting = 10;
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from);
    await Promise.all(Array.from({ length: size }, (_, index) => acceptOne(store, from + index)));
    const delivered = from + size < count ? size : size - waiting;
    const claims = await store.claim(delivered, 60_000, new Date());
    await Promise.all(claims.map((claim) => store.markDelivered(claim, new Date())));
  }
}

function acceptOne(store: Store, number: number) {
  const message = {
    name: "Ada",
    email: `ada${number}@example.com`,
    phone: "1",
    country: "GB",
    message: `No. ${number}`,
  };
  return store.accept({ message, idempotencyKey: null, clientHash: null, isTrapped: false }, RULES, new Date());
}

async function medianMs(query: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < QUERIES; run += 1) {
    const startedAt = performance.now();
    await query();
    times.push(performance.now() - startedAt);
  }
  return Number(median(times).toFixed(2));
}

async function acceptAndDeliver(folder: string): Promise<Record<string, number>> {
  const server = await startServer({ DATA_DIR: folder });
  try {
    const body = {
      name: "Ada",
      email: "first@example.com",
      phone: "1",
      country: "",
      message: `First at ${Date.now()}`,
    };
    const startedAt = performance.now();
    const response = await fetch(`http://127.0.0.1:${server.port}/send-email`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { reference } = (await response.json()) as { reference: string };
    while (!(await exists(join(folder, "outbox", `${reference}.eml`)))) await setTimeout(2);
    const firstDeliveryMs = performance.now() - startedAt;
    const load = { port: server.port, connections: 200, request: nextMessage };
    await measureLoad({ ...load, seconds: 3 });
    const { perSecond } = await measureLoad({ ...load, seconds: 4 });
    return { "accepted/s": Math.round(perSecond), "first delivery ms": Math.round(firstDeliveryMs) };
  } finally {
    server.process.kill("SIGKILL");
    await server.stop();
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
