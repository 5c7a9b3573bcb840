import { describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../../scripts/run-server.ts";
import { MailError } from "../../server/mail/mailer.ts";
import { startPurge } from "../../server/outbox/purge.ts";
import type { Outcome } from "../../server/store/store.ts";
import { CHANNELS } from "../../server/store/store.ts";
import { startAlerts } from "../../server/watch/alerts.ts";
import { createWatch } from "../../server/watch/troubles.ts";
import { claimOne, DAY_MS, HOUR_MS, MINUTE_MS } from "../store-contract/samples.ts";
import { startAlertReceiver } from "../support/alert-receiver.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { RETENTION } from "../support/in-process-store.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createManualMailer, openPostOffice } from "../support/post-office.ts";
import { createRecordingLog } from "../support/recording-log.ts";
import { runCli, runCliProcess } from "../support/run-cli.ts";
import { sharePostgres } from "../support/shared-postgres.ts";

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
    await expect.poll(async () => (await store.countChannel("mail")).queued, { timeout: 10_000 }).toBe(0);
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

describe("RETENTION", () => {
  /** A delivered, a failed and a quarantined message, and servers on their store, one after the other. */
  async function openSite() {
    const { accept, clock, store, dataDir } = await openPostOffice();
    const settleNext = async (outcome: Outcome) => {
      await store.settle(await claimOne(store, clock.now()), outcome, clock.now());
    };
    const delivered = await accept();
    await settleNext({ kind: "delivered" });
    const failed = await accept();
    await settleNext({ kind: "failed", error: "550" });
    const held = await accept({}, true);
    const startMs = clock.now().getTime();
    const log = createRecordingLog();
    /** A server is started on each of these days, by its own clock, and its purge and its alerts run once. */
    const runOn = async (...days: readonly number[]) => {
      for (const day of days) {
        const clock = createFakeClock(new Date(startMs + day * DAY_MS).toISOString());
        const watch = createWatch({ store, program: "p", dataDir, channels: CHANNELS, askedBy: "server" });
        const alerts = startAlerts({ store, watch, retention: RETENTION, brand: "B", alertUrl: null, log, clock });
        const purge = startPurge({ store, dataDir, log, clock });
        clock.countWorkers = () => 2;
        await clock.advance(MINUTE_MS);
        await Promise.all([purge.stop(), alerts.stop()]);
      }
    };
    const announcements = () => log.lines.filter(({ troubles }) => troubles?.includes("expiring")).length;
    const kept = async () => new Set((await store.list({})).map(({ reference }) => reference));
    return { delivered, failed, held, runOn, announcements, kept };
  }

  it("erases nothing when servers start 100 days ahead, and keeps to its days once their clock is right", async () => {
    const { delivered, failed, held, runOn, announcements, kept } = await openSite();
    const all = new Set([delivered, failed, held]);
    await runOn(100, 100.1, 100.2);
    expect(announcements()).toBe(1);
    expect(await kept()).toEqual(all);

    await runOn(...daysTo(13));
    expect(await kept()).toEqual(all);
    await runOn(14);
    expect(await kept()).toEqual(new Set([delivered, failed]));
    await runOn(...daysTo(29, 15));
    expect(await kept()).toEqual(new Set([delivered, failed]));
    await runOn(30);
    expect(await kept()).toEqual(new Set([failed]));
  });

  it("erases a week after its announcement what nobody was told of while no server ran", async () => {
    const { runOn, announcements, kept } = await openSite();
    await runOn(100, 101, 106.9);
    expect(announcements()).toBe(1);
    expect((await kept()).size).toBe(3);
    await runOn(107.1);
    expect((await kept()).size).toBe(0);
  });
});

function daysTo(last: number, first = 0): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

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

    expect((await fetch(`${nodes[1].url}/readyz`)).status).toBe(200);
    // The first check of the alerts comes after half a minute.
    await expect
      .poll(() => receiver.alerts.map(({ body }) => body.text), { timeout: 45_000 })
      .toEqual([expect.stringMatching(/The clock of \S+ is 6 minutes ahead of the database's/)]);
    const timesLogged = nodes.map((node) => node.output().match(/"troubles":\["clock"\]/g)?.length ?? 0);
    expect(timesLogged).toEqual([0, 1]);
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
