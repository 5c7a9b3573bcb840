import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../scripts/run-server.ts";
import { createEmlMailer } from "../server/mail/eml.ts";
import type { Mailer } from "../server/mail/mailer.ts";
import { erasePerson } from "../server/operator/person.ts";
import { mailSender } from "../server/outbox/mail.ts";
import { replySender } from "../server/outbox/reply.ts";
import { CHANNELS } from "../server/store/store.ts";
import { createWatch } from "../server/watch/troubles.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY, openPostOffice } from "./support/post-office.ts";
import { runWithInput } from "./support/run-cli.ts";
import { kill } from "./support/scene.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { untilEnd } from "./support/until-end.ts";

// tests/outbox.test.ts covers the behaviour that all channels share.

const REPLY = { key: "8b6f1d0e-0000-4000-8000-000000000001", subject: "Re: Grüße", text: "Dear Ada,\n\n12 tonnes." };

/** An office that has mailed one message. `reply` answers it. */
async function openReplyOffice(openMailer: (office: Awaited<ReturnType<typeof openPostOffice>>) => Mailer) {
  const office = await openPostOffice();
  const mailer = openMailer(office);
  const outbox = office.startSenders([
    mailSender({ mailer, identity: IDENTITY }),
    replySender({ mailer, identity: IDENTITY }),
  ]);
  const reference = await office.accept({ message: "How many?\n> all" });
  outbox.wake();
  await office.log.seen("delivered", 1);
  const reply = async () => {
    await office.store.messages.reply(reference, REPLY, office.clock.now());
    outbox.wake();
  };
  return { ...office, reference, reply };
}

test("a reply reaches the visitor, refers to the message's mail, and has the team as Reply-To", async () => {
  const server = await untilEnd(startMailServer());
  const {
    reference,
    reply: sendReply,
    log,
    clock,
    message,
  } = await openReplyOffice(({ smtpMailer }) => smtpMailer(server));
  await sendReply();
  await log.seen("delivered", 2);
  const [mail, reply] = server.mails.map(({ raw }) => parseMail(raw));
  expect(server.mails[1]).toMatchObject({ sender: IDENTITY.mailFrom, recipients: ["ada@example.org"] });
  expect(reply?.mailbox("From")).toEqual({ name: IDENTITY.brand, address: IDENTITY.mailFrom });
  expect(reply?.mailbox("To").address).toBe("ada@example.org");
  expect(reply?.mailbox("Reply-To").address).toBe(IDENTITY.mailTo);
  expect(reply?.header("Subject")).toBe("Re: Grüße");
  for (const name of ["In-Reply-To", "References"]) expect(reply?.header(name)).toBe(mail?.header("Message-ID"));
  expect(reply?.header("Message-ID")).not.toBe(mail?.header("Message-ID"));
  const day = clock.now().toISOString().slice(0, 10);
  expect(reply?.text).toBe(`Dear Ada,\n\n12 tonnes.\n\nOn ${day}, Ada Lovelace wrote:\n> How many?\n> > all`);
  expect((await message(reference)).answeredAt).toEqual(clock.now());
});

test("a reply that the visitor's mail server refuses has failed, shows the reason, and needs attention", async () => {
  const server = await untilEnd(startMailServer());
  const office = await openReplyOffice(({ smtpMailer }) => smtpMailer(server));
  const { reference, reply, store, log, clock, delivery, dataDir } = office;
  server.behave({ kind: "refuse", at: "recipient", code: 550 });
  await reply();
  const error = "mailbox refused by the mail server (RCPT TO)";
  expect(await log.seen("failed")).toMatchObject({ channel: "reply", error: `550 ${error}` });
  const failed = { state: "failed", error: `550 … is not welcome; ${error}` };
  expect(await delivery(reference, "reply")).toMatchObject(failed);
  const watch = createWatch({ store, dataDir, channels: CHANNELS, askedBy: "server" });
  expect((await watch.find(clock.now())).troubles).toMatchObject([
    {
      kind: "failed",
      channel: "reply",
      problem: `1 reply could not be sent (${reference}: 550 ${error})`,
      severity: "critical",
    },
  ]);
});

test("a mail server that never answers after the text gets three copies of a reply, and then no more", async () => {
  const server = await untilEnd(startMailServer());
  const { reference, reply, log, clock, delivery } = await openReplyOffice(({ smtpMailer }) => smtpMailer(server));
  // Before the text, nothing can have arrived.
  server.behave({ kind: "refuse", at: "recipient", code: 451, times: 1 });
  await reply();
  await clock.advanceTo((await log.seen("deferred")).dueAt ?? clock.now());
  server.behave({ kind: "drop-after-data" });
  for (let copies = 2; copies <= 4; copies += 1) {
    await clock.advanceTo((await log.seen("deferred", copies)).dueAt ?? clock.now());
  }
  expect(await log.seen("failed")).toMatchObject({ error: expect.stringMatching(/^given up: several attempts/) });
  expect(await delivery(reference, "reply")).toMatchObject({ state: "failed", attempts: 5 });
  expect(server.mails).toHaveLength(4);
});

test("without a mail server, a reply is a file, which is erased with its message", async () => {
  const office = await openReplyOffice((office) => createEmlMailer(office.dataDir));
  const { reference, reply, store, log, dataDir } = office;
  await reply();
  await log.seen("delivered", 2);
  const files = () => readdirSync(join(dataDir, "outbox")).toSorted();
  expect(files()).toEqual([`${reference}.eml`, `${reference}.reply-8b6f1d0e.eml`]);
  expect(parseMail(readFileSync(join(dataDir, "outbox", files()[1] ?? ""))).header("Subject")).toBe("Re: Grüße");
  const erased = await erasePerson({ email: "ada@example.org" }, { store, dataDir });
  expect(erased).toMatchObject({ messages: 1, files: 2 });
  expect(files()).toEqual([]);
});

test("a reply that is queued after the server was killed is sent once by the next server", async () => {
  const mailServer = await untilEnd(startMailServer());
  const env = { DATA_DIR: await makeScratchFolder(), SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` };
  const first = await startServer(env);
  onTestFinished(() => kill(first));
  const reference = await postMessage(first.url, "to be answered");
  // The mail may arrive earlier, but a server that is killed before this event sends it again.
  await expect.poll(first.output, { timeout: 20_000 }).toContain('"event":"delivered"');
  await kill(first);
  expect(await runWithInput(env, "Yes.\n", "reply", String(reference))).toMatchObject({ code: 0, err: "" });
  const second = await untilEnd(startServer(env));
  await expect.poll(() => mailServer.mails.length, { timeout: 20_000 }).toBe(2);
  await postMessage(second.url, "another");
  await expect.poll(() => mailServer.mails.length, { timeout: 20_000 }).toBe(3);
  const subjects = mailServer.mails.map(({ raw }) => parseMail(raw).header("Subject"));
  expect(subjects.filter((subject) => subject.startsWith("Re: "))).toEqual([`Re: Your message (${reference})`]);
}, 120_000);
