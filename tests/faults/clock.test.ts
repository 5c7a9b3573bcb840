import { describe, expect, it } from "vitest";
import { MailError } from "../../server/mail/mailer.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { createManualMailer, openPostOffice } from "../support/post-office.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
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
