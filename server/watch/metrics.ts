import { once } from "node:events";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Registry } from "prom-client";
import type { Outcome } from "../store/queue.ts";
import type { Watch } from "./troubles.ts";

type PromClient = typeof import("prom-client");

interface MetricsOptions {
  host: string;
  port: number;
  watch: Watch;
}

export type Route = "page" | "asset" | "film" | "message" | "health";

/** `repeated`: it was stored before. */
type Acceptance = "queued" | "quarantined" | "repeated";

export type RefusalReason =
  | "foreign-origin"
  | "malformed"
  | "too-large"
  | "wrong-type"
  | "bad-key"
  | "invalid"
  | "key-reused"
  | "limited"
  | "store-unavailable"
  | "failure";

/** `unmarked`: the result could not be saved, or the lease was lost. */
type DeliveryOutcome = Outcome["kind"] | "unmarked";

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export async function openMetrics({ host, port, watch }: MetricsOptions) {
  // Loaded on demand, so that they cost nothing without METRICS_PORT.
  const [prom, { createServer }] = await Promise.all([import("prom-client"), import("node:http")]);
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  const meter = createMeter(prom, registry);
  const updateGauges = createGauges(prom, registry, watch);

  const server = createServer(async (_request, response) => {
    await updateGauges();
    const body = await registry.metrics();
    response.writeHead(200, { "content-type": registry.contentType, "cache-control": "no-store" }).end(body);
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    meter,
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/metrics`,
    async close(): Promise<void> {
      const closed = once(server, "close");
      server.close();
      // A scrape must not delay the end of the program.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Receives only these words and numbers, never a visitor's data. */
export type Meter = ReturnType<typeof createMeter>;

function createMeter({ Counter, Histogram }: PromClient, registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `site_${name}_total`, help: `${help}, by this node`, labelNames, registers });
  const requests = counter("http_requests", "Requests answered", "route", "status");
  const durations = new Histogram({
    name: "site_http_request_duration_seconds",
    help: "Time from a request's arrival at this node to the end of its answer",
    labelNames: ["route"],
    buckets: BUCKETS_S,
    registers,
  });
  const accepted = counter("messages_accepted", "Accepted messages (repeated: stored before)", "outcome");
  const refused = counter("messages_refused", "Messages not stored", "reason");
  const deliveries = counter("deliveries", "Attempts to deliver a message", "channel", "outcome");

  return {
    answered(route: Route, status: number, durationMs: number): void {
      requests.inc({ route, status: `${Math.floor(status / 100)}xx` });
      durations.observe({ route }, durationMs / 1000);
    },
    accepted: (outcome: Acceptance) => accepted.inc({ outcome }),
    refused: (reason: RefusalReason) => refused.inc({ reason }),
    attempted: (channel: string, outcome: DeliveryOutcome) => deliveries.inc({ channel, outcome }),
  };
}

/** Never rejects. Omits the store's gauges while it does not answer. */
function createGauges({ Gauge }: PromClient, registry: Registry, watch: Watch): () => Promise<void> {
  const gauge = (name: string, help: string, ...labelNames: string[]) => {
    const note = "the same on every node of one database: take the maximum, not the sum";
    return new Gauge({ name: `site_${name}`, help: `${help}; ${note}`, labelNames, registers: [registry] });
  };
  const queue = gauge("queue_messages", "Deliveries by channel and state", "channel", "state");
  const oldest = gauge("queue_oldest_age_seconds", "Age of the oldest waiting delivery", "channel");
  const trouble = gauge("trouble", "Number of affected messages, at least 1", "kind", "channel");

  return async () => {
    const { facts = null, troubles = [] } = (await watch.find().catch(() => null)) ?? {};
    for (const stale of [queue, oldest, trouble]) stale.reset();
    for (const { channel, state, count, firstAt } of facts?.counts ?? []) {
      queue.set({ channel, state }, count);
      const ageMs = (facts?.now.getTime() ?? 0) - firstAt.getTime();
      if (state === "queued") oldest.set({ channel }, Math.max(0, ageMs) / 1000);
    }
    for (const { kind, channel, count } of troubles) trouble.set({ kind, channel: channel ?? "" }, count);
  };
}
