import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { acknowledgementIdsOf, countEach, messageIdsOf, referenceOf } from "../support/invariant.ts";
import { kill, openScene } from "../support/scene.ts";

const CLIENTS = 4;
const KILLS = 12;
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

  mailServer.behave({ kind: "accept" });
  const server = await scene.start(ON);
  await expect.poll(() => visitors.postAgain(server.url), SOON).toBe(0);
  await scene.queueIsEmpty();
  // A mail that five kills may have interrupted is given up, and an acknowledgement that one did. They wait for the
  // operator.
  const failed = await store.messages.list({ state: "failed", limit: 1_000_000 });
  for (const { mail, acknowledgement } of failed.map(({ deliveries }) => deliveries))
    for (const one of [mail, acknowledgement])
      if (one?.state === "failed") expect(one.error).toMatch(/^given up: .+ may have arrived$/);
  await store.actions.act("retry", { references: failed.map(({ reference }) => reference) }, new Date());
  await scene.queueIsEmpty();
  await expect.poll(async () => (await store.queue.countChannel("acknowledgement")).queued, SOON).toBe(0);
  await scene.expectNothingLost(server, MOST_TIMES);
  const times = countEach(messageIdsOf(mailServer.mails));
  expect(Math.max(...times.values()), "mails in flight at a kill").toBeGreaterThan(1);

  const messages = await store.messages.list({ limit: 1_000_000 });
  const told = messages.filter(({ deliveries }) => deliveries.acknowledgement?.state === "delivered");
  const toldIds = acknowledgementIdsOf(mailServer.mails).map(referenceOf);
  expect(toldIds).toEqual(expect.arrayContaining(told.map(({ reference }) => reference)));
  expect(told.length).toBeGreaterThan(0);
  expect(new Set(told.map(({ email }) => email)).size).toBe(told.length);
});
