import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createApp } from "./app.ts";
import { type Config, ConfigError, parseConfig } from "./config.ts";
import { createReadiness } from "./http/health.ts";
import { BuildMissing, loadSite, type Site } from "./http/site-files.ts";
import { openMailer } from "./mail/open-mailer.ts";
import { startOutbox } from "./outbox/outbox.ts";
import { startPurge } from "./outbox/purge.ts";
import { openStore } from "./store/open-store.ts";
import { StoreRefused, StoreUnavailable } from "./store/store.ts";
import { startAlerts } from "./watch/alerts.ts";
import { MetricsRefused, openMetrics } from "./watch/open-metrics.ts";

const DIST_DIR = fileURLToPath(new URL("../dist/", import.meta.url));
const SHUTDOWN_MS = 10_000;

try {
  await run(parseConfig(process.env));
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}

async function run(config: Config): Promise<void> {
  const site = loadSite(DIST_DIR);
  const { contactEmail, brand } = site.manifest.site;
  const store = await openStore(config);
  const mailer = openMailer(config);
  const identity = { brand, mailTo: config.mailTo ?? contactEmail, mailFrom: config.mailFrom ?? contactEmail };

  const metrics = config.metricsPort === null ? null : await openMetrics(config.metricsPort, store);
  const meter = metrics?.meter;
  const readiness = createReadiness();

  const app = createApp({ config, site, store, meter, readiness, onAccepted: () => outbox.wake() });
  const outbox = startOutbox({ store, mailer, identity, meter, onPaused: () => alerts.checkNow(), log: app.log });
  const alerts = startAlerts({ store, outbox, brand, alertUrl: config.alertUrl, log: app.log });
  const purge = startPurge({ store, retention: config.retention, dataDir: config.dataDir, log: app.log });

  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void shutDown());
  if (metrics) app.log.info({ event: "metrics", url: metrics.url }, "metrics are served");
  await app.listen({ port: config.port, host: config.host });
  console.log(readyLine(site, (app.server.address() as AddressInfo).port, config, mailer.describe));
  for (const line of settingsThatDiffer(site, config)) console.log(line);

  /**
   * Load balancers hear of it, requests under way finish, then the mail under way; what is left waits in the store for
   * the next start.
   */
  async function shutDown(): Promise<void> {
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    const endsAtMs = performance.now() + SHUTDOWN_MS;
    app.log.info({ event: "stopping" }, "asked to stop");
    await readiness.end();
    await app.close();
    // Never longer than leaves a second to close the rest.
    const mailMs = Math.min(SHUTDOWN_MS / 2, endsAtMs - performance.now() - 1000);
    await Promise.all([outbox.stop(mailMs), purge.stop(), alerts.stop()]);
    await metrics?.close();
    await mailer.close();
    await store.close();
    process.exit(0);
  }
}

function readyLine(site: Site, port: number, config: Config, mailPlace: string): string {
  const host = ["127.0.0.1", "::1", "0.0.0.0", "::"].includes(config.host) ? "localhost" : config.host;
  const { site: identity, unset } = site.manifest;
  const todo = unset.length > 0 ? `unset for launch: ${unset.join(", ")}` : "nothing unset for launch";
  return `${identity.brand} is on http://${host}:${port} - messages go to ${mailPlace} - ${todo}`;
}

/** The pages keep what they were built with, whatever the variables say now. */
function settingsThatDiffer(site: Site, config: Config): string[] {
  const names = { siteUrl: "SITE_URL", apiBase: "API_BASE", countriesUrl: "COUNTRIES_URL" } as const;
  return Object.entries(names).flatMap(([key, name]) => {
    const built = site.manifest.settings[key as keyof typeof names];
    const wanted = config.build[key as keyof typeof names];
    return built === wanted
      ? []
      : `${name} is "${wanted}" but the pages were built with "${built}"; run: npm run build`;
  });
}

/** One clear line for each thing that somebody can mend; anything else is a defect and keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join("\n");
  const mendable = [BuildMissing, StoreRefused, StoreUnavailable, MetricsRefused];
  if (mendable.some((kind) => error instanceof kind)) return (error as Error).message;
  const { code, port, address, hostname } = error as Partial<Record<"code" | "port" | "address" | "hostname", string>>;
  if (code === "EADDRINUSE")
    return `Port ${port} is in use; stop the other program or choose another, e.g. PORT=3001 npm start`;
  if (code === "EACCES") return `Port ${port} needs more rights; choose one above 1023, e.g. PORT=3000 npm start`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `HOST ${address ?? hostname ?? ""} is not an address of this machine; e.g. HOST=127.0.0.1`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
