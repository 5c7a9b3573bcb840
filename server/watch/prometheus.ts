import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Store } from "../store/store.ts";
import { withinMs } from "../time.ts";
import { ACCEPTANCES, ATTEMPTS, type Meter, REFUSALS, ROUTES } from "./meter.ts";

/** A store that is away must not keep the other numbers from being read. */
const STORE_PATIENCE_MS = 2000;
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  meter: Meter;
  contentType: string;
  /** Everything in Prometheus' text format, with the queue as the store has it now. Never rejects. */
  scrape(): Promise<string>;
}

export function createMetrics(store: Pick<Store, "queueDepth">): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: "site_http_requests_total",
    help: "Requests answered by this node, by kind of route and class of status",
    labelNames: ["route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "site_http_request_duration_seconds",
    help: "Time from a request's arrival at this node to the end of its answer",
    labelNames: ["route"],
    buckets: BUCKETS_S,
    registers,
  });
  const accepted = new Counter({
    name: "site_messages_accepted_total",
    help: "Messages answered with success by this node; repeated ones were stored before",
    labelNames: ["outcome"],
    registers,
  });
  const refused = new Counter({
    name: "site_messages_refused_total",
    help: "Messages this node did not store, by reason",
    labelNames: ["reason"],
    registers,
  });
  const attempts = new Counter({
    name: "site_deliveries_total",
    help: "Attempts of this node to deliver a message, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const paused = new Gauge({
    name: "site_queue_paused",
    help: "1 while this node sends no mail because the mail server refuses it altogether",
    registers,
  });
  const queue = createQueueGauges(registers);

  // What never happened yet is 0 and not absent, so that the first time shows as an increase.
  for (const route of ROUTES) for (const status of ["2xx", "5xx"]) requests.inc({ route, status }, 0);
  for (const outcome of ACCEPTANCES) accepted.inc({ outcome }, 0);
  for (const reason of REFUSALS) refused.inc({ reason }, 0);
  for (const outcome of ATTEMPTS) attempts.inc({ outcome }, 0);

  return {
    contentType: registry.contentType,
    meter: {
      answered(route, status, durationMs) {
        requests.inc({ route, status: `${Math.floor(status / 100)}xx` });
        durations.observe({ route }, durationMs / 1000);
      },
      accepted: (outcome) => accepted.inc({ outcome }),
      refused: (reason) => refused.inc({ reason }),
      attempted: (outcome) => attempts.inc({ outcome }),
      queuePaused: (isPaused) => paused.set(isPaused ? 1 : 0),
    },
    async scrape() {
      await queue.read(store);
      return registry.metrics();
    },
  };
}

/** Read from the store at each scrape, so all nodes on one database show the same; do not add them up. */
function createQueueGauges(registers: Registry[]) {
  const shared = "the same on every node of one database: take the maximum, not the sum";
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const isUp = gauge("site_store_up", "1 if this node's store answered this scrape; if not, the queue is left out");
  const messages = gauge("site_queue_messages", `Messages waiting to be delivered; ${shared}`);
  const oldestAge = gauge(
    "site_queue_oldest_age_seconds",
    `Age of the oldest message waiting to be delivered, 0 without one; ${shared}`,
  );
  const failed = gauge("site_failed_messages", `Messages set aside as undeliverable, for the operator; ${shared}`);

  return {
    async read(store: Pick<Store, "queueDepth">): Promise<void> {
      try {
        const { queued, oldestQueuedAt, failed: setAside } = await withinMs(STORE_PATIENCE_MS, store.queueDepth());
        isUp.set(1);
        messages.set(queued);
        oldestAge.set(oldestQueuedAt ? Math.max(0, Date.now() - oldestQueuedAt.getTime()) / 1000 : 0);
        failed.set(setAside);
      } catch {
        isUp.set(0);
        for (const unknown of [messages, oldestAge, failed]) unknown.remove();
      }
    },
  };
}
