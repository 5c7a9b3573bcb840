import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { checkImap } from "../../desk/preflight.ts";
import { parseConfig } from "../../server/config.ts";
import { teamOf } from "../../server/mailbox/mail.ts";
import { openImap, startMailbox } from "../../server/mailbox/mailbox.ts";
import type { Store } from "../../server/store/store.ts";
import { act, storeAs } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { startMailServer } from "../support/mail-server.ts";
import { rawMail } from "../support/raw-mails.ts";
import { spawnCli } from "../support/run-cli.ts";
import { hasDovecot, startDovecot } from "../support/run-dovecot.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { untilEnd } from "../support/until-end.ts";

const TEAM = teamOf(["team@post.example", "website@brighter.example"], "https://www.brighter.example");
const QUIET = { info: () => {}, warn: () => {}, error: (event: object, text: string) => console.error(event, text) };
const WAITS = { leaseMs: 4000, lookMs: 300, retryMs: 50, longestRetryMs: 200, refusedMs: 60_000 };

async function setUp(options: { idle?: boolean } = {}) {
  const folder = await makeScratchFolder();
  const dovecot = await startDovecot(join(folder, "dovecot"), options);
  onTestFinished(() => dovecot.stop());
  const store = await untilEnd(openStoreInProcess({ dataDir: folder, databaseUrl: null }, { isServer: true }));
  const reference = await storeAs(store, "delivered", { now: new Date() });
  await act(store, "answer", [reference], new Date());
  const { id } = (await store.messages.find(reference)) ?? { id: 0 };
  const ours = `<${reference}.${id}@brighter.example>`;
  return { dovecot, store, reference, ours, folder };
}

type Place = Awaited<ReturnType<typeof setUp>>;

function read({ dovecot, store }: Pick<Place, "dovecot" | "store">, folders = "INBOX", more = {}) {
  const { imap } = parseConfig({ IMAP_URL: dovecot.url(folders) });
  if (imap === null) throw new Error("No mailbox");
  const mailbox = startMailbox({ imap, node: "one", team: TEAM, store, log: QUIET, waits: WAITS, ...more });
  onTestFinished(() => mailbox.stop());
  return mailbox;
}

let serial = 0;
function answer(ours: string, more = {}, text?: string | Buffer): Buffer {
  serial += 1;
  const headers = { From: "ada@example.com", To: "team@post.example", Subject: "Re: wind", "In-Reply-To": ours };
  return rawMail({ ...headers, "Message-ID": `<${serial}@mail.example>`, ...more }, text ?? `Answer ${serial}\n`);
}

const mailsOf = async (store: Store, reference: string) =>
  (await store.messages.history(reference)).filter(({ sender }) => sender !== null);
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 50 });
const untilMails = (store: Store, reference: string, count: number) =>
  until(async () => expect(await mailsOf(store, reference)).toHaveLength(count));

describe.skipIf(!hasDovecot && process.env.CI === undefined)(
  "the mailbox of a real IMAP server",
  { timeout: 60_000 },
  () => {
    test("an answer comes into its thread by IDLE, and no flag changes", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      dovecot.deliver(answer(ours, {}, "Before the start\n"));
      dovecot.deliver(answer("<other@mail.example>"));
      read(place);
      await untilMails(store, reference, 1);
      const [before, files] = [dovecot.flags(), dovecot.files()];
      dovecot.deliver(answer(ours, { "Content-Type": "text/html" }, "<p>Only <b>HTML</b></p>\n"));
      await untilMails(store, reference, 2);
      expect((await mailsOf(store, reference)).map(({ detail }) => detail)).toEqual([
        "Re: wind\n\nBefore the start",
        expect.stringMatching(/^Re: wind\n\nOnly +HTML$/),
      ]);
      expect((await store.messages.find(reference))?.newAnswerAt).not.toBeNull();
      expect(dovecot.flags()).toEqual([...before, ""]);
      expect(dovecot.files()).toEqual(expect.arrayContaining(files));
    });

    test("a server without IDLE is asked again and again", async () => {
      const place = await setUp({ idle: false });
      read(place);
      await until(async () => expect(await place.store.mailbox.folders()).toMatchObject([{ problem: null }]));
      place.dovecot.deliver(answer(place.ours));
      await untilMails(place.store, place.reference, 1);
    });

    test("each mail is stored once across folders, restarts of both sides and a new UIDVALIDITY", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      dovecot.makeFolder("Sent");
      const twice = answer(ours);
      dovecot.deliver(twice);
      dovecot.deliver(twice, "Sent");
      const first = read(place, "INBOX,Sent");
      await untilMails(store, reference, 1);
      await dovecot.stop();
      await until(async () =>
        expect((await store.mailbox.folders()).every(({ problem }) => problem !== null)).toBe(true),
      );
      dovecot.deliver(answer(ours));
      await dovecot.start();
      await untilMails(store, reference, 2);
      await first.stop();
      dovecot.deliver(answer(ours));
      const second = read(place, "INBOX,Sent");
      await untilMails(store, reference, 3);
      await second.stop();
      await dovecot.stop();
      dovecot.changeUidValidity();
      await dovecot.start();
      dovecot.deliver(answer(ours));
      read(place, "INBOX,Sent");
      await untilMails(store, reference, 4);
    });

    test("a colleague's reply in the folder of sent mail marks the message as answered", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      await act(store, "unanswer", [reference], new Date());
      dovecot.makeFolder("Sent Mail");
      read(place, "INBOX,Sent%20Mail");
      const bob = { From: "Bob <bob@brighter.example>", To: "ada@example.com" };
      dovecot.deliver(answer(ours, bob), "Sent Mail");
      await untilMails(store, reference, 1);
      expect((await store.messages.find(reference))?.answeredAt).not.toBeNull();
    });

    test("a wrong password is tried once, and a folder that goes stops no other", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      dovecot.makeFolder("Sent");
      let refusals = 0;
      const log = { ...QUIET, warn: () => (refusals += 1) };
      const wrong = read(
        { store, dovecot: { ...dovecot, url: (folders) => dovecot.url(folders, "wrong") } },
        "INBOX,Sent",
        {
          log,
        },
      );
      await until(async () => expect((await store.mailbox.folders())[0]?.problem).toMatch(/password/));
      await wrong.stop();
      expect(refusals).toBe(2);
      await dovecot.stop();
      expect(dovecot.log().match(/auth failed, 1 attempts/g)).toHaveLength(1);
      await dovecot.start();
      read(place, "INBOX,Sent");
      await until(async () =>
        expect((await store.mailbox.folders()).map(({ problem }) => problem)).toEqual([null, null]),
      );
      dovecot.removeFolder("Sent");
      await dovecot.stop();
      await dovecot.start();
      dovecot.deliver(answer(ours));
      await untilMails(store, reference, 1);
      await until(async () => expect((await store.mailbox.folders())[1]?.problem).toMatch(/does not exist/));
    });

    test("imap:// to another machine signs in only after STARTTLS, with a certificate that is trusted", async () => {
      const folder = await makeScratchFolder();
      // The same server under a name that is not of the loopback interface.
      const preflight = async (hasTls: boolean, more = {}) => {
        const dovecot = await startDovecot(join(folder, `dovecot-${hasTls}`), { hasTls });
        onTestFinished(() => dovecot.stop());
        const IMAP_URL = dovecot.url().replace("127.0.0.1", "0.0.0.0");
        const env = {
          DATA_DIR: folder,
          IMAP_URL,
          ...(hasTls && { NODE_EXTRA_CA_CERTS: dovecot.certificate }),
          ...more,
        };
        const { stdout } = spawnCli(env, "preflight", "--json");
        const findings = JSON.parse(await text(stdout)) as { name: string; state: string; detail: string }[];
        await dovecot.stop();
        return { finding: findings.find(({ name }) => name === "IMAP_URL"), log: dovecot.log() };
      };
      for (const { finding, log } of [await preflight(false), await preflight(true, { NODE_EXTRA_CA_CERTS: "" })]) {
        expect(finding).toMatchObject({ state: "fail", detail: expect.stringMatching(/^0\.0\.0\.0: no connection/) });
        expect(log).not.toMatch(/Login:|auth failed|user=<team>/);
      }
      const { finding, log } = await preflight(true);
      expect(finding).toMatchObject({ state: "ok", detail: "0.0.0.0: INBOX can be read" });
      expect(log).toMatch(/Login: user=<team>.*TLS/);
    });

    test("preflight names missing folders, other mailboxes, and a provider that replaces Message-IDs", async () => {
      const { dovecot } = await setUp();
      const mailServer = await startMailServer();
      onTestFinished(() => mailServer.close());
      const check = async (url: string, arrivalMs: number, mailTo = "team", smtpUrl: string | null = null) => {
        const { imap } = parseConfig({ IMAP_URL: url });
        const findings = await checkImap({ imap, smtpUrl }, mailTo, "website@b.example", arrivalMs);
        return findings.map(({ state, detail }) => `${state}: ${detail}`);
      };
      const { port } = dovecot;
      expect(await check(dovecot.url("INBOX,Sent"), 0)).toEqual([
        "ok: 127.0.0.1: INBOX can be read",
        "fail: 127.0.0.1 has no folder Sent",
      ]);
      expect(await check(dovecot.url("", "wrong"), 0)).toEqual([
        "fail: 127.0.0.1: the server refuses the user name or password of IMAP_URL",
      ]);
      expect(await check("imaps://team:secret@outlook.office365.com", 0)).toEqual([
        expect.stringMatching(/^fail: outlook\.office365\.com: Microsoft 365 refuses passwords/),
      ]);
      expect(await check(`imap://other%40b.example:wrong@127.0.0.1:${port}`, 0, "team@b.example")).toEqual([
        expect.stringMatching(/^fail/),
        "warn: MAIL_TO may be another mailbox than this one: answers go to team@b.example",
        "warn: MAIL_FROM may be another mailbox than this one: replies that come back go to website@b.example",
      ]);
      const smtpUrl = `smtp://127.0.0.1:${mailServer.port}`;
      const withMail = (arrivalMs: number) => check(dovecot.url(), arrivalMs, "team@b.example", smtpUrl);
      expect(await withMail(0)).toContain(
        "warn: a test mail to team@b.example has not come into this mailbox within 0 s",
      );
      for (const [change, expected] of [
        [(raw: string) => raw, "ok: a test mail arrived with its Message-ID"],
        [
          (raw: string) => raw.replace(/^Message-ID: .*$/m, "Message-ID: <0102@ses.example>"),
          "warn: the mail provider replaces Message-IDs, so answers are known only by the reference in their subject",
        ],
      ] as const) {
        const count = mailServer.mails.length;
        const checking = withMail(20_000);
        await until(async () => expect(mailServer.mails).toHaveLength(count + 1));
        dovecot.deliver(Buffer.from(change(String(mailServer.mails.at(-1)?.raw))));
        expect(await checking).toContain(expected);
      }
      expect(dovecot.flags()).toEqual(["", ""]);
    });

    test("of two nodes one reads, and the other takes over", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      const [first] = [read(place), read(place, "INBOX", { node: "two" })];
      dovecot.deliver(answer(ours));
      await untilMails(store, reference, 1);
      await first?.stop();
      dovecot.deliver(answer(ours));
      await untilMails(store, reference, 2);
    });

    test("a mail that is moved while it is read is stored from its new folder", async () => {
      const { dovecot, store, reference, ours } = await setUp();
      dovecot.makeFolder("Website");
      dovecot.deliver(answer(ours, {}, "An ordinary answer\n"));
      let isMoved = false;
      const find: Store["mailbox"]["find"] = async (clues) => {
        const { imap } = parseConfig({ IMAP_URL: dovecot.url("INBOX") });
        if (imap && !isMoved) {
          isMoved = true;
          const filter = openImap(imap);
          await filter.connect();
          await filter.mailboxOpen("INBOX");
          await filter.messageMove("1:*", "Website");
          await filter.logout();
        }
        return store.mailbox.find(clues);
      };
      read({ dovecot, store: { ...store, mailbox: { ...store.mailbox, find } } }, "INBOX,Website");
      await untilMails(store, reference, 1);
      expect((await mailsOf(store, reference)).map(({ kind }) => kind)).toEqual(["received"]);
    });

    test("broken and hostile mails stop no other", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      let nested = "Content-Type: text/plain\n\ndeep\n";
      for (let level = 0; level < 1000; level += 1)
        nested = `Content-Type: multipart/mixed; boundary=n${level}\n\n--n${level}\n${nested}\n--n${level}--\n`;
      dovecot.deliver(answer(ours, { "Content-Type": "multipart/mixed; boundary=n999" }, nested));
      dovecot.deliver(answer(ours, { Subject: "x".repeat(500_000) }));
      dovecot.deliver(answer(ours, { To: Array.from({ length: 10_000 }, (_, one) => `<${one}@x.example>,`) }));
      dovecot.deliver(
        answer(
          ours,
          { "Content-Type": "multipart/mixed; boundary=b" },
          Buffer.concat([
            Buffer.from(
              "--b\r\nContent-Type: application/pdf; name=big.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n",
            ),
            Buffer.alloc(8_000_000, "QUJDREVG\r\n"),
            Buffer.from("--b--"),
          ]),
        ),
      );
      dovecot.deliver(answer(ours, {}, "The last\n"));
      read(place);
      await untilMails(store, reference, 5);
      const mails = await mailsOf(store, reference);
      expect(mails.map(({ kind }) => kind).sort()).toEqual([
        "received",
        "received",
        "received",
        "received",
        "unread-mail",
      ]);
      expect(JSON.parse(mails.find(({ attachments }) => attachments !== "[]")?.attachments ?? "[]")).toMatchObject([
        { name: "big.pdf" },
      ]);
    });

    test("a mail that the server refuses is passed once a later one can be read", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      for (const isBroken of [false, true]) dovecot.deliver(answer(ours), "INBOX", isBroken);
      const events: unknown[] = [];
      const log = { ...QUIET, warn: ({ event }: { event: string }) => void events.push(event) };
      read(place, "INBOX", { log });
      // Dovecot ends the connection. A server in trouble may do so for all mails.
      await until(async () => expect((await store.mailbox.folders())[0]?.problem).toMatch(/^no connection/));
      expect(events).not.toContain("mail-unread");
      await untilMails(store, reference, 1);
      for (const text of ["Third\n", "Fourth\n"]) dovecot.deliver(answer(ours, {}, text));
      await untilMails(store, reference, 3);
      await until(async () => expect((await store.mailbox.folders())[0]?.problem).toBeNull());
      expect(events.filter((event) => event === "mail-unread")).toHaveLength(1);
    });

    test("1,000 mails that do not concern us are read within ten seconds, and nothing is stored", async () => {
      const place = await setUp();
      const { dovecot, store, reference, ours } = place;
      for (let count = 0; count < 1000; count += 1) dovecot.deliver(answer(`<${count}@list.example>`));
      dovecot.deliver(answer(ours));
      read(place);
      await untilMails(store, reference, 1);
    });
  },
);
