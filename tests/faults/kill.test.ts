import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { ACKNOWLEDGEMENTS_PER_HOUR } from "../../server/outbox/acknowledgement.ts";
import type { Channel } from "../../server/store/store.ts";
import { acknowledgementIdsOf, countEach, messageIdsOf, referenceOf } from "../support/invariant.ts";
import { kill, openScene } from "../support/scene.ts";

const CLIENTS = 4;
const KILLS = 20;
const SOON = { timeout: 90_000, interval: 10 };
/** A kill between sending and saving repeats a mail, and every kill may hit the same mail. */
const MOST_TIMES = 1 + KILLS;
const ON = { ACKNOWLEDGE: "on" };
/** One visitor in ten writes more than once. */
const emailOf = (count: number) => `visitor${count % 10 === 0 ? 0 : count}@example.com`;

test(`${KILLS} kills under load lose nothing, and the next start sends what a dead server had claimed`, async () => {
  const scene = await openScene({ emailOf });
  const { store, visitors, mailServer } = scene;
  for (let count = 1; count <= KILLS; count += 1) {
    // Every fourth kill hits a mail in flight.
    const hitsMail = count % 4 === 0;
    mailServer.behave({ kind: hitsMail ? "hold-after-data" : "accept" });
    const [before, mailsBefore] = [visitors.acknowledged.length, mailServer.mails.length];
    const server = await scene.start(ON);
    const stop = new AbortController();
    const load = visitors.postUntil(stop.signal, server.url, CLIENTS);
    // Half of the kills wait for an acknowledged message, even on a slow machine.
    if (count % 2 === 0) await expect.poll(() => visitors.acknowledged.length, SOON).toBeGreaterThan(before);
    if (hitsMail) await expect.poll(() => mailServer.mails.length, SOON).toBeGreaterThan(mailsBefore);
    // Irregular but repeatable times, from the middle of the first request to full load.
    await wait(10 + ((count * 67) % 190));
    await kill(server);
    stop.abort();
    await load;
  }

  // No message is lost, and rows, histories and mails agree on which acknowledgements were sent.
  mailServer.behave({ kind: "accept" });
  const server = await scene.start(ON);
  await expect.poll(() => visitors.postAgain(server.url), SOON).toBe(0);
  await scene.queueIsEmpty();
  await expect.poll(async () => (await store.queue.countChannel("acknowledgement")).queued, SOON).toBe(0);
  await scene.expectNothingLost(server, MOST_TIMES);
  const messages = await store.messages.list({ limit: 1_000_000 });
  const mailTimesOf = countEach(messageIdsOf(mailServer.mails).map(referenceOf));
  expect(Math.max(...mailTimesOf.values())).toBeGreaterThan(1);
  const mailed = countEach(acknowledgementIdsOf(mailServer.mails));
  const timesOf = new Map([...mailed].map(([id, times]) => [referenceOf(id), times]));
  expect(timesOf.size).toBe(mailed.size);
  expect(timesOf.size).toBeGreaterThan(0);
  expect(timesOf.size).toBeLessThanOrEqual(ACKNOWLEDGEMENTS_PER_HOUR);
  for (const { reference, deliveries } of messages) {
    const { state, error } = deliveries.acknowledgement ?? {};
    const events = await store.messages.history(reference);
    const unknownEndsOf = (one: Channel) =>
      events.filter(({ channel, detail }) => channel === one && detail?.includes("may arrive twice")).length;
    // Only an attempt with an unknown end repeats a mail.
    expect(mailTimesOf.get(reference), reference).toBeLessThanOrEqual(1 + unknownEndsOf("mail"));
    const history = events.filter(({ channel }) => channel === "acknowledgement");
    const unknownEnds = unknownEndsOf("acknowledgement");
    const times = timesOf.get(reference) ?? 0;
    // After three kills during its attempts, it is unknown whether it was sent, so it is given up. A fourth kill may
    // happen before that is saved.
    const isGivenUp = state === "failed" && unknownEnds >= 3;
    if (isGivenUp) expect(error).toMatch(/^given up: /);
    else {
      const ended = times > 0 ? "delivered null" : expect.stringMatching(/^skipped (address|hourly)-limit$/);
      expect([reference, `${state} ${error}`]).toEqual([reference, ended]);
    }
    expect(times).toBeLessThanOrEqual(isGivenUp ? 3 : 1 + unknownEnds);
    expect(history.filter(({ kind }) => kind === "delivered")).toHaveLength(times > 0 && !isGivenUp ? 1 : 0);
  }
  const told = messages.filter(({ deliveries }) => deliveries.acknowledgement?.state === "delivered");
  expect(new Set(told.map(({ email }) => email)).size).toBe(told.length);
});
