import { once } from "node:events";
import { write } from "node:fs";
import type { AddressInfo } from "node:net";
import { isatty } from "node:tty";
import { isDraft } from "../contract/build-manifest.ts";
import { adviceLine, commandLine, programName } from "../contract/commands.ts";
import { capitalised, plural } from "../contract/text.ts";
import { type Config, parseConfig } from "./config.ts";
import { type Build, loadBuild } from "./http/build-files.ts";
import { createReadiness } from "./http/health.ts";
import { LIMITS } from "./http/limits.ts";
import { createSite } from "./http/pages.ts";
import { createDefectLog } from "./log.ts";
import { DIST_DIR, outdatedSettings } from "./manifest.ts";
import { OperatorError } from "./operator-error.ts";
import { type Sender, startOutbox } from "./outbox/outbox.ts";
import { channelsOf } from "./store/model.ts";
import type { Pause } from "./store/status.ts";
import { openStore } from "./store/store.ts";
import { MINUTE_MS, repeat, systemClock } from "./time.ts";
import { postAlert, startAlerts } from "./watch/alerts.ts";
import { openMetrics } from "./watch/metrics.ts";
import { createWatch } from "./watch/troubles.ts";

const SHUTDOWN_MS = 10_000;
/** Time for the last log lines if the reader or the disk is slow. */
const LOG_MS = 500;
const ALERT_MS = 5000;
const [STDOUT, STDERR] = [1, 2];
const PROGRAM = programName(process.env);

try {
  await run(parseConfig(process.env));
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}

async function run(config: Config): Promise<void> {
  const { dataDir, alertUrl, retention } = config;
  const build = loadBuild(DIST_DIR);
  const { site: company } = build.manifest;
  const { brand, contactEmail, answerWithin } = company;
  const identity = { ...company, mailTo: config.mailTo ?? contactEmail, mailFrom: config.mailFrom ?? contactEmail };

  const site = createSite(build, LIMITS);
  await once(site.server.listen(config.port, config.host), "listening");
  // The store opens in its thread while Fastify is loaded.
  const [store, { createApp }, logs] = await Promise.all([
    openStore(config, { isServer: true, onEnd: (error) => void endWith(error, brand, alertUrl) }),
    import("./app.ts"),
    import("./log-stream.ts"),
  ]);
  const watch = createWatch({ store, dataDir, channels: channelsOf(config), answerWithin, askedBy: "server" });
  const metrics =
    config.metricsPort === null
      ? null
      : await openMetrics({ host: config.metricsHost, port: config.metricsPort, watch, now: () => new Date() });
  const meter = metrics?.meter;
  const readiness = createReadiness();

  const isTerminal = isatty(STDOUT);
  const journalFormat = logs.isJournal(STDOUT, process.env.JOURNAL_STREAM) ? logs.journalLine : undefined;
  const logStream = logs.openLogStream(STDOUT, isTerminal ? logs.terminalLine : journalFormat);
  const app = createApp({
    config,
    site,
    store,
    logStream,
    meter,
    readiness,
    onStored: (state) => (state === "queued" ? outbox.wake() : alerts.checkNow()),
    onNotStored: () => alerts.checkNow(),
  });
  const { log } = app;
  if (metrics) log.info({ event: "metrics", url: metrics.url }, "Metrics are served");

  // Not before now, because they load the mail library, and pages need not wait for it.
  const { createSenders } = await import("./outbox/senders.ts");
  const { startPurge } = await import("./outbox/purge.ts");
  const senders = createSenders(config, store, identity);
  // For other servers and the operator's commands. Alerts tell that the database cannot be written.
  const noteDefect = createDefectLog(log);
  const reportNode = (pauses: readonly Pause[] | null) =>
    store.status.reportNode(pauses).catch((error) => void noteDefect(error));
  const onPauseChange = () => void reportNode(outbox.pauses).then(() => alerts.checkNow());
  const outbox = startOutbox({ store, senders, log, meter, onPauseChange });
  const reports = repeat(() => reportNode(outbox.pauses), MINUTE_MS, systemClock, true);
  const purge = startPurge({ store, dataDir, log });
  // Written at any LOG_LEVEL.
  const startLog = log.child({}, { level: "info" });
  const alerts = startAlerts({ store, watch, program: PROGRAM, retention, brand, alertUrl, log: startLog });
  await app.ready();

  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void shutDown());
  const { port } = app.server.address() as AddressInfo;
  const ready = readyLines(build, port, config, senders);
  if (isTerminal) {
    logStream.write(`\n${ready.map(capitalised).join("\n")}\n\n`);
  } else startLog.info({ event: "ready" }, ready.join(" - "));
  const warnings = outdatedSettings(build.manifest.settings, config.build);
  if (isDraft(build.manifest.claims)) {
    const problem = "This site is a draft: some of its files are not signed, or its claims have no evidence";
    warnings.push({ problem, remedy: "see what is open", command: "claims" });
  }
  for (const advice of warnings) startLog.warn({ event: "to-correct" }, adviceLine(advice, PROGRAM));

  /** Informs load balancers, then finishes the requests in progress, then the emails in progress. */
  async function shutDown(): Promise<void> {
    // npm forwards Ctrl-C, which then arrives twice.
    if (readiness.isStopping) return;
    setTimeout(endNow, SHUTDOWN_MS).unref();
    const endsAtMs = performance.now() + SHUTDOWN_MS;
    log.info({ event: "stopping" }, "Stopping");
    await readiness.end();
    await app.close();
    // Leaves at least a second to close the rest.
    const mailMs = Math.min(SHUTDOWN_MS / 2, endsAtMs - performance.now() - 1000);
    await Promise.all([outbox.stop(mailMs), purge.stop(), alerts.stop()]);
    await Promise.all([metrics?.close(), reports.stop()]);
    await reportNode(null);
    await store.close();
    exit(0, (done) => logStream.flush(done));
  }
}

/** For errors that only a restart by the supervisor can fix. */
async function endWith({ message }: Error, brand: string, alertUrl: string | null): Promise<void> {
  const alert = { text: `${brand}: The website restarts. ${message}`, troubles: ["store-away"] };
  if (alertUrl !== null) await postAlert(alertUrl, alert, AbortSignal.timeout(ALERT_MS)).catch(() => {});
  exit(1, (done) => write(STDERR, `${message}\n`, done));
}

/** Ends the process after its last lines. `process.exit` would wait for a reader that takes none. */
function exit(code: number, writeLast: (done: () => void) => void): void {
  setTimeout(endNow, LOG_MS);
  writeLast(() => process.exit(code));
}

/** Unlike `process.exit`, this does not wait for the database's thread, which may be stuck in a call to the disk. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function readyLines({ manifest }: Build, port: number, config: Config, senders: readonly Sender[]): string[] {
  const mail = senders.find(({ channel }) => channel === "mail");
  const host = ["127.0.0.1", "::1", "0.0.0.0", "::"].includes(config.host) ? "localhost" : config.host;
  const unset = manifest.unset.length;
  return [
    `${manifest.site.brand} is on http://${host}:${port}`,
    `messages go to ${mail?.destination}`,
    `to read messages: ${commandLine("inbox", PROGRAM)}`,
    ...(unset > 0 ? [`${plural(unset, "thing")} to set before launch: ${commandLine("preflight", PROGRAM)}`] : []),
  ];
}

function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.advice.map((advice) => adviceLine(advice, PROGRAM)).join("\n");
  if (!(error instanceof Error)) return String(error);
  const { syscall, code, port, message, stack } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== "listen" && syscall !== "getaddrinfo") return stack ?? message;
  const problem = code === "EADDRINUSE" ? `Port ${port} is in use` : `The server cannot listen (${message})`;
  return adviceLine({ problem, remedy: "stop the other program, or change PORT, HOST or METRICS_PORT" }, PROGRAM);
}
