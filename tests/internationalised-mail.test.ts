import { expect, it } from "vitest";
import { acknowledgementSender, mailSender, replySender } from "../server/outbox/senders.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY, openPostOffice } from "./support/post-office.ts";

const REPLY = { key: "8b6f1d0e-0000-4000-8000-000000000001", subject: "Re: Grüße", text: "Wind-and-waves" };
const ASCII = /^[\0-\x7f]*$/;

/** Sends the mail to the team, the acknowledgement and a reply, and returns what the mail server got. */
async function exchange(email: string, hasSmtpUtf8: boolean, delivered: number) {
  const office = await openPostOffice();
  const server = await office.mailServer({ hasSmtpUtf8 });
  const options = { mailer: office.smtpMailer(server), identity: IDENTITY };
  const outbox = office.startSenders([
    mailSender(options),
    acknowledgementSender({ ...options, queue: office.store.queue }),
    replySender({ ...options, copyMailer: office.smtpMailer(server) }),
  ]);
  const reference = await office.accept({ name: "José", email });
  await office.store.replies.add(reference, REPLY, office.clock.now());
  outbox.wake();
  await office.log.seen("delivered", 1, "mail");
  outbox.wake();
  await office.log.seen("delivered", delivered);
  // The team's copy of the reply follows its delivery.
  await expect.poll(() => server.mails.length).toBe(delivered === 1 ? 1 : delivered + 1);
  const { mails } = server;
  const replies = mails.filter(({ raw }) => String(raw).includes(REPLY.text));
  const team = mails.find((mail) => mail.recipients.includes(IDENTITY.mailTo) && !replies.includes(mail));
  return { ...office, reference, mails, replies, team };
}

it("reaches the team whatever the server supports, and the sender if it supports SMTPUTF8", async () => {
  const { mails, replies, team } = await exchange("josé@xn--bcher-kva.example", true, 3);
  expect([team?.isUtf8, ASCII.test(String(team?.raw))]).toEqual([false, true]);
  const { text, headers } = parseMail(team?.raw ?? Buffer.of());
  expect(headers.map(([name]) => name)).not.toContain("Reply-To");
  expect(text).toContain("To answer José, write a new email to the address below");
  expect(text).toContain("\nEmail: josé@xn--bcher-kva.example\n");
  const toSender = { isUtf8: true, recipients: [expect.stringMatching(/^josé@(xn--bcher-kva|bücher)\.example$/)] };
  expect(mails.filter((mail) => mail !== team && !replies.includes(mail))).toMatchObject([toSender]);
  expect(replies).toMatchObject([toSender, { recipients: [IDENTITY.mailTo] }]);
});

it("needs no SMTPUTF8 for an internationalised domain", async () => {
  const { mails, team } = await exchange("name@xn--bcher-kva.example", false, 3);
  expect(mails.map(({ isUtf8, raw }) => [isUtf8, ASCII.test(String(raw))])).toEqual(Array(4).fill([false, true]));
  expect(parseMail(team?.raw ?? Buffer.of()).mailbox("Reply-To").address).toBe("name@xn--bcher-kva.example");
});

it("tells the operator if the server does not support the sender's address, and sends it nothing", async () => {
  const { mails, log, delivery, reference } = await exchange("josé@example.org", false, 1);
  await log.seen("failed", 2);
  const error = "the mail server does not support addresses with letters such as é (SMTPUTF8)";
  for (const channel of ["acknowledgement", "reply"] as const) {
    expect(await delivery(reference, channel)).toMatchObject({ state: "failed", error });
  }
  expect(mails.map(({ recipients }) => recipients)).toEqual([[IDENTITY.mailTo]]);
});
