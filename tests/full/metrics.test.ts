import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CHANNELS, StoreUnavailable } from "../../server/store/store.ts";
import { openMetrics } from "../../server/watch/metrics.ts";
import { createWatch } from "../../server/watch/troubles.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { metricsUrl, scrape } from "../support/metrics.ts";
import { startNetwork } from "../support/network.ts";
import { openPostOffice, withStore } from "../support/post-office.ts";
import { startServer } from "../support/run-server.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { untilEnd } from "../support/until-end.ts";

const OLDEST = 'site_queue_oldest_age_seconds{channel="mail"}';

async function start(env: Record<string, string> = {}) {
  const server = await untilEnd(startServer({ METRICS_PORT: "0", ...env }));
  return { ...server, metrics: metricsUrl(server) };
}

test("counts requests, messages and deliveries by outcome, without personal data", async () => {
  const mailServer = await untilEnd(startMailServer());
  mailServer.behave({ kind: "refuse", at: "recipient", code: 550, times: 1 });
  const { url, metrics } = await start({
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    RATE_LIMIT: "4/1d",
    ACKNOWLEDGE: "on",
  });
  const visitor = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Words" };
  const send = (body: object | string, headers = {}) =>
    fetch(`${url}/send-email`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify({ ...visitor, ...body }),
    });

  for (const message of ["one", "one", "two"]) await postMessage(url, message);
  for (const body of [{ topic_code: "filled" }, { message: "one too many" }, { email: "nobody" }, "{"])
    await send(body);
  await send({}, { origin: "https://other.example" });
  for (const path of ["/", "/privacy?secret=Ada", "/Ada/ada@example.com", "/assets/none.js", "/healthz"]) {
    await (await fetch(url + path)).text();
  }

  const expected: Record<string, number> = {
    'deliveries_total{channel="mail",outcome="delivered"}': 1,
    'deliveries_total{channel="mail",outcome="failed"}': 1,
    'deliveries_total{channel="acknowledgement",outcome="delivered"}': 1,
    'messages_accepted_total{outcome="queued"}': 2,
    'messages_accepted_total{outcome="repeated"}': 1,
    'messages_accepted_total{outcome="quarantined"}': 1,
    'messages_refused_total{reason="limited"}': 1,
    'messages_refused_total{reason="invalid"}': 1,
    'messages_refused_total{reason="malformed"}': 1,
    'messages_refused_total{reason="foreign-origin"}': 1,
    'http_requests_total{route="message",status="2xx"}': 4,
    'http_requests_total{route="message",status="4xx"}': 4,
    'http_requests_total{route="page",status="2xx"}': 3,
    'http_requests_total{route="asset",status="4xx"}': 1,
    'http_requests_total{route="health",status="2xx"}': 1,
    'http_request_duration_seconds_count{route="message"}': 8,
    'queue_messages{channel="mail",state="failed"}': 1,
    'trouble{kind="failed",channel="mail"}': 1,
    'trouble{kind="quarantined",channel=""}': 1,
  };
  let text = "";
  const values = async () => {
    const scraped = await scrape(metrics);
    text = scraped.text;
    return Object.fromEntries(Object.keys(expected).map((sample) => [sample, scraped.value(`site_${sample}`)]));
  };
  // Mails are sent after the answers, and a delivery is counted after it is stored.
  await expect.poll(values).toEqual(expected);
  const documented = new Set(readFileSync("docs/scaling.md", "utf8").match(/(?<=^\| `)site_\w+/gm));
  const served = new Set([...text.matchAll(/^# TYPE (site_\w+)/gm)].map(([, name]) => name));
  expect(documented).toEqual(served);
  expect(text).not.toMatch(/Ada|ada@|other\.example|secret|privacy/);
});

test("answers one path and one method, in Prometheus' content type, only on the address in METRICS_PORT", async () => {
  const { metrics } = await start();
  const answer = await fetch(metrics);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect((await fetch(new URL("/", metrics))).status).toBe(404);
  expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  // Another address of this machine, as another container would use.
  await expect(fetch(metrics.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
  const open = await start({ METRICS_PORT: "0.0.0.0:0" });
  expect((await fetch(open.metrics.replace("0.0.0.0", "127.0.0.2"))).status).toBe(200);
});

test("shows the queue of all nodes, and omits it while the store does not answer", async () => {
  const postgres = await untilEnd(sharePostgres());
  const network = await startNetwork(postgres.port);
  const databaseUrl = await postgres.createDatabase();
  // Nothing listens there, so the message stays queued.
  const env = { SMTP_URL: "smtp://127.0.0.1:1", DATABASE_URL: databaseUrl };
  const other = await start(env);
  const { metrics } = await start({
    ...env,
    DATABASE_URL: databaseUrl.replace(`:${postgres.port}/`, `:${network.port}/`),
  });
  await postMessage(other.url, "waits");
  const queued = async () => (await scrape(metrics)).value('site_queue_messages{channel="mail",state="queued"}');
  expect(await queued()).toBe(1);

  await network.become({ kind: "silent" });
  await expect.poll(queued, { timeout: 15_000 }).toBeUndefined();
  const lost = await scrape(metrics);
  expect(lost.value(OLDEST)).toBeUndefined();
  expect(lost.value('site_trouble{kind="overdue",channel="mail"}')).toBeUndefined();

  await network.become({ kind: "open" });
  await expect.poll(queued, { timeout: 15_000 }).toBe(1);
});

test("shows a nearly full disk, the oldest message, and a store that is away for a minute", async ({ skip }) => {
  const { folder: dataDir } = await mountSmallDisk(skip);
  const { store, accept, clock } = await openPostOffice();
  await accept();
  const away = () => Promise.reject(new StoreUnavailable({ problem: "away" }));
  const watch = createWatch({
    store: withStore(store, { status: { ping: away } }),
    dataDir,
    channels: CHANNELS,
    askedBy: "server",
  });
  let nowMs = clock.now().getTime() + 90_000;
  const { url, close } = await openMetrics({ host: "127.0.0.1", port: 0, watch, now: () => new Date(nowMs) });
  onTestFinished(close);
  const isAway = async () => (await scrape(url)).value('site_trouble{kind="store-away",channel=""}');
  expect(await isAway()).toBeUndefined();
  expect((await scrape(url)).value('site_trouble{kind="disk-low",channel=""}')).toBe(1);
  expect((await scrape(url)).value(OLDEST)).toBe(90);
  nowMs += 60_000;
  await expect.poll(isAway, { timeout: 5000 }).toBe(1);
});

test("shows that no mail can be sent", async () => {
  const mailServer = await untilEnd(startMailServer({ hasTls: true }));
  const { url, metrics } = await start({ SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` });
  const value = (sample: string) => async () => (await scrape(metrics)).value(sample);
  const paused = value('site_trouble{kind="paused",channel="mail"}');
  expect(await paused()).toBeUndefined();
  await postMessage(url, "not with this certificate");
  await expect.poll(paused, { timeout: 10_000 }).toBe(1);
  const attempts = value('site_deliveries_total{channel="mail",outcome="paused"}');
  await expect.poll(attempts, { timeout: 10_000 }).toBe(1);
});

test("for a port in use, prints one line that suggests another port, and exits with code 1", async () => {
  const { port } = await start();
  // Another run of this test, or another program, does not use this address.
  const host = `127.1.${(process.pid >> 8) & 255}.${process.pid & 255}`;
  const blocker = createServer();
  onTestFinished(() => void blocker.close());
  await once(blocker.listen(9464, host), "listening");
  for (const [address, taken, other] of [
    [port, port, 9464],
    [`${host}:9464`, 9464, 9465],
  ])
    await expect(startServer({ METRICS_PORT: String(address) })).rejects.toThrow(
      new RegExp(
        ` ended with 1:\\nMETRICS_PORT ${taken} is in use; choose another, e\\.g\\. METRICS_PORT=${other}\\n$`,
      ),
    );
});

test.each([
  [{}, false],
  [{ METRICS_PORT: "0" }, true],
])("loads the metrics library only with METRICS_PORT: %j", async (env, isLoaded) => {
  const folder = await makeScratchFolder();
  // Node writes a list of all loaded scripts there.
  const server = await startServer({ ...env, NODE_V8_COVERAGE: folder });
  expect(await server.stop()).toBe(0);
  const scripts = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  expect(scripts.some((text) => text.includes("server/app.ts"))).toBe(true);
  expect(scripts.some((text) => text.includes("/prom-client/"))).toBe(isLoaded);
});
