import { describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../../scripts/run-server.ts";
import { MailError } from "../../server/mail/mailer.ts";
import { startPurge } from "../../server/outbox/purge.ts";
import { startAlerts } from "../../server/watch/alerts.ts";
import { startAlertReceiver } from "../support/alert-receiver.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createManualMailer, openPostOffice } from "../support/post-office.ts";
import { runCli, runCliProcess } from "../support/run-cli.ts";
import { sharePostgres } from "../support/shared-postgres.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const JUMPS: [string, number][] = [
  ["forward", DAY_MS],
  ["back", -DAY_MS],
];

describe.each(JUMPS)("a clock set a day %s", (_direction, jumpMs) => {
  it("loses nothing that was queued, deferred or on its way, and repeats it once at most", async () => {
    const { accept, clock, log, store, ...office } = await openPostOffice();
    const server = await office.mailServer();
    const acknowledged = [await accept(), await accept()];
    server.behave({ kind: "refuse", at: "recipient", code: 451, times: 1 });
    const outbox = office.start(office.smtpMailer(server));
    await log.seen("deferred");
    await log.seen("delivered");
    server.behave({ kind: "hold-after-data", times: 1 });
    acknowledged.push(await accept());
    outbox.wake();
    await expect.poll(() => server.mails.length).toBe(2);

    clock.set(jumpMs);
    server.release();
    acknowledged.push(await accept());
    outbox.wake();
    // The deferred one is due within the minute it was promised, or at once; not a day later.
    await clock.advance(2 * MINUTE_MS);
    await expect.poll(async () => (await store.queueDepth()).queued, { timeout: 10_000 }).toBe(0);
    const messageIds = messageIdsOf(server.mails);
    // A lease cannot outlast such a jump, so what was on its way may come a second time.
    expect(findViolations({ acknowledged, stored: await store.list({}), messageIds }, 2)).toEqual([]);
  });

  it("takes over what a dead worker had, as soon as its lease would have ended at the latest", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    const dead = createManualMailer();
    const reference = await accept();
    office.start(dead, { concurrency: 1 });
    await dead.received(1);
    clock.set(jumpMs);
    const server = await office.mailServer();
    office.start(office.smtpMailer(server));
    await clock.advance(6 * MINUTE_MS);
    expect(await log.seen("delivered")).toMatchObject({ reference, attempts: 2 });
  });

  it("does not lengthen a pause of the queue", async () => {
    const { accept, clock, log, ...office } = await openPostOffice();
    await accept();
    const mailer = createManualMailer();
    office.start(mailer);
    await mailer.received(1);
    mailer.mails[0]?.fail(new MailError("blocked", "535"));
    await log.seen("paused");
    clock.set(jumpMs);
    await clock.advance(2 * MINUTE_MS);
    await mailer.received(2);
    mailer.mails[1]?.accept();
    await log.seen("delivered");
  });
});

it("a server started 100 days ahead erases nothing, says so, and goes on once the clock is right", async () => {
  const { accept, clock, log, store, dataDir } = await openPostOffice();
  const finish = async (outcome: "delivered" | "failed") => {
    await accept();
    const [claim] = await store.claim(1, MINUTE_MS, clock.now());
    if (!claim) throw new Error("nothing to claim");
    if (outcome === "delivered") await store.markDelivered(claim, clock.now());
    else await store.markFailed(claim, "550", clock.now());
  };
  await finish("delivered");
  await finish("failed");
  await accept({}, true);
  const retention = { deliveredMs: 30 * DAY_MS, failedMs: 90 * DAY_MS, quarantinedMs: 14 * DAY_MS };
  /** A server's purge and alerts, with a clock that starts so much later than that of the messages. */
  const startAt = (aheadMs: number) => {
    const clock = createFakeClock(new Date(Date.parse("2026-01-05T10:00:00.000Z") + aheadMs).toISOString());
    const purge = startPurge({ store, retention, dataDir, log, clock, onTrouble: () => alerts.checkNow() });
    const outbox = { pauseReason: null };
    const alerts = startAlerts({ store, outbox, purge, brand: "B", alertUrl: null, log, clock });
    clock.countWorkers = () => 2;
    const stop = async () => void (await Promise.all([purge.stop(), alerts.stop()]));
    onTestFinished(stop);
    return { clock, stop };
  };
  const texts = () => log.lines.filter(({ event }) => event === "alert").map(({ troubles }) => troubles?.join());
  const wrong = startAt(100 * DAY_MS);
  await wrong.clock.advance(6 * HOUR_MS);
  await wrong.stop();
  expect(await store.list({})).toHaveLength(3);
  // The failure and the quarantine are reported as ever.
  expect(texts()).toEqual(expect.arrayContaining(["clock"]));
  expect(texts()).not.toContain("ending");

  const right = startAt(HOUR_MS);
  await right.clock.advance(2 * HOUR_MS);
  expect(log.count("purge-held")).toBe(1);
  await right.stop();
  const later = startAt(2 * DAY_MS);
  await later.clock.advance(HOUR_MS);
  expect(await store.list({})).toHaveLength(3);
  expect(await store.judgeClock(new Date(Date.parse("2026-01-05T10:00:00.000Z") + 3 * DAY_MS))).toBeNull();
});

/** Variables of a process on a machine whose clock is off by so much. */
function aheadBy(aheadMs: number) {
  const shim = new URL("../support/shift-clock.ts", import.meta.url).href;
  return { NODE_OPTIONS: `--import=${shim}`, CLOCK_AHEAD_MS: String(aheadMs) };
}

async function startAhead(aheadMs: number, env: Record<string, string>) {
  const server = await startServer({ ...aheadBy(aheadMs), ...env });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

describe("two servers on one PostgreSQL whose clocks differ", () => {
  async function openTwo(aheadMs: number) {
    const postgres = await sharePostgres();
    onTestFinished(() => postgres.stop());
    const mailServer = await startMailServer();
    onTestFinished(() => mailServer.close());
    const receiver = await startAlertReceiver();
    onTestFinished(() => receiver.close());
    const env = {
      DATABASE_URL: await postgres.createDatabase(),
      SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      ALERT_URL: `http://127.0.0.1:${receiver.port}/`,
    };
    const nodes = [await startAhead(0, env), await startAhead(aheadMs, env)] as const;
    return { env, mailServer, receiver, nodes };
  }

  it("mail each message of a burst once, by a slow mail server, with one six minutes ahead", async () => {
    const { env, mailServer, receiver, nodes } = await openTwo(6 * MINUTE_MS);
    mailServer.behave({ kind: "accept", afterMs: 500 });
    const posts = Array.from({ length: 80 }, (_, count) => postMessage(nodes[count % 2]?.url ?? "", `burst ${count}`));
    const acknowledged = await Promise.all(posts);
    const queued = async () => (await runCli(env, "list", "--state", "queued")).out;
    await expect.poll(queued, { timeout: 60_000, interval: 1000 }).toBe("No messages.\n");
    const ids = messageIdsOf(mailServer.mails);
    expect(new Set(ids).size).toBe(80);
    const repeats = Object.values(Object.groupBy(ids, (id) => id)).map((mails) => mails?.length ?? 0);
    expect(Math.max(...repeats)).toBe(1);
    expect(new Set(acknowledged).size).toBe(80);

    const [right, ahead] = nodes.map((node) => node.output());
    expect(right).not.toContain("clock-off");
    expect(ahead?.match(/"event":"clock-off","aheadSeconds":3(59|60|61)/g)).toHaveLength(1);
    expect((await fetch(`${nodes[1].url}/readyz`)).status).toBe(200);
    // The first check of the alerts comes after half a minute.
    await expect
      .poll(() => receiver.alerts.map(({ body }) => body.text), { timeout: 45_000 })
      .toEqual([expect.stringMatching(/The clock of \S+ is 6 minutes ahead of the database's/)]);
    const preflight = await runCliProcess({ ...env, ...aheadBy(6 * MINUTE_MS) }, "preflight");
    expect(preflight.out).toMatch(/^warn +clock +The clock of \S+ is 6 minutes ahead of the database's/m);
    // All times are those of the database.
    const [newest] = JSON.parse((await runCli(env, "list", "--json", "--limit", "1")).out);
    expect(Math.abs(Date.parse(newest.acceptedAt) - Date.now())).toBeLessThan(MINUTE_MS);
  }, 150_000);

  it("do not use up each other's attempts while the mail server defers, with one six hours ahead", async () => {
    const { env, mailServer, nodes } = await openTwo(6 * HOUR_MS);
    mailServer.behave({ kind: "refuse", at: "recipient", code: 451 });
    await Promise.all(nodes.map(({ url }, node) => postMessage(url, `deferred ${node}`)));
    const attempts = async () =>
      JSON.parse((await runCli(env, "list", "--json")).out).map((message: { attempts: number }) => message.attempts);
    await expect.poll(attempts, { timeout: 20_000 }).toEqual([1, 1]);
    // Both look for due messages when another one arrives.
    for (let count = 0; count < 5; count += 1) {
      await Promise.all(nodes.map(({ url }, node) => postMessage(url, `another ${count} ${node}`)));
      await expect.poll(attempts, { timeout: 20_000 }).toEqual(Array.from({ length: 4 + 2 * count }, () => 1));
    }
  }, 90_000);
});
