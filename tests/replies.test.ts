import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { erasePerson } from "../desk/person.ts";
import { createEmlMailer } from "../server/mail/eml.ts";
import type { Mailer } from "../server/mail/mailer.ts";
import { acknowledgementSender, mailSender, replySender } from "../server/outbox/senders.ts";
import { HOUR_MS } from "../server/time.ts";
import { postMessage } from "./support/load.ts";
import { startMailServer } from "./support/mail-server.ts";
import { parseMail } from "./support/parse-mail.ts";
import { IDENTITY, openPostOffice } from "./support/post-office.ts";
import { runWithInput } from "./support/run-cli.ts";
import { startServer } from "./support/run-server.ts";
import { kill } from "./support/scene.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { untilEnd } from "./support/until-end.ts";

// tests/outbox.test.ts covers the behaviour that all channels share.

const REPLY = { key: "8b6f1d0e-0000-4000-8000-000000000001", subject: "Re: Grüße", text: "Dear Ada,\n\n12 tonnes." };

const SIGNED = { ...IDENTITY, mailSignature: "The team\nof Brighter" };

type OpenMailer = (office: Awaited<ReturnType<typeof openPostOffice>>) => Mailer;

/** An office that has mailed one message. `reply` answers it. */
async function openReplyOffice(openMailer: OpenMailer, isAcknowledged = false, openCopyMailer = openMailer) {
  const office = await openPostOffice();
  const mailer = openMailer(office);
  const outbox = office.startSenders([
    mailSender({ mailer, identity: IDENTITY }),
    replySender({ mailer, copyMailer: openCopyMailer(office), identity: SIGNED }),
    ...(isAcknowledged ? [acknowledgementSender({ mailer, identity: IDENTITY, queue: office.store.queue })] : []),
  ]);
  const reference = await office.accept({ message: "How many?\n> all" });
  outbox.wake();
  await office.log.seen("delivered", 1);
  outbox.wake();
  const reply = async (written = REPLY) => {
    await office.store.replies.add(reference, written, office.clock.now());
    outbox.wake();
  };
  return { ...office, reference, reply };
}

test("acknowledgement and replies are one thread for the visitor, and mail and replies one for the team", async () => {
  const server = await untilEnd(startMailServer());
  const office = await openReplyOffice(({ smtpMailer }) => smtpMailer(server), true);
  const { reference, reply: sendReply, log, clock, message } = office;
  await log.seen("delivered", 2);
  const subject = `Re: Your message (${reference})`;
  await sendReply({ ...REPLY, subject });
  await expect.poll(() => server.mails.length).toBe(4);
  expect((await message(reference)).answeredAt).toEqual(clock.now());
  await sendReply({ ...REPLY, subject, key: "2b6f1d0e-0000-4000-8000-000000000002", text: "One more thing." });
  await expect.poll(() => server.mails.length).toBe(6);
  const received = server.mails.map(({ raw, recipients: [to = ""] }) => ({ to, ...parseMail(raw) }));
  const inboxOf = (address: string) => received.filter(({ to }) => to === address);
  const [visitor, team] = [inboxOf("ada@example.org"), inboxOf(IDENTITY.mailTo)];
  for (const inbox of [visitor, team]) {
    expect(inbox).toHaveLength(3);
    // JWZ's rule: a mail names the id of one that is there. Gmail's: it also has the same subject after `Re:`.
    for (const [index, mail] of inbox.entries()) {
      const ids = inbox.slice(0, index).map((earlier) => earlier.header("Message-ID"));
      if (index > 0) expect(mail.header("References").split(/\s+/)).toEqual(expect.arrayContaining(ids));
      if (index > 0) expect(mail.header("In-Reply-To")).toBe(ids.at(-1));
      expect(mail.header("Subject").replace(/^Re: /, "")).toBe(inbox[0]?.header("Subject"));
    }
  }
  const [, first, second] = visitor;
  expect(team.slice(1).map(({ text }) => text)).toEqual([first?.text, second?.text]);
  // So the visitor's answers belong to the team's thread.
  expect(second?.header("References")).toContain(team[0]?.header("Message-ID"));
  expect(team[2]?.mailbox("Reply-To").address).toBe("ada@example.org");

  expect(first?.mailbox("From")).toEqual({ name: IDENTITY.brand, address: IDENTITY.mailFrom });
  expect(first?.mailbox("To").address).toBe("ada@example.org");
  expect(first?.mailbox("Reply-To").address).toBe(IDENTITY.mailTo);
  const day = clock.now().toISOString().slice(0, 10);
  const quoted = `On ${day}, Ada Lovelace wrote:\n> How many?\n> > all`;
  expect(first?.text).toBe(`Dear Ada,\n\n12 tonnes.\n\nThe team\nof Brighter\n\n${quoted}`);
});

test("a copy that the team's mail server refuses is in the log and in the history, and repeats nothing", async () => {
  const [server, teamServer] = [await untilEnd(startMailServer()), await untilEnd(startMailServer())];
  const office = await openReplyOffice(
    ({ smtpMailer }) => smtpMailer(server),
    false,
    ({ smtpMailer }) => smtpMailer(teamServer),
  );
  const { reference, reply, log, clock, events } = office;
  teamServer.behave({ kind: "refuse", at: "recipient", code: 451 });
  await reply();
  const refused = { channel: "reply", reference, level: "warn", error: "451 deferred by the mail server (RCPT TO)" };
  expect(await log.seen("copy-failed")).toMatchObject(refused);
  const replied = ["null replied", "reply delivered"];
  await expect.poll(() => events(reference)).toEqual(["mail delivered", ...replied, "reply copy-failed"]);
  teamServer.behave({ kind: "accept" });
  await clock.advance(HOUR_MS);
  await reply({ ...REPLY, key: "2b6f1d0e-0000-4000-8000-000000000002" });
  await expect.poll(() => teamServer.mails.length).toBe(1);
  // The mail to the team and two replies.
  expect(server.mails).toHaveLength(3);
  expect((await events(reference)).slice(-2)).toEqual(replied);
});

test("no copy is left of a message that was erased while its copy was written", async () => {
  const written = Promise.withResolvers<void>();
  const office = await openReplyOffice(
    ({ dataDir }) => createEmlMailer(dataDir),
    false,
    ({ store, dataDir }) => ({
      ...createEmlMailer(dataDir),
      async send(mail) {
        await erasePerson("ada@example.org", { store, dataDir });
        await createEmlMailer(dataDir).send(mail);
        written.resolve();
      },
    }),
  );
  await office.reply();
  await written.promise;
  await expect.poll(() => readdirSync(join(office.dataDir, "outbox"))).toEqual([]);
});

test("without a mail server, a reply is a file, which is erased with its message", async () => {
  const office = await openReplyOffice((office) => createEmlMailer(office.dataDir));
  const { reference, reply, store, dataDir } = office;
  await reply();
  const files = () => readdirSync(join(dataDir, "outbox")).toSorted();
  await expect
    .poll(files)
    .toEqual([`${reference}.copy-8b6f1d0e.eml`, `${reference}.eml`, `${reference}.reply-8b6f1d0e.eml`]);
  expect(parseMail(readFileSync(join(dataDir, "outbox", files()[2] ?? ""))).header("Subject")).toBe("Re: Grüße");
  const erased = await erasePerson("ada@example.org", { store, dataDir });
  expect(erased).toMatchObject({ messages: 1, files: 3 });
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
  await expect.poll(() => mailServer.mails.length, { timeout: 20_000 }).toBe(3);
  await postMessage(second.url, "another");
  await expect.poll(() => mailServer.mails.length, { timeout: 20_000 }).toBe(4);
  const subjects = mailServer.mails.map(({ raw }) => parseMail(raw).header("Subject"));
  expect(subjects.filter((one) => one.startsWith("Re: ")).toSorted()).toEqual([
    `Re: Your message (${reference})`,
    // The team's copy.
    expect.stringMatching(`^Re: \\[${reference}\\] Message from `),
  ]);
}, 120_000);
