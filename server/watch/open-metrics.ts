import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Store } from "../store/store.ts";
import type { Meter } from "./meter.ts";

/** The metrics cannot be offered; the message says what to do. */
export class MetricsRefused extends Error {
  override readonly name = "MetricsRefused";
}

export interface OpenMetrics {
  meter: Meter;
  url: string;
  close(): Promise<void>;
}

/** Starts to count, and offers `GET /metrics` to this machine alone. */
export async function openMetrics(port: number, store: Pick<Store, "queueDepth">): Promise<OpenMetrics> {
  // Loaded only here: the library costs memory and time that nobody without METRICS_PORT should pay.
  const { createMetrics } = await import("./prometheus.ts");
  const { meter, contentType, scrape } = createMetrics(store);
  const server = createServer(async (request, response) => {
    if (request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404).end("Only /metrics is here\n");
    } else if (request.method !== "GET") {
      response.writeHead(405, { allow: "GET" }).end("Only GET\n");
    } else {
      const text = await scrape();
      response.writeHead(200, { "content-type": contentType, "cache-control": "no-store" }).end(text);
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch(({ code }: NodeJS.ErrnoException) => {
    const reason = code === "EADDRINUSE" ? "is in use" : code === "EACCES" ? "needs more rights" : `fails (${code})`;
    throw new MetricsRefused(`METRICS_PORT ${port} ${reason}; choose another, e.g. METRICS_PORT=9464`);
  });
  return {
    meter,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    async close() {
      const closed = once(server, "close");
      server.close();
      // Nobody waits for a number from a program that ends.
      server.closeAllConnections();
      await closed;
    },
  };
}
