import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ContactMessage } from "../contract/contact-message.ts";
import { checkDatabase } from "../desk/preflight.ts";
import { nightlyName } from "../server/store/backup-folder.ts";
import type { Submission } from "../server/store/intake.ts";
import type { Channel } from "../server/store/model.ts";
import type { Outcome } from "../server/store/queue.ts";
import type { Store } from "../server/store/store.ts";
import { DAY_MS } from "../server/time.ts";
import {
  claimOne,
  estimateOf,
  finish,
  later,
  messageWith,
  NOON,
  store as send,
  submissionOf,
} from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { runAtTerminal, runCli, runWithInput } from "./support/run-cli.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgresForFile } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const done = (out: unknown) => ({ code: 0, out, err: "" });
/** After a correction or an erasure. */
const thenTold = (text: string, references = "BC-\\w{4}-\\w\\w(, BC-\\w{4}-\\w\\w)*") =>
  expect.stringMatching(
    new RegExp(`^${text}\\nTell whoever has copies, such as the receiver of HOOK_URL: ${references}\\n$`),
  );
const refused = (err: RegExp, code = 1) => ({ code, out: "", err: expect.stringMatching(err) });

test("shows its help without opening the database, and one line for each invalid setting", async () => {
  const DATA_DIR = join(await makeScratchFolder(), "never-made");
  const { out } = await runCli({ DATA_DIR }, "--help");
  const names =
    "list show answered reply retry release spam delete export stats backup restore privacy inbox preflight";
  for (const name of names.split(" ")) expect(out).toMatch(new RegExp(`^ {2}${name} `, "m"));
  const { out: privacy } = await runCli({ DATA_DIR }, "privacy", "--help");
  expect(privacy).toMatch(/^ {2}export .+\n {2}rectify .+\n {2}restrict .+\n {2}erase /m);
  expect(existsSync(DATA_DIR)).toBe(false);
  const wrong = { PORT: "x", DATABASE_URL: "mysql://x" };
  expect(await runCli(wrong, "list")).toEqual(refused(/^PORT is not .+\nDATABASE_URL is not .+\n$/));
});

describe("on SQLite", () => {
  let dataDir: string;
  let store: Store;
  const hook = { HOOK_URL: "http://localhost:1", HOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` };
  const cli = (...args: string[]) => runCli({ DATA_DIR: dataDir, ACKNOWLEDGE: "on", ...hook }, ...args);
  const print = async (...args: string[]) => (await cli(...args)).out;
  const printJson = async (...args: string[]) => JSON.parse(await print(...args));
  const put = (fields: Partial<ContactMessage> = {}, minutes = 0, rest: Partial<Submission> = {}) =>
    send(store, submissionOf(messageWith(fields), rest), minutesAgo(minutes));
  const hold = (email: string, minutes = 0) => put({ email }, minutes, { isTrapped: true });

  /** Settles the delivery that is due first. */
  const settle = async (channel: Channel, outcome: Outcome, now = NOON) => {
    await store.queue.settle(await claimOne(store, now, channel), outcome, now);
  };

  beforeEach(async () => {
    // No day or month ends during a test.
    vi.useFakeTimers({ toFake: ["Date"], now: NOON });
    onTestFinished(() => void vi.useRealTimers());
    dataDir = await makeScratchFolder();
    store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  });

  test("lists in aligned columns, newest first; shows hidden characters, and cuts long text and long lists", async () => {
    expect(await cli("list")).toEqual(done("No messages.\n"));
    const failed = await put({ message: "Good\n\nmorning, everybody" }, 125);
    await finish(store, "failed", new Date());
    const hostile = { name: "E\u001b[31mve", email: "eve@example.org", message: "\u202EHi" };
    const held = await put(hostile, 3, { isTrapped: true });
    expect((await print("list")).split("\n")).toEqual([
      "STATE        AGE  REFERENCE   FROM                             MESSAGE",
      expect.stringMatching(
        `^Quarantined  3m   ${held}  E\\\\u\\{1b\\}\\[31mve <eve@example\\.org> +\\\\u\\{202e\\}Hi$`,
      ),
      expect.stringMatching(`^Failed       2h   ${failed}  Ada Lovelace <ada@example\\.com> +Good morning, everybody$`),
      "",
    ]);
    const filter = ["--state", "failed", "--email", "ADA@example.com", "--since", "3h", "--json"];
    expect(await printJson("list", ...filter)).toMatchObject([{ reference: failed, state: "failed", attempts: 1 }]);
    expect(await printJson("list", "--since", "1h", "--json")).toMatchObject([{ reference: held }]);
    await put({ name: "山".repeat(30), email: `${"e".repeat(200)}@example.com` }, 1);
    expect(await print("list")).toContain(`  ${"山".repeat(19)}… <${"e".repeat(39)}…>  `);
    for (let count = 0; count < 48; count += 1) await put();
    expect(await print("list")).toMatch(/\n50 of 51; --all shows the rest\.\n$/);
    expect((await print("list", "--all")).trimEnd().split("\n")).toHaveLength(52);
  });

  test("shows a message in full, for a reference in any letter case, with its estimate before its text", async () => {
    const footprint = estimateOf({ carKm: 10_000, hotelNights: 2 }, "");
    const words = { name: "Zoë", country: "", message: "Words\nFootprint \u202Eestimate: none" };
    const reference = await send(store, submissionOf(messageWith(words), { footprint }));
    const shown = await print("show", reference.toLowerCase());
    expect(shown).toContain(`Reference:         ${reference}\n`);
    expect(shown).toContain("Name:              Zoë\n");
    expect(shown).toContain(
      [
        "",
        "Footprint estimate: about 2.2 t CO₂e a year",
        "  Car    10,000 km, petrol  2.1 t",
        "  Hotel  2 nights           79 kg",
        "",
        "Words\nFootprint \\u{202e}estimate: none",
        "",
        "History:",
      ].join("\n"),
    );
    expect(shown).toContain("Delivery:          Waiting: the website is not running.\n");
    expect(await cli("show", "BC-NONE-00")).toEqual(refused(/^There is no message BC-NONE-00/));
  });

  test("retries, releases and marks the named messages, all that allow it, or those since a time", async () => {
    const failed = await put({}, 400);
    await finish(store, "failed", minutesAgo(400));
    const [old, held, restricted] = [await hold("a@x.org", 300), await hold("b@x.org", 30), await hold("c@x.org")];
    await store.people.restrict("c@x.org", true, new Date());
    expect(await cli("retry", failed)).toEqual(done("1 message queued again.\n"));
    await settle("mail", { kind: "deferred", delayMs: 3_600_000, error: "451" }, new Date());
    expect(await cli("retry", "--queued")).toEqual(done("1 message queued again.\n"));
    expect(await store.queue.dueInMs("mail", null)).toBe(0);
    const nextAt = new Date(Date.now() + 60_000);
    await store.status.reportNode([{ channel: "mail", reason: "535 refused", since: new Date(), nextAt }]);
    const paused = "Email is paused: 535 refused. One attempt is made now; if it succeeds, the rest follows.\n";
    expect(await cli("retry", failed)).toEqual(done(`1 message queued again.\n${paused}`));
    expect(await cli("retry", "--queued")).toEqual(done(`1 message queued again.\n${paused}`));
    await store.status.reportNode([]);
    expect(await cli("retry", held)).toEqual(refused(/is quarantined; nothing of it waits or failed\n$/));
    expect(await cli("release", "--since", "2h")).toEqual(done("1 message released.\n"));
    expect(await cli("release", "--all")).toEqual(done("1 message released.\n"));
    expect(await cli("release", restricted)).toEqual(
      refused(/is restricted: its sender asked .+ to end that: .+ privacy restrict EMAIL --lift\n$/),
    );
    expect(await cli("answered", held, failed, "BC-NONE-00")).toEqual({
      code: 1,
      out: "2 messages marked as answered.\n",
      err: 'There is no message BC-NONE-00; "list" shows the references\n',
    });
    expect(await printJson("list", "--json", "--unanswered")).toMatchObject([{ reference: old }]);
  });

  test("shows and exports notes; queues replies, from a file or standard input", async () => {
    const [first, second] = [await put({ email: "eve@example.com" }, 1), await put()];
    await store.actions.addNote(first, "Wants =1+1 offers", NOON);
    expect(await print("show", first)).toMatch(/Z {2}Note: Wants =1\+1 offers\n$/);
    expect(await printJson("export", "--json")).toMatchObject([{}, { notes: [{ text: "Wants =1+1 offers" }] }]);

    const file = join(dataDir, "reply.txt");
    writeFileSync(file, "From a file");
    const fromFile = await cli("reply", first, "--file", file, "--subject", "Offer", "--name", "Anna");
    expect(fromFile).toEqual(done("1 reply stored. Waiting: the website is not running.\n"));
    expect(await print("show", first)).toMatch(/ Reply by Anna: Offer\n {4}\n {4}From a file\n$/);
    const typed = await runWithInput({ DATA_DIR: dataDir }, " Yes.\n", "reply", second, "--json");
    expect(typed).toMatchObject(done('{\n  "replies": 1\n}\n'));
    const replies = [{ text: `Re: Your message (${second})\n\nYes.` }];
    expect(await printJson("show", second, "--json")).toMatchObject({ reply: "queued", replies });
    const unreadable = refused(/^none\.txt cannot be read \(ENOENT\)\n$/);
    expect(await cli("reply", second, "--file", "none.txt")).toEqual(unreadable);
    const claims = await store.queue.claim("reply", 9, 60_000, new Date());
    for (const claim of claims) await store.queue.settle(claim, { kind: "delivered" }, new Date());
    expect(await runAtTerminal({ DATA_DIR: dataDir }, false, "reply", second, "--file", file)).toMatchObject({
      asked: [expect.stringMatching(/ was answered at 20.+Z\. Send another reply\? /)],
    });
    expect(await cli("reply", second, "--file", file)).toMatchObject({ code: 1, out: "" });
    expect(await cli("reply", second, "--file", file, "--yes")).toMatchObject({ code: 0 });
  });

  test("sends a reply that may have been sent only with --again, after it showed the reply", async () => {
    const reference = await put();
    await store.replies.add(reference, { key: "key", subject: "Re: wind", text: "Dear Ada" }, NOON);
    await store.queue.claim("reply", 1, 1, NOON);
    expect(await store.queue.claim("reply", 1, 1, later(1))).toEqual([]);
    await finish(store, "delivered");
    for (const which of [["--failed"], ["--queued"]])
      expect(await cli("retry", ...which)).toEqual(done("0 messages queued again.\n"));
    const sentence =
      /is delivered; its reply may have been sent: read it before you send it again; to do that: .+ reply BC-.+ --again\n$/;
    expect(await cli("retry", reference)).toMatchObject({ code: 1, err: expect.stringMatching(sentence) });
    expect(await print("list", "--state", "failed")).toContain("Reply may have been sent");
    const env = { DATA_DIR: dataDir };
    expect(await runAtTerminal(env, false, "reply", reference, "--again")).toMatchObject({
      out: "Nothing was changed.\n",
      asked: [
        expect.stringMatching(/^Re: wind\n\nDear Ada\n\nGiven up: .+ may have arrived\. Send this reply again\? /),
      ],
    });
    expect(await cli("reply", reference, "--again")).toMatchObject({ code: 1, out: "" });
    expect(await cli("reply", reference, "--again", "--yes")).toMatchObject({
      code: 0,
      out: "1 reply queued again. Waiting: the website is not running.\n",
    });
    expect(await store.queue.claim("reply", 1, 1, new Date())).toHaveLength(1);
    expect(await cli("reply", reference, "--again")).toMatchObject({
      err: expect.stringMatching(/only a failed reply can/),
    });
  });

  test("names the file whose messages were moved to PostgreSQL until it is deleted", async () => {
    const file = join(dataDir, "messages.moved.db");
    const named = async () => [
      (await print("stats")).includes(`${file} still holds people`),
      (await print("privacy", "erase", "eve@example.com", "--yes")).includes(
        `${file} may hold this person too: delete it`,
      ),
      (await checkDatabase({ dataDir, databaseUrl: null })).some(({ detail }) => detail.startsWith(file)),
    ];
    expect(await named()).toEqual([false, false, false]);
    writeFileSync(file, "");
    expect(await named()).toEqual([true, true, true]);
  });

  test("marks spam, and shows why the filter holds a message back", async () => {
    const spam = (index: number) =>
      put({ message: `Cheap pills at https://pills.example/${index}`, email: `${index}@x.org` });
    const sent = await Promise.all(Array.from({ length: 20 }, (_, index) => spam(index)));
    expect(await cli("spam", ...sent)).toEqual(done("20 messages marked as spam.\n"));
    await cli("answered", ...(await Promise.all(Array.from({ length: 20 }, () => put()))));
    const held = await spam(99);
    expect(await print("show", held)).toMatch(/\nLooks like spam\. The strongest signs:\n( {2}\S.*\n){5}\n/);
  });

  test("exports for spreadsheets and programs", async () => {
    const hostile = messageWith({ name: "=cmd|' /C calc'!A0", message: 'a, "b"\nc' });
    const reference = await send(store, submissionOf(hostile));
    const [heading, row] = (await print("export")).split("\r\n");
    expect(heading).toMatch(
      /^\uFEFFreference,state,isRestricted,acceptedAt,name,email,phone,country,message,footprintKg,quarantineReason,lastError,answeredAt,expiresAt,replies,notes$/,
    );
    expect(row).toMatch(new RegExp(`^${reference},queued,false,2025-06-15T12:00:00.000Z,`));
    expect(row).toContain(`,'=cmd|' /C calc'!A0,ada@example.com,'+44 20 7946 0000,GB,"a, ""b""\nc"`);
    const [json] = await printJson("export", "--json");
    expect(json).toMatchObject({ reference, message: 'a, "b"\nc' });
    expect((await runAtTerminal({ DATA_DIR: dataDir }, false, "export")).out).toMatch(/^reference/);
  });

  test("shows what is wrong, and how many messages there are", async () => {
    const now = new Date();
    await put();
    await finish(store, "delivered", now);
    await put();
    await Promise.all(["a@x.org", "b@x.org"].map((email) => hold(email)));
    const reason = "the mail server refused the password";
    await store.status.reportNode([{ channel: "mail", reason, since: minutesAgo(125), nextAt: now }], now);
    const out = await print("stats");
    expect(out).toMatch(/^Website: running\.\n/);
    expect(out).toMatch(new RegExp(`\n- No message can be emailed\\. ${reason}\\.`, "i"));
    expect(out).toMatch(/\nWaiting +1\nFailed +0\nQuarantined +2\nQuarantined, not opened +2\nEmail: delivered +1\n/);
    const wrapped = await runCli({ DATA_DIR: dataDir, MESSAGES_COMMAND: "sudo brighter-carbon messages" }, "stats");
    expect(wrapped.out).toContain(": sudo brighter-carbon messages list --state quarantined.");
  });

  test("answers requests for access, rectification and restriction", async () => {
    await put({ email: "Ada@Example.com" });
    const corrected = await cli("privacy", "rectify", "ada@example.com", "--name", " Ada King ", "--country=");
    expect(corrected).toEqual(done(thenTold("1 message corrected.")));
    expect(await cli("privacy", "restrict", "ada@example.com")).toEqual(done("1 message restricted.\n"));
    const { messages } = await printJson("privacy", "export", "ADA@example.com");
    expect(messages).toMatchObject([{ name: "Ada King", country: "", isRestricted: true }]);
    const lifted = await cli("privacy", "restrict", "ada@example.com", "--lift");
    expect(lifted).toEqual(done("1 message: restriction lifted.\n"));
    const wrong = ["--email", "not an address", "--country", "Germany"];
    expect(await cli("privacy", "rectify", "ada@example.com", ...wrong)).toEqual(
      refused(/^--email: Enter an email address.+\n--country: Choose a country/, 2),
    );
    expect(await cli("privacy", "restrict", "bob@example.com")).toEqual(
      refused(/^There are no messages from bob@example\.com\n$/),
    );
  });

  test("reads a person's address from standard input, where no shell keeps it", async () => {
    await put();
    const run = (...args: string[]) => runWithInput({ DATA_DIR: dataDir }, "ADA@example.com\n", "privacy", ...args);
    expect(JSON.parse((await run("export", "-")).out).email).toBe("ADA@example.com");
    expect(await run("erase", "-", "--yes")).toMatchObject({ code: 0 });
    expect(await store.messages.list({})).toEqual([]);
    expect((await runAtTerminal({ DATA_DIR: dataDir }, true, "privacy", "export", "-")).asked).toEqual([
      "Email address: ",
    ]);
  });

  test("deletes messages and erases addresses with their .eml files, and nothing else", async () => {
    const [spam, secret] = [await hold("spam@example.com"), await put({ email: "Secret@Example.com" })];
    const other = await put({ email: "kept@example.com" });
    const outbox = join(dataDir, "outbox");
    mkdirSync(outbox);
    for (const reference of [spam, secret, other]) writeFileSync(join(outbox, `${reference}.eml`), "mail");
    await store.people.restrict("kept@example.com", true, new Date());
    expect(await cli("delete", spam.toLowerCase(), "--yes")).toEqual(
      done(expect.stringMatching(/^1 message and 1 \.eml file deleted\.\n.+ person .+ privacy erase EMAIL\n$/)),
    );
    expect(await print("privacy", "erase", "gone@example.com", "--yes")).toBe(
      "There are no messages from gone@example.com. What it wrote in other conversations is erased. The erasure is recorded, so that no restored backup brings messages back.\n",
    );
    expect((await store.archive.countAll())?.erasures).toBe(1);
    const erased = await cli("privacy", "erase", "secret@example.com", "--yes");
    expect(erased).toEqual(done(thenTold("1 message and 1 .eml file erased.", secret)));
    expect(readdirSync(outbox)).toEqual([`${other}.eml`]);
    expect(await store.messages.list({})).toMatchObject([{ reference: other }]);
  });

  test.each([null, true, false])("deletes and erases only after a confirmation (%s)", async (answer) => {
    const reference = await put({ name: "Eve\u001b[2J" });
    await put({ email: "eve@example.com" });
    const savedAt = new Date();
    await store.replies.saveDraft(reference, { subject: "Re", text: "Dear Eve", note: "" }, savedAt);
    const lost = `This also deletes a draft of an unknown author, ${savedAt.toISOString()}. `;
    for (const [question, done, ...args] of [
      [`delete ${reference} (waiting) from Eve\\u{1b}[2J <ada@example.com>`, "deleted", "delete", reference],
      ["erase 1 message from eve@example.com", "erased", "privacy", "erase", "eve@example.com"],
    ]) {
      if (answer === null) {
        expect(await cli(...args)).toEqual(refused(/^This command asks for confirmation; .+ add --yes\n$/));
        continue;
      }
      const { asked, out } = await runAtTerminal({ DATA_DIR: dataDir }, answer, ...args);
      expect(asked).toEqual([`Permanently ${question}? ${done === "deleted" ? lost : ""}[y/N] `]);
      expect(out).toContain(answer ? `1 message and 0 .eml files ${done}.\n` : "Nothing was changed.\n");
    }
    expect(await store.messages.list({})).toHaveLength(answer ? 0 : 2);
  });
});

const server = await sharePostgresForFile();

test.each(["SQLite", "PostgreSQL"])("a backup of %s is a new file, which can be opened again", async (kind) => {
  const [dataDir, folder] = [await makeScratchFolder(), await makeScratchFolder()];
  const databaseUrl = kind === "SQLite" ? null : await server.createDatabase();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl }));
  const reference = await send(store);
  const cli = (...args: string[]) => runCli({ DATABASE_URL: databaseUrl ?? "", DATA_DIR: dataDir }, ...args);
  const file = join(folder, "messages.db");
  // A killed backup leaves these files. The next backup must not read the old log.
  const ends = kind === "SQLite" ? [""] : ["", "-wal", "-shm"];
  for (const end of ends) writeFileSync(`${file}.partial${end}`, "x".repeat(10_000));
  expect((await cli("stats")).out).toContain("\nLast backup: none.\n");
  expect(await cli("backup", file)).toEqual(done(`All messages copied to ${file}.\n`));
  expect((await cli("stats")).out).toMatch(/\nLast backup: 20\S+Z \(\d+[smh] ago\)\.\n/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await cli("backup", file)).toEqual(refused(/already exists; choose another name\n$/));
  expect(readdirSync(folder)).toEqual(["messages.db"]);
  expect(await cli("backup", join(dataDir, "none", "x.db"))).toEqual(refused(/cannot be written/));
  expect((await runCli({ DATA_DIR: folder }, "show", reference)).out).toContain("Ada Lovelace");
});

test("a backup with --keep deletes old ones only after it succeeded, and only in a folder", async () => {
  const [dataDir, folder] = [await makeScratchFolder(), await makeScratchFolder()];
  const nights = [1, 2, 20, 30].map((days) => nightlyName(new Date(Date.now() - days * DAY_MS)));
  for (const name of nights) {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), 0, 0);
  }
  const backup = (path: string) => runCli({ DATA_DIR: dataDir }, "backup", "--keep", "12d", path);
  expect(await backup(folder)).toMatchObject({ code: 1 });
  expect(readdirSync(folder).sort()).toEqual(nights.toSorted());
  await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const file = join(folder, "x.db");
  expect(await backup(file)).toEqual(refused(/^With --keep, FILE is a folder that exists\.\n/, 2));
  expect(readdirSync(folder)).toHaveLength(4);
  expect(await backup(folder)).toMatchObject({ code: 0 });
  // The new one, and two of the four old ones.
  expect(readdirSync(folder)).toHaveLength(3);
});

function minutesAgo(minutes: number): Date {
  return new Date(Date.now() - minutes * 60_000);
}
