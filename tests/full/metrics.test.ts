import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { CHANNELS } from "../../server/store/store.ts";
import { openMetrics } from "../../server/watch/metrics.ts";
import { createWatch } from "../../server/watch/troubles.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { metricsUrl, scrape } from "../support/metrics.ts";
import { startNetwork } from "../support/network.ts";
import { openPostOffice } from "../support/post-office.ts";
import { startServer } from "../support/run-server.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { untilEnd } from "../support/until-end.ts";

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

test("answers only on the address in METRICS_PORT", async () => {
  const { metrics } = await start();
  expect((await fetch(metrics)).headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  // Another address of this machine, as another container would use.
  await expect(fetch(metrics.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
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
  expect((await scrape(metrics)).value('site_queue_oldest_age_seconds{channel="mail"}')).toBeUndefined();

  await network.become({ kind: "open" });
  await expect.poll(queued, { timeout: 15_000 }).toBe(1);
});

test("shows a nearly full disk", async ({ skip }) => {
  const { folder: dataDir } = await mountSmallDisk(skip);
  const { store, clock } = await openPostOffice();
  const watch = createWatch({ store, dataDir, channels: CHANNELS, askedBy: "server" });
  const { url, close } = await openMetrics({ host: "127.0.0.1", port: 0, watch, now: clock.now });
  onTestFinished(close);
  expect((await scrape(url)).value('site_trouble{kind="disk-low",channel=""}')).toBe(1);
});
