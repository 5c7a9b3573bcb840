import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { StoreUnavailable } from "../../server/store/errors.ts";
import { CHANNELS } from "../../server/store/model.ts";
import { openMetrics } from "../../server/watch/metrics.ts";
import { createWatch } from "../../server/watch/troubles.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { openPostOffice, withStore } from "../support/post-office.ts";
import { startServer } from "../support/run-server.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { untilEnd } from "../support/until-end.ts";

async function scrape(url: string) {
  const text = await (await fetch(url)).text();
  const samples = [...text.matchAll(/^([^#\s].*) (\S+)$/gm)].map(
    ([, sample, value]) => [sample, Number(value)] as const,
  );
  return { text, samples: new Map(samples) };
}

test("counts requests, messages and deliveries by outcome, without personal data", async () => {
  const mailServer = await untilEnd(startMailServer());
  mailServer.behave({ kind: "refuse", at: "recipient", code: 550, times: 1 });
  const SMTP_URL = `smtp://127.0.0.1:${mailServer.port}`;
  const server = await untilEnd(startServer({ METRICS_PORT: "0", SMTP_URL, RATE_LIMIT: "4/1d", ACKNOWLEDGE: "on" }));
  const { url } = server;
  const metrics = /"event":"metrics","url":"([^"]+)"/.exec(server.output())?.[1] ?? "";
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
    return Object.fromEntries(Object.keys(expected).map((sample) => [sample, scraped.samples.get(`site_${sample}`)]));
  };
  // Mails are sent after the answers, and a delivery is counted after it is stored.
  await expect.poll(values).toEqual(expected);
  const documented = new Set(readFileSync("docs/scaling.md", "utf8").match(/(?<=^\| `)site_\w+/gm));
  const served = new Set([...text.matchAll(/^# TYPE (site_\w+)/gm)].map(([, name]) => name));
  expect(documented).toEqual(served);
  expect(text).not.toMatch(/Ada|ada@|other\.example|secret|privacy/);
});

test("shows the queue and a nearly full disk, but no queue while the store is away, and only on its own address", async ({
  skip,
}) => {
  const { folder: dataDir } = await mountSmallDisk(skip);
  const { store, accept } = await openPostOffice();
  await accept();
  let isAway = false;
  const countDeliveries = () =>
    isAway ? Promise.reject(new StoreUnavailable({ problem: "away" })) : store.queue.countDeliveries();
  const watched = withStore(store, { queue: { countDeliveries } });
  const watch = createWatch({ openedStore: async () => watched, dataDir, channels: CHANNELS, askedBy: "server" });
  const { url, close } = await openMetrics({ host: "127.0.0.1", port: 0, watch });
  onTestFinished(close);
  const queued = async () => (await scrape(url)).samples.get('site_queue_messages{channel="mail",state="queued"}');
  expect(await queued()).toBe(1);
  expect((await scrape(url)).samples.get('site_trouble{kind="disk-low",channel=""}')).toBe(1);
  isAway = true;
  expect(await queued()).toBeUndefined();
  isAway = false;
  expect(await queued()).toBe(1);
  // Another address of this machine, as another container would use.
  await expect(fetch(url.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
});
