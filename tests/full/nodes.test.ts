import { setTimeout } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BALANCERS, startBalancer } from "../support/balancer.ts";
import { countEach } from "../support/invariant.ts";
import { ask } from "../support/raw-http.ts";
import { requirePrograms } from "../support/require-program.ts";
import { type PostgresServer, startPostgres } from "../support/run-postgres.ts";
import { type RunningServer, startServer } from "../support/run-server.ts";
import { sharePostgresForFile } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

/** The number of visitors who alternately read a page and send a message. */
const READERS = 4;
const PAUSE_MS = 50;

const postgres = await sharePostgresForFile();
/** Not shared with other test files, because tests here stop it. */
let ownPostgres: PostgresServer | undefined;
afterAll(() => ownPostgres?.stop());

describe.each(Object.keys(BALANCERS) as (keyof typeof BALANCERS)[])("behind %s", (name) => {
  beforeEach(({ skip }) => requirePrograms(skip, ...BALANCERS[name].needs));

  test("a message in plain text is refused, and a page is redirected", async () => {
    const balancer = await startBalancer(name, [await untilEnd(startServer())]);
    const plain = (line: string) => ask(balancer.plainPort, `${line} HTTP/1.0\r\nHost: www.example.com\r\n\r\n`);
    expect((await plain("POST /send-email")).status).toBe(403);
    const page = await plain("GET /contact");
    expect([301, 308]).toContain(page.status);
    expect(page.headers.location).toBe("https://www.example.com/contact");
    // certbot renews the certificate over HTTP; Caddy does that itself.
    if (name === "nginx") expect((await plain("GET /.well-known/acme-challenge/x")).status).toBe(404);
  });

  test("three nodes share limits despite forged addresses, and serve pages while the database is away", async () => {
    ownPostgres ??= await startPostgres();
    const own = ownPostgres;
    const nodes = await startNodes({
      DATABASE_URL: await own.createDatabase(),
      LOG_LEVEL: "silent",
      RATE_LIMIT: "5/10m",
      TRUST_PROXY: "loopback",
    });
    const balancer = await startBalancer(name, nodes);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, count) => {
        const claimed = `203.0.113.${count + 1}`;
        const headers = { "x-forwarded-for": claimed, forwarded: `for=${claimed}`, "x-real-ip": claimed };
        return balancer.ask("/send-email", { json: messageOf(`limit ${count}`), headers });
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);

    onTestFinished(() => own.resume());
    await own.halt();
    // Long enough for the health checks to exclude every node for messages.
    for (const endMs = performance.now() + 4000; performance.now() < endMs; ) {
      const { status, headers, body } = await balancer.ask("/send-email", { json: messageOf("nobody can store this") });
      expect([status, headers["retry-after"], JSON.parse(body).success]).toEqual([503, "30", false]);
      const pages = await Promise.all(nodes.map(() => balancer.ask("/contact")));
      expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
      await setTimeout(PAUSE_MS);
    }
  });

  test("with one node, form and page say when it has stopped", async () => {
    const node = await untilEnd(startServer({ LOG_LEVEL: "silent" }));
    const balancer = await startBalancer(name, [node]);
    const broken = { success: false, error: "We cannot accept messages at the moment. Please try again in a minute." };
    await node.stop();
    for (const after of [0, 2000]) {
      await setTimeout(after);
      const { status, body, headers } = await balancer.ask("/send-email", { json: messageOf("nobody can store this") });
      expect([status, headers["retry-after"], headers["content-type"]]).toEqual([503, "30", "application/json"]);
      expect(JSON.parse(body)).toEqual(broken);
      const form = await balancer.ask("/send-email", { json: {}, headers: { accept: "text/html,*/*" } });
      expect([form.status, form.headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
      expect(form.body).toContain("Your message was not sent");
      const page = await balancer.ask("/contact", { headers: { accept: "text/html" } });
      expect([page.status, page.headers["cache-control"]]).toEqual([503, "no-store"]);
      expect(page.body).toContain('http-equiv="refresh"');
    }
  });
});

test("restarting three nodes one after another behind nginx under load fails no page and no message", async ({
  skip,
}) => {
  requirePrograms(skip, ...BALANCERS.nginx.needs);
  const env = { DATABASE_URL: await postgres.createDatabase(), LOG_LEVEL: "error" };
  const nodes = await startNodes(env);
  const balancer = await startBalancer("nginx", nodes);
  const restarted = new AbortController();
  const answers: string[] = [];
  const client = async (first: number) => {
    for (let count = 0; !restarted.signal.aborted; count += 1) {
      answers.push(`page ${(await balancer.ask("/contact")).status}`);
      const { status } = await balancer.ask("/send-email", { json: messageOf(`message ${first} ${count}`) });
      answers.push(`message ${status}`);
      // Allows more than a hundred requests per second, and leaves the nodes time to start and stop.
      await setTimeout(PAUSE_MS);
    }
  };
  const clients = Array.from({ length: READERS }, (_, first) => client(first));
  for (const node of nodes) {
    expect(await node.stop()).toBe(0);
    await startNodes({ ...env, PORT: new URL(node.url).port }, 1);
  }
  restarted.abort();
  await Promise.all(clients);
  const { "page 200": pages = 0, "message 200": messages = 0, ...others } = Object.fromEntries(countEach(answers));
  expect(Math.min(pages, messages)).toBeGreaterThan(READERS);
  expect(others).toEqual({});
});

/**
 * The nodes stop together at the end of the test, because each waits until the balancer knows that it is about to stop.
 */
async function startNodes(env: Record<string, string>, count = 3): Promise<RunningServer[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startServer(env)));
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  return nodes;
}

function messageOf(message: string) {
  return { name: "Load", email: "load@example.com", phone: "1", country: "", message };
}
