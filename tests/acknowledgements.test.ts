import { expect, it } from "vitest";
import { acknowledgementSender, mailSender } from "../server/outbox/senders.ts";
import { HOUR_MS } from "../server/time.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY, openPostOffice } from "./support/post-office.ts";

// tests/outbox.test.ts covers the behaviour that all channels share.

async function openOffice() {
  const office = await openPostOffice();
  const server = await office.mailServer();
  const options = { mailer: office.smtpMailer(server), identity: IDENTITY };
  const acknowledging = acknowledgementSender({ ...options, queue: office.store.queue });
  return {
    ...office,
    server,
    start() {
      const outbox = office.startSenders([mailSender(options), acknowledging]);
      // It looks only once a second for what another channel has queued.
      void office.log.seen("delivered", 1, "mail").then(outbox.wake);
      return outbox;
    },
    seen: (event: string, nth = 1) => office.log.seen(event, nth, "acknowledgement"),
    count: (event: string) => office.log.count(event, "acknowledgement"),
  };
}

it("is sent after the message was delivered: one short mail without an envelope sender", async () => {
  const { accept, events, server, start, seen } = await openOffice();
  const reference = await accept({ email: "victim@example.org" });
  start();
  expect(await seen("delivered")).toMatchObject({ reference, attempts: 1 });
  expect(await events(reference)).toEqual(["mail delivered", "acknowledgement delivered"]);
  const [team, visitor, ...others] = server.mails;
  expect([team?.recipients, others]).toEqual([[IDENTITY.mailTo], []]);
  expect(visitor).toMatchObject({ sender: "", recipients: ["victim@example.org"] });
  expect(parseMail(visitor?.raw ?? Buffer.of()).text).toContain(reference);
});

it("is sent to a mailbox once a day in any spelling, and a flood to it does not delay other senders", async () => {
  const { accept, clock, count, log, server, start, seen } = await openOffice();
  for (let number = 0; number < 12; number += 1) await accept({ email: `vic.tim+${number}@example.org` });
  await accept({ email: "bob@example.org" });
  const outbox = start();
  await log.seen("delivered", 13, "mail");
  outbox.wake();
  // The fake clock does not advance here, so no mail waits for a timer.
  await seen("delivered", 2);
  expect(await seen("skipped", 11)).toMatchObject({ error: "address-limit" });
  clock.set(25 * HOUR_MS);
  await accept({ email: "Victim@example.org" });
  outbox.wake();
  await log.seen("delivered", 14, "mail");
  outbox.wake();
  await seen("delivered", 3);
  expect([server.mails.filter(({ sender }) => sender === "").length, count("skipped")]).toEqual([3, 11]);
});

it.each([
  ["no-reply@example.org", "not-a-person"],
  ["Team@example.test", "own-address"],
  ["hello+x@example.test", "own-address"],
])("is not sent to %s: %s", async (email, reason) => {
  const { accept, delivery, server, start, seen } = await openOffice();
  const reference = await accept({ email });
  start();
  expect(await seen("skipped")).toMatchObject({ reference, error: reason, level: "info" });
  expect(await delivery(reference, "acknowledgement")).toMatchObject({ state: "skipped", error: reason });
  expect(server.mails).toHaveLength(1);
});

it("is not sent if the message is delivered more than a day after its acceptance", async () => {
  const { accept, clock, server, start, seen, store } = await openOffice();
  const reference = await accept({}, true);
  clock.set(25 * HOUR_MS);
  await store.actions.act("release", { references: [reference] }, clock.now());
  start();
  expect(await seen("skipped")).toMatchObject({ error: "too-late" });
  expect(server.mails).toHaveLength(1);
});
