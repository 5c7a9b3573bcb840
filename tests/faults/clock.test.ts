import { expect, it, onTestFinished } from "vitest";
import { startServer } from "../../scripts/run-server.ts";
import { DAY_MS, MINUTE_MS } from "../store-contract/samples.ts";
import { countEach, findViolations, messageIdsOf } from "../support/invariant.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { openPostOffice } from "../support/post-office.ts";
import { startReceiver } from "../support/receiver.ts";
import { runCli, runCliProcess } from "../support/run-cli.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

// tests/store-contract tests the effect of a wrong clock on leases, due times and retention.

it.each([
  ["forward", DAY_MS],
  ["back", -DAY_MS],
])("a clock set %s by a day loses no queued, deferred or unfinished message", async (_direction, jumpMs) => {
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
  // The deferred message is due within its minute, or at once, but not a day later.
  await clock.advance(2 * MINUTE_MS);
  await expect.poll(async () => (await store.countChannel("mail")).queued).toBe(0);
  const messageIds = messageIdsOf(server.mails);
  // The jump is longer than a lease, so a message that was being sent may be sent a second time.
  expect(findViolations({ acknowledged, stored: await store.list({}), messageIds }, 2)).toEqual([]);
});

/** The environment of a process on a machine whose clock is ahead by this time. */
function aheadBy(aheadMs: number) {
  const shim = new URL("../support/shift-clock.ts", import.meta.url).href;
  return { NODE_OPTIONS: `--import=${shim}`, CLOCK_AHEAD_MS: String(aheadMs) };
}

it("two servers on one PostgreSQL mail each message once, although one clock is six minutes ahead", async () => {
  const postgres = await untilEnd(sharePostgres());
  const mailServer = await untilEnd(startMailServer());
  const receiver = await startReceiver<{ text: string }>();
  const env = {
    DATABASE_URL: await postgres.createDatabase(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    ALERT_URL: receiver.url,
  };
  const nodes = await Promise.all([startServer(env), startServer({ ...env, ...aheadBy(6 * MINUTE_MS) })]);
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));

  // Slow enough to need leases.
  mailServer.behave({ kind: "accept", afterMs: 500 });
  const posts = Array.from({ length: 80 }, (_, count) => postMessage(nodes[count % 2]?.url ?? "", `burst ${count}`));
  expect(new Set(await Promise.all(posts)).size).toBe(80);
  const queued = async () => (await runCli(env, "list", "--state", "queued")).out;
  await expect.poll(queued, { timeout: 60_000, interval: 1000 }).toBe("No messages.\n");
  const times = countEach(messageIdsOf(mailServer.mails));
  expect([times.size, Math.max(...times.values())]).toEqual([80, 1]);

  expect((await fetch(`${nodes[1].url}/readyz`)).status).toBe(200);
  // The first check for alerts runs after half a minute.
  await expect
    .poll(() => receiver.posts.map(({ body }) => body.text), { timeout: 45_000 })
    .toEqual([expect.stringMatching(/The clock of \S+ is 6 minutes ahead of the database's/)]);
  const timesLogged = nodes.map((node) => node.output().match(/"troubles":\["clock"\]/g)?.length ?? 0);
  expect(timesLogged).toEqual([0, 1]);
  const preflight = await runCliProcess({ ...env, ...aheadBy(6 * MINUTE_MS) }, "preflight");
  expect(preflight.out).toMatch(/^warn +clock +The clock of \S+ is 6 minutes ahead of the database's/m);
  // All times come from the database's clock.
  const [newest] = JSON.parse((await runCli(env, "list", "--json", "--limit", "1")).out);
  expect(Math.abs(Date.parse(newest.acceptedAt) - Date.now())).toBeLessThan(MINUTE_MS);
}, 150_000);
