import { once } from "node:events";
import { write } from "node:fs";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { isatty } from "node:tty";
import { isDraft } from "../contract/build-manifest.ts";
import { adviceLine, commandLine, programName } from "../contract/commands.ts";
import { capitalised, plural } from "../contract/text.ts";
import { createApp } from "./app.ts";
import { type Config, parseConfig } from "./config.ts";
import { OperatorError } from "./errors.ts";
import { type Build, loadBuild } from "./http/build-files.ts";
import { Readiness } from "./http/health.ts";
import { LIMITS } from "./http/limits.ts";
import { createDefectLog, isJournal, journalLine, type Log, openLogStream, terminalLine } from "./log.ts";
import { DIST_DIR, outdatedSettings } from "./manifest.ts";
import { isAway } from "./store/errors.ts";
import { acceptanceRules } from "./store/intake.ts";
import { type Channel, channelsOf } from "./store/model.ts";
import { createOpening } from "./store/opening.ts";
import type { Pause } from "./store/status.ts";
import { openStore, type Store } from "./store/store.ts";
import { MINUTE_MS, repeat, systemClock } from "./time.ts";
import { postAlert, startAlerts } from "./watch/alerts.ts";
import { type Meter, openMetrics } from "./watch/metrics.ts";
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
  const { brand, answerWithin, facts, referencePrefix } = build.manifest.site;
  const rules = acceptanceRules(config, referencePrefix);
  const opening = createOpening(
    () => openStore({ ...config, rules }, { isServer: true, onEnd: (error) => void endWith(error, brand, alertUrl) }),
    ({ message }, retryMs) => {
      log.error({ event: "store-away" }, `${message} (next attempt in ${retryMs / 1000} s)`);
      alerts.checkNow();
    },
  );
  const { openedStore } = opening;
  const node = `${hostname()}:${config.port}`;
  const channels = channelsOf(config);
  const watch = createWatch({
    openedStore,
    dataDir,
    channels,
    answerWithin,
    backupsKept: facts.backupsKept,
    askedBy: "server",
    node,
  });
  const metrics =
    config.metricsPort === null
      ? null
      : await openMetrics({ host: config.metricsHost, port: config.metricsPort, watch });
  const meter = metrics?.meter;
  const readiness = new Readiness();

  const isTerminal = isatty(STDOUT);
  const journalFormat = isJournal(STDOUT, process.env.JOURNAL_STREAM) ? journalLine : undefined;
  const logStream = openLogStream(STDOUT, isTerminal ? terminalLine : journalFormat);
  let work: Work | null = null;
  const app = createApp({
    config,
    build,
    limits: LIMITS,
    openedStore,
    logStream,
    meter,
    readiness,
    onStored: (state) => (state === "queued" ? work?.outbox.wake() : alerts.checkNow()),
    onNotStored: () => alerts.checkNow(),
  });
  const { log } = app;
  // Written at any LOG_LEVEL.
  const startLog = log.child({}, { level: "info" });
  await app.ready();
  // A second server on this port changes nothing on disk.
  await once(app.server.listen(config.port, config.host), "listening");
  if (metrics) log.info({ event: "metrics", url: metrics.url }, "Metrics are served");

  const alerts = startAlerts({ openedStore, watch, program: PROGRAM, retention, brand, alertUrl, log: startLog });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void shutDown());
  const started = opening.start().then(async (store) => {
    work = await startWork(store, { config, channels, node, build, log, meter, checkNow: alerts.checkNow });
  });
  alerts.checkNow();
  // While the store is away, the website is ready for pages.
  await openedStore().then(
    () => started,
    (error) => (isAway(error) ? null : started),
  );

  const { port } = app.server.address() as AddressInfo;
  // A parent such as scripts/dev.ts passes requests to this port.
  process.send?.({ port });
  const ready = readyLines(build, port, config, work);
  if (isTerminal) {
    logStream.write(`\n${ready.map(capitalised).join("\n")}\n\n`);
  } else startLog.info({ event: "ready" }, ready.join(" - "));
  const warnings = outdatedSettings(build.manifest.settings, config.build);
  if (isDraft(build.manifest.claims)) {
    const problem = "This site is a draft: some of its files are not signed, or its claims have no evidence";
    warnings.push({ problem, remedy: "see what is open", command: "claims" });
  }
  for (const advice of warnings) startLog.warn({ event: "to-correct" }, adviceLine(advice, PROGRAM));
  await started;

  /** Informs load balancers, then finishes the requests in progress, then the emails in progress. */
  async function shutDown(): Promise<void> {
    // npm forwards Ctrl-C, which then arrives twice.
    if (readiness.isStopping) return;
    setTimeout(endNow, SHUTDOWN_MS).unref();
    const endsAtMs = performance.now() + SHUTDOWN_MS;
    log.info({ event: "stopping" }, "Stopping");
    await readiness.end();
    await app.close();
    const store = await opening.stop();
    // Leaves at least a second to close the rest.
    const mailMs = Math.min(SHUTDOWN_MS / 2, endsAtMs - performance.now() - 1000);
    await Promise.all([work?.stop(mailMs), alerts.stop(), metrics?.close()]);
    await store?.close();
    exit(0, (done) => logStream.flush(done));
  }
}

type Work = Awaited<ReturnType<typeof startWork>>;

interface WorkOptions {
  config: Config;
  channels: readonly Channel[];
  node: string;
  build: Build;
  log: Log;
  meter: Meter | undefined;
  checkNow(): void;
}

/** What the website does for the messages in the open store. */
async function startWork(store: Store, { config, channels, node, build, log, meter, checkNow }: WorkOptions) {
  // Not before now, because they load the mail library, and pages need not wait for it.
  const { createSenders } = await import("./outbox/senders.ts");
  const { startPurge } = await import("./outbox/purge.ts");
  const { startOutbox } = await import("./outbox/outbox.ts");
  const { site } = build.manifest;
  const mailTo = config.mailTo ?? site.contactEmail;
  const mailFrom = config.mailFrom ?? site.contactEmail;
  const senders = createSenders(config, channels, store.queue, { ...site, mailTo, mailFrom });
  // For other servers and the operator's commands. Alerts tell that the database cannot be written.
  const noteDefect = createDefectLog(log);
  const reportNode = (pauses: readonly Pause[] | null) =>
    store.status.reportNode(pauses).catch((error) => void noteDefect(error));
  const onPauseChange = () => void reportNode(outbox.pauses).then(checkNow);
  const outbox = startOutbox({ store, senders, log, meter, onPauseChange });
  const reports = repeat(() => reportNode(outbox.pauses), MINUTE_MS, systemClock, true);
  const purge = startPurge({ store, dataDir: config.dataDir, log });
  // Loads its library only if it is used.
  const mailbox = config.imap && (await startReading(config.imap));
  async function startReading(imap: NonNullable<Config["imap"]>) {
    const { startMailbox } = await import("./mailbox/mailbox.ts");
    const { teamOf } = await import("./mailbox/mail.ts");
    const team = teamOf([mailTo, mailFrom, site.contactEmail], config.build.siteUrl);
    return startMailbox({ imap, node, team, store, log });
  }
  return {
    outbox,
    destination: senders.find(({ channel }) => channel === "mail")?.destination,
    async stop(mailMs: number): Promise<void> {
      await Promise.all([outbox.stop(mailMs), purge.stop(), reports.stop(), mailbox?.stop()]);
      await reportNode(null);
    },
  };
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

function readyLines({ manifest }: Build, port: number, config: Config, work: Work | null): string[] {
  const host = ["127.0.0.1", "::1", "0.0.0.0", "::"].includes(config.host) ? "localhost" : config.host;
  const unset = manifest.unset.length;
  return [
    `${manifest.site.brand} is on http://${host}:${port}`,
    work ? `messages go to ${work.destination}` : "no message can be stored until the message database answers",
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
