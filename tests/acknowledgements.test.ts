import { expect, it } from "vitest";
import { HOUR_MS } from "../server/time.ts";
import { parseMail } from "./support/parse-mail.ts";
import { openPostOffice } from "./support/post-office.ts";

// tests/outbox.test.ts covers the behaviour that all channels share.

/**
 * The team's mail server, and a second one that gets only the mails to senders, so that it can fail alone. In
 * production both are one server, with separate connections.
 */
async function openTwoServers() {
  const office = await openPostOffice();
  const [team, strangers] = [await office.mailServer(), await office.mailServer()];
  return {
    ...office,
    team,
    strangers,
    start: (options: Parameters<typeof office.start>[1] = {}) => {
      const acknowledgement = { mailer: office.smtpMailer(strangers) };
      return office.start(office.smtpMailer(team), { acknowledgement, ...options });
    },
    seen: (event: string, nth = 1) => office.log.seen(event, nth, "acknowledgement"),
    count: (event: string) => office.log.count(event, "acknowledgement"),
    acknowledgement: (reference: string) => office.delivery(reference, "acknowledgement"),
  };
}

it("is sent after the message was delivered: one short mail without an envelope sender", async () => {
  const { accept, events, team, strangers, start, seen } = await openTwoServers();
  const reference = await accept({ email: "victim@example.org" });
  start();
  expect(await seen("delivered")).toMatchObject({ reference, attempts: 1 });
  expect(await events(reference)).toEqual(["mail delivered", "acknowledgement delivered"]);
  expect(team.mails).toHaveLength(1);
  expect(strangers.mails).toMatchObject([{ sender: "", recipients: ["victim@example.org"] }]);
  expect(parseMail(strangers.mails[0]?.raw ?? Buffer.of()).text).toContain(reference);
});

it("is sent to a mailbox once a day in any spelling, and a flood to it does not delay other senders", async () => {
  const { accept, clock, count, strangers, start, seen } = await openTwoServers();
  for (let number = 0; number < 50; number += 1) await accept({ email: `vic.tim+${number}@example.org` });
  await accept({ email: "bob@example.org" });
  const outbox = start();
  // The fake clock does not advance here, so no mail waits for a timer.
  await seen("delivered", 2);
  expect(await seen("skipped", 49)).toMatchObject({ error: "address-limit" });
  clock.set(25 * HOUR_MS);
  await accept({ email: "Victim@example.org" });
  outbox.wake();
  await seen("delivered", 3);
  expect([strangers.mails.length, count("skipped")]).toEqual([3, 49]);
});

it.each([
  ["no-reply@example.org", "not-a-person"],
  ["Team@example.test", "own-address"],
  ["hello+x@example.test", "own-address"],
])("is not sent to %s: %s", async (email, reason) => {
  const { accept, acknowledgement, strangers, start, seen } = await openTwoServers();
  const reference = await accept({ email });
  start();
  expect(await seen("skipped")).toMatchObject({ reference, error: reason, level: "info" });
  expect(await acknowledgement(reference)).toMatchObject({ state: "skipped", error: reason });
  expect(strangers.mails).toEqual([]);
});

it("is not sent if the message is delivered more than a day after its acceptance", async () => {
  const { accept, clock, store, strangers, start, seen } = await openTwoServers();
  const reference = await accept({}, true);
  clock.set(25 * HOUR_MS);
  await store.messages.act("release", { references: [reference] }, clock.now());
  start();
  expect(await seen("skipped")).toMatchObject({ error: "too-late" });
  expect(strangers.mails).toEqual([]);
});
