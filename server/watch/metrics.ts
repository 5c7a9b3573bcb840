import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Counter as PromCounter, Registry } from "prom-client";
import { OperatorError } from "../log.ts";
import type { DeliveryKind, QueueDepth, Store } from "../store/store.ts";
import { withinMs } from "../time.ts";
import { ACCEPTANCES, DELIVERY_OUTCOMES, type DeliveryOutcome, type Meter, REFUSALS, ROUTES } from "./meter.ts";

type PromClient = typeof import("prom-client");
type MetricsStore = Pick<Store, "queueDepth" | "ping">;

/** An unavailable store must not keep the other numbers from being read. */
const STORE_TIMEOUT_MS = 2000;
/** However many scrape, the queue is read and the text is made at most once in this time. */
const SHARED_MS = 1000;
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Starts counting, and serves `GET /metrics` in Prometheus' text format on this address only. */
export async function openMetrics(host: string, port: number, store: MetricsStore) {
  // Loaded only here: without METRICS_PORT nobody should pay for the library in memory and start-up time.
  const prom = await import("prom-client");
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  const meter = createMeter(prom, registry);
  const updateQueue = createQueueGauges(prom, registry, store);

  let madeAtMs = Number.NEGATIVE_INFINITY;
  let text: Promise<Buffer>;
  function sharedText(): Promise<Buffer> {
    if (performance.now() - madeAtMs >= SHARED_MS) {
      madeAtMs = performance.now();
      text = updateQueue().then(async () => Buffer.from(await registry.metrics()));
    }
    return text;
  }

  const server = createServer(async (request, response) => {
    if (request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404).end("Only /metrics is here\n");
    } else if (request.method !== "GET") {
      response.writeHead(405, { allow: "GET" }).end("Only GET\n");
    } else {
      const body = await sharedText();
      response.writeHead(200, { "content-type": registry.contentType, "cache-control": "no-store" }).end(body);
    }
  });
  server.listen(port, host);
  await once(server, "listening").catch(({ code }: NodeJS.ErrnoException) => {
    const reason = code === "EADDRINUSE" ? "is in use" : code === "EACCES" ? "needs more rights" : `fails (${code})`;
    if (code === "EADDRNOTAVAIL") {
      throw new OperatorError(
        `METRICS_PORT ${host} is not an address of this machine; e.g. METRICS_PORT=0.0.0.0:${port}`,
      );
    }
    throw new OperatorError(`METRICS_PORT ${port} ${reason}; choose another, e.g. METRICS_PORT=9464`);
  });
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

function createMeter({ Counter, Gauge, Histogram }: PromClient, registry: Registry): Meter {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const requests = counter(
    "site_http_requests_total",
    "Requests answered by this node, by kind of route and class of status",
    "route",
    "status",
  );
  const durations = new Histogram({
    name: "site_http_request_duration_seconds",
    help: "Time from a request's arrival at this node to the end of its answer",
    labelNames: ["route"],
    buckets: BUCKETS_S,
    registers,
  });
  const accepted = counter(
    "site_messages_accepted_total",
    "Messages answered with success by this node; repeated ones were stored before",
    "outcome",
  );
  const refused = counter("site_messages_refused_total", "Messages this node did not store, by reason", "reason");
  const deliveries: Record<DeliveryKind, PromCounter> = {
    mail: counter("site_deliveries_total", "Attempts of this node to deliver a message, by outcome", "outcome"),
    acknowledgement: counter(
      "site_acknowledgements_total",
      "Acknowledgements that this node sent to senders, tried to send, or skipped by a rule",
      "outcome",
    ),
    hook: counter(
      "site_hook_posts_total",
      "Attempts of this node to post a message to HOOK_URL, by outcome",
      "outcome",
    ),
  };
  const paused = new Gauge({
    name: "site_queue_paused",
    help: "1 while this node sends no e-mail because the mail server refuses everything",
    registers,
  });

  // What has not happened yet is 0 and not missing, so that the first time shows as an increase.
  for (const route of ROUTES) for (const status of ["2xx", "5xx"]) requests.inc({ route, status }, 0);
  for (const outcome of ACCEPTANCES) accepted.inc({ outcome }, 0);
  for (const reason of REFUSALS) refused.inc({ reason }, 0);
  for (const kind of Object.keys(deliveries) as DeliveryKind[]) {
    for (const outcome of DELIVERY_OUTCOMES) {
      if (outcome !== "skipped" || kind === "acknowledgement") countDelivery(kind, outcome, 0);
    }
  }

  function countDelivery(kind: DeliveryKind, outcome: DeliveryOutcome, count = 1): void {
    // A mail to the team that was sent is a message that was delivered.
    deliveries[kind].inc({ outcome: kind === "mail" && outcome === "sent" ? "delivered" : outcome }, count);
  }

  return {
    answered(route, status, durationMs) {
      requests.inc({ route, status: `${Math.floor(status / 100)}xx` });
      durations.observe({ route }, durationMs / 1000);
    },
    accepted: (outcome) => accepted.inc({ outcome }),
    refused: (reason) => refused.inc({ reason }),
    attempted: (kind, outcome) => countDelivery(kind, outcome),
    queuePaused: (kind, isPaused) => {
      if (kind === "mail") paused.set(isPaused ? 1 : 0);
    },
  };
}

const ageS = (date: Date | null) => (date ? Math.max(0, Date.now() - date.getTime()) / 1000 : 0);

/** Gauges by name: what each is, and its value. */
const QUEUE_GAUGES: Readonly<Record<string, [help: string, read: (depth: QueueDepth) => number]>> = {
  site_queue_messages: ["Messages waiting to be delivered", ({ queued }) => queued],
  site_queue_oldest_age_seconds: [
    "Age of the oldest message waiting to be delivered, 0 without one",
    ({ oldestQueuedAt }) => ageS(oldestQueuedAt),
  ],
  site_quarantined_messages: ["Messages held back as suspected abuse", ({ quarantined }) => quarantined],
  site_failed_messages: ["Messages that failed for good, for the operator to retry", ({ failed }) => failed],
  site_hook_queue_messages: ["Messages waiting to be posted to HOOK_URL", ({ hook }) => hook.queued],
  site_hook_queue_oldest_age_seconds: [
    "Age of the oldest message waiting to be posted to HOOK_URL, 0 without one",
    ({ hook }) => ageS(hook.oldestQueuedAt),
  ],
  site_hook_failed_messages: ["Messages whose post to HOOK_URL failed for good", ({ hook }) => hook.failed],
};

/** Returns what updates the gauges of the queue from the store, before a scrape; it never rejects. */
function createQueueGauges({ Gauge }: PromClient, registry: Registry, store: MetricsStore): () => Promise<void> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const isUp = gauge("site_store_up", "1 if a message could be stored at this scrape; if not, the queue is left out");
  const gauges = Object.entries(QUEUE_GAUGES).map(([name, [help, read]]) => ({
    gauge: gauge(name, `${help}; the same on every node of one database: take the maximum, not the sum`),
    read,
  }));

  return async () => {
    try {
      // The check writes: a full disk can still be read.
      const [depth] = await withinMs(STORE_TIMEOUT_MS, Promise.all([store.queueDepth(), store.ping()]));
      isUp.set(1);
      for (const { gauge, read } of gauges) gauge.set(read(depth));
    } catch {
      isUp.set(0);
      for (const { gauge } of gauges) gauge.remove();
    }
  };
}
