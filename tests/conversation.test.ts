import { expect, test } from "vitest";
import type { Desk } from "../desk/desk.ts";
import { messagesJson, readDetail, replyTo, takeBackReply } from "../desk/message-view.ts";
import { composeReply, type MailIdentity } from "../server/mail/compose.ts";
import { later, NOON, storeAs } from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { untilEnd } from "./support/until-end.ts";

const FOLDER = "team@imap.example/INBOX";

async function setUp() {
  const store = await untilEnd(openStoreInProcess({ dataDir: await makeScratchFolder(), databaseUrl: null }));
  const reference = await storeAs(store, "delivered");
  const { id = 0 } = (await store.messages.find(reference)) ?? {};
  const replyTexts = () => ({ replies: [], facts: {}, signature: null });
  const desk = { store, account: "anna", mailTo: null, replyTexts } as unknown as Desk;
  await store.mailbox.lease([FOLDER], "token", 10_000);
  const receive = (mailId: string, sender: string, text: string, subject = "AW: Re: Wind") =>
    store.mailbox.record(FOLDER, "token", 1, {
      id,
      reference,
      kind: "received",
      mailId,
      sender,
      senderName: "<b>Ada</b>",
      subject,
      text,
      attachments: [{ name: "plan.pdf", bytes: 2000 }],
      sentAt: later(1),
      isOfSender: sender === "ada@example.com",
    });
  return { store, desk, reference, receive };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `<${index}@mail.example>`);

test("a message shows its conversation, and says when an answer came from another address", async () => {
  const { desk, reference, receive, store } = await setUp();
  await receive("<1@mail.example>", "ada@example.com", "Yes\n> No");
  await receive("<2@mail.example>", "ada@work.example", "From work");
  const { history, hasNewAnswer, nextSubject, otherAddresses } = await readDetail(reference, desk);
  expect(history.filter(({ kind }) => kind === "received")).toMatchObject([
    {
      name: "Answer from <b>Ada</b>",
      detail: "AW: Re: Wind\n\nYes\n> No",
      attachments: [{ name: "plan.pdf", bytes: 2000 }],
    },
    { name: "Answer from another address: <b>Ada</b> <ada@work.example>" },
  ]);
  expect({ hasNewAnswer, nextSubject, otherAddresses }).toEqual({
    hasNewAnswer: true,
    nextSubject: "Re: Wind",
    otherAddresses: ["ada@work.example"],
  });
  const [message] = await store.messages.list({});
  expect(await messagesJson(message ? [message] : [], store.messages)).toMatchObject([
    {
      mails: [
        { sender: "ada@example.com" },
        { sender: "ada@work.example", text: expect.stringContaining("From work") },
      ],
    },
  ]);
});

test("a reply goes to the form's address, or to one of the thread that the operator chose, and answers its last mail", async () => {
  const { desk, store, reference, receive } = await setUp();
  for (const id of ids(30)) await receive(id, "ada@example.com", id);
  await receive("<work@mail.example>", "ada@work.example", "From work");
  const reply = (key: string, to?: string) =>
    replyTo({ reference }, { key, text: "Thanks", to }, { isUndoable: false }, store);
  await expect(reply("k1", "eve@example.net")).rejects.toThrow(/No answer to .* came from eve@example.net/);
  const identity = { mailFrom: "website@brighter.example", mailTo: "team@post.example", brand: "B" } as MailIdentity;
  const sent = [];
  for (const [key, to] of [
    ["k1", undefined],
    ["k2", "ada@work.example"],
  ] as const) {
    await reply(key, to);
    const [claim] = await store.queue.claim("reply", 1, 1000, null);
    if (!claim?.reply) throw new Error("No reply");
    sent.push(composeReply(claim.message, identity, claim.reply, NOON));
    await store.queue.settle(claim, { kind: "delivered" }, null);
  }
  expect(sent).toMatchObject([
    { envelope: { to: ["ada@example.com"] }, inReplyTo: "<29@mail.example>", subject: "Re: Wind" },
    { envelope: { to: ["ada@work.example"] }, inReplyTo: "<work@mail.example>" },
  ]);
  expect(sent.map(({ references }) => references)).toMatchObject([{ length: 20 }, { length: 20 }]);
  const { history } = await readDetail(reference, desk);
  const names = history.flatMap(({ kind, name }) => (kind === "replied" ? name : []));
  expect(names).toEqual([expect.not.stringContaining("@"), expect.stringMatching(/ to ada@work\.example$/)]);
  await reply("k3", "ada@work.example");
  expect(await takeBackReply(reference, "k3", store)).toEqual({ outcome: "draft", recipient: "ada@work.example" });
});

test("somebody who writes a reply hears of an answer that came meanwhile", async () => {
  const { store, reference, receive } = await setUp();
  const since = await store.status.time();
  await receive("<1@mail.example>", "ada@example.com", "One more thing");
  const given = { key: "k1", text: "Thanks" };
  const result = await replyTo(
    { reference },
    given,
    { isUndoable: false, since: new Date(since.getTime() - 1) },
    store,
  );
  expect(result).toMatchObject({
    outcome: "answered",
    by: { author: "<b>Ada</b>", detail: expect.stringContaining("One more") },
  });
});
