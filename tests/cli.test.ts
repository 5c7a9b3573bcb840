import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { widthOf } from "../server/cli/output.ts";
import type { Channel, Outcome, Store } from "../server/store/store.ts";
import {
  claimOne,
  estimateOf,
  finish,
  messageWith,
  NO_LIMITS,
  NOON,
  store as send,
  submissionOf,
} from "./store-contract/samples.ts";
import { openStoreInProcess } from "./support/in-process-store.ts";
import { runAtTerminal, runCli, runCliProcess, spawnCli } from "./support/run-cli.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const done = (out: unknown) => ({ code: 0, out, err: "" });
const refused = (err: RegExp, code = 1) => ({ code, out: "", err: expect.stringMatching(err) });

test("shows its help without opening the database", async () => {
  const dataDir = join(tmpdir(), "cli-never-made");
  const general = await runCliProcess({ DATA_DIR: dataDir }, "--help");
  expect(general).toMatchObject({ code: 0, err: "" });
  const managing = ["list", "show", "answered", "note", "reply", "retry", "release", "resend", "delete", "export"];
  for (const name of [...managing, "stats", "backup", "restore", "privacy", "inbox", "preflight", "completion"]) {
    expect(general.out).toMatch(new RegExp(`^ {2}${name} `, "m"));
    const usage = expect.stringContaining(`Usage: npm run messages -- ${name}`);
    expect(await runCli({ DATA_DIR: dataDir }, name, "--help")).toEqual(done(usage));
  }
  const { out: privacy } = await runCli({ DATA_DIR: dataDir }, "privacy", "--help");
  for (const name of ["export", "rectify", "restrict", "erase"])
    expect(privacy).toMatch(new RegExp(`^ {2}${name} `, "m"));
  expect(existsSync(dataDir)).toBe(false);
});

test("exits with 2 if it is used incorrectly, and with 1 and one line each for invalid settings", async () => {
  expect(await runCliProcess({}, "list", "--colour")).toEqual(refused(/^unknown option '--colour'\n+.+--help/, 2));
  const wrong = { PORT: "x", DATABASE_URL: "mysql://x" };
  expect(await runCli(wrong, "list")).toEqual(refused(/^PORT is not .+\nDATABASE_URL is not .+\n$/));
  const away = { DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" };
  expect(await runCli(away, "list")).toEqual(refused(/^The message database cannot be used: [^\n]+\n$/));
  expect(await runCli({ DATA_DIR: "/dev/null/x" }, "list")).toEqual(refused(/^[^\n]+DATA_DIR[^\n]+\n$/));
});

test("says that this user may not read the messages, not that there are none", async () => {
  const dataDir = join(await makeScratchFolder(), "data");
  mkdirSync(dataDir, { mode: 0o700 });
  // Root may read everything, so root runs the command as the user `nobody`.
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) chmodSync(dataDir, 0);
  chmodSync(dirname(dataDir), 0o755);
  onTestFinished(() => chmodSync(dataDir, 0o700));
  const { status, stderr } = spawnSync(process.execPath, ["server/cli.ts", "list"], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    encoding: "utf8",
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  });
  expect([status, stderr]).toEqual([
    1,
    `This user may not read ${dataDir}; run the command as the server's user, e.g. with sudo\n`,
  ]);
});

test("completes commands and options in bash", async () => {
  const { out } = await runCli({ MESSAGES_COMMAND: "sudo brighter-carbon messages" }, "completion");
  const complete = (...words: string[]) => {
    const typed = `COMP_WORDS=(messages ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
    const script = `${out}${typed}; _messages; echo "\${COMPREPLY[@]}"; declare -f messages`;
    return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.split("\n");
  };
  expect(complete("re")[0]).toBe("reply retry release resend rescue restore");
  expect(complete("privacy", "e")[0]).toBe("export erase");
  expect(complete("privacy", "erase", "--")[0]).toBe("--yes --json --help");
  expect(complete("retry", "BC-0000-00", "--f")[0]).toBe("--failed");
  expect(complete("").join(" ")).toContain('sudo brighter-carbon messages "$@"');
});

describe("on SQLite", () => {
  let dataDir: string;
  let store: Store;
  const hook = { HOOK_URL: "http://localhost:1", HOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` };
  const cli = (...args: string[]) => runCli({ DATA_DIR: dataDir, ACKNOWLEDGE: "on", ...hook }, ...args);
  const atTerminal = (isYes: boolean, ...args: string[]) => runAtTerminal({ DATA_DIR: dataDir }, isYes, ...args);

  /** Settles the delivery that is due first. */
  const settle = async (channel: Channel, outcome: Outcome, now = NOON, next?: Channel) => {
    await store.settle(await claimOne(store, now, channel), outcome, now, next);
  };

  const writeMails = (...names: string[]) => {
    const outbox = join(dataDir, "outbox");
    mkdirSync(outbox);
    for (const name of names) writeFileSync(join(outbox, name), "mail");
    return outbox;
  };

  beforeEach(async () => {
    dataDir = await makeScratchFolder();
    store = await openStoreInProcess({ dataDir, databaseUrl: null });
    onTestFinished(() => store.close());
  });

  test("lists in aligned columns, newest first, hostile text made visible and long text cut", async () => {
    expect(await cli("list")).toEqual(done("No messages.\n"));
    const failed = await send(
      store,
      submissionOf(messageWith({ email: "ada@example.com", message: "Good\n\nmorning, everybody" })),
      minutesAgo(125),
    );
    await settle("mail", { kind: "failed", error: `550 \u001b[31mno\n${"x".repeat(90)}` }, new Date());
    const held = await send(
      store,
      submissionOf(messageWith({ name: "E\u001b[31mve", email: "eve@example.org", message: "\u202EHi" }), {
        isTrapped: true,
      }),
      minutesAgo(3),
    );
    const { code, out } = await cli("list");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "STATE        AGE  REFERENCE   FROM                            MESSAGE             TRIES  LAST ERROR",
      expect.stringMatching(
        `^quarantined  [34]m   ${held}  E\\\\u\\{1b\\}\\[31m… <eve@example\\.org>  \\\\u\\{202e\\}Hi          0$`,
      ),
      `failed       2h   ${failed}  Ada Lovelace <ada@example.com>  Good morning, eve…  1      550 \\u{1b}[31mno ${"x".repeat(90)}`,
      "",
    ]);
    const filtered = await cli("list", "--state", "failed", "--email", "ADA@example.com", "--since", "3h", "--json");
    expect(JSON.parse(filtered.out)).toMatchObject([{ reference: failed, state: "failed", attempts: 1 }]);
    expect((await cli("list", "--since", "1h", "--limit", "1")).out).not.toContain(failed);
    expect((await cli("list", "--search", "EVERYBODY")).out).not.toContain(held);
    expect((await cli("list", "--search", "nobody wrote this")).out).toBe("No messages.\n");
  });

  test("lists names and the start of each text within 120 columns, without a column for errors if there are none", async () => {
    const long = { name: "N".repeat(100), email: `${"e".repeat(200)}@example.com`, message: "w ".repeat(2000) };
    const reference = await send(store, submissionOf(messageWith(long)), minutesAgo(3));
    const japanese = { name: "山田太郎", email: "taro@example.jp", message: "お問い合わせ".repeat(20) };
    await send(store, submissionOf(messageWith(japanese)), minutesAgo(3));
    const [heading, first, second] = (await cli("list")).out.split("\n");
    expect(heading).toMatch(/^STATE +AGE +REFERENCE +FROM +MESSAGE$/);
    expect(first).toContain("  山田太郎 <taro@example.jp>  ");
    expect(widthOf(first ?? "")).toBeGreaterThan(117);
    expect(widthOf(first ?? "")).toBeLessThan(121);
    expect(second).toMatch(new RegExp(`${reference}  N{7}… <e{28}…>  (w ){20,}`));
    expect(widthOf(second ?? "")).toBe(120);
  });

  test("shows a message in full, for a reference in any letter case", async () => {
    const words = "First line\nsecond \u202Eline";
    const reference = await send(store, submissionOf(messageWith({ name: "Zoë", message: words, country: "" })));
    const { code, out } = await cli("show", reference.toLowerCase());
    expect(code).toBe(0);
    expect(out).toContain(`Reference:         ${reference}\n`);
    expect(out).toContain("Name:              Zoë\n");
    expect(out).toContain("Country:           -\n");
    await finish(store, "delivered");
    expect((await cli("show", reference)).out).toContain("Expires at:        2025-07-15T12:00:00.000Z\n");
    expect(out).toMatch(/\n\nFirst line\nsecond \\u\{202e\}line\n\nHistory:/);
    expect(await cli("show", "BC-NONE-00")).toEqual(refused(/^There is no message BC-NONE-00/));
  });

  test("shows a message's estimate before its text", async () => {
    const footprint = estimateOf({ carKm: 10_000, hotelNights: 2 }, "");
    const words = "Words\nFootprint estimate: none";
    const reference = await send(store, submissionOf(messageWith({ message: words }), { footprint }));
    expect((await cli("show", reference)).out).toContain(
      [
        "Country:           GB",
        "",
        "Footprint estimate: about 2.2 t CO₂e a year",
        "  Car    10,000 km, petrol  2.1 t",
        "  Hotel  2 nights           79 kg",
        "  Averages (not country figures) were used for: Hotel.",
        `  Computed with: ${footprint.factorSet}.`,
        "  An estimate, not a certificate.",
        "",
        words,
        "",
      ].join("\n"),
    );
    const cells = `,${footprint.totalKg},carKm=10000 hotelNights=2 .*carFuel=petrol.*,"${footprint.factorSet}",`;
    expect((await cli("export")).out).toMatch(new RegExp(cells.replaceAll(/[()]/g, "\\$&")));
    await store.rectify("ada@example.com", {}, NOON, undefined, new Map([[reference, null]]));
    expect((await cli("show", reference)).out).not.toContain("An estimate");
  });

  test("shows the web hook's state, retries it, and names the copies that remain after an erasure", async () => {
    expect((await cli("list")).out).not.toContain("HOOK");
    const sendAll = () => send(store, submissionOf(), NOON, ["mail", "hook"]);
    const [posted, failed] = [await sendAll(), await sendAll()];
    await settle("hook", { kind: "delivered" });
    await settle("hook", { kind: "failed", error: "status 410: the receiver refuses further attempts" });
    expect((await cli("list")).out).toMatch(/^STATE +HOOK +AGE/);
    expect((await cli("list")).out).toMatch(new RegExp(`^queued +delivered +\\S+ +${posted}`, "m"));
    expect((await cli("show", posted)).out).toMatch(/^Hook: +delivered\nHook sent at: +2025-06-15T12:00:00\.000Z\n/m);
    const shown = (await cli("show", failed)).out;
    expect(shown).toMatch(/^Hook: +failed: status 410/m);
    expect(shown).toMatch(/\nHistory:\n {2}\S+Z {2}Received\n {2}\S+Z {2}Web hook: failed for good: Status 410/);
    expect((await cli("stats")).out).toContain("\nWeb hook: 1 sent, 0 waiting, 1 failed, 0 skipped.\n");
    expect((await cli("retry", "--failed")).out).toBe("1 message queued again.\n");
    expect((await cli("stats")).out).toContain("\nWeb hook: 1 sent, 1 waiting, 0 failed, 0 skipped.\n");
    expect((await cli("privacy", "erase", "ada@example.com", "--yes")).out).toMatch(
      new RegExp(`\nThe receiver of HOOK_URL has a copy of these; ask them to erase it too: ${posted}\n$`),
    );
  });

  test("shows the acknowledgement's state in show, export and stats", async () => {
    const deliver = async (email: string, outcome: Outcome) => {
      const reference = await send(store, submissionOf(messageWith({ email })));
      await settle("mail", { kind: "delivered" }, NOON, "acknowledgement");
      await settle("acknowledgement", outcome);
      return reference;
    };
    const sent = await deliver("ada@example.com", { kind: "delivered" });
    const skipped = await deliver("ADA+1@example.com", { kind: "skipped", error: "address-limit" });
    const failed = await deliver("bob@example.com", { kind: "failed", error: "550 mailbox refused" });

    const shown = async (reference: string) => (await cli("show", reference)).out;
    expect(await shown(sent)).toMatch(
      /^Acknowledgement: {3}delivered\nAcknowledged at: {3}2025-06-15T12:00:00\.000Z\n/m,
    );
    expect(await shown(sent)).toMatch(/Z {2}Delivered to the mail server\n {2}\S+Z {2}Acknowledgement: delivered\n$/);
    expect(await shown(skipped)).toMatch(
      /Z {2}Acknowledgement: not sent: The address got an acknowledgement less than a day before\.\n$/,
    );
    expect(await shown(skipped)).toMatch(/^Acknowledgement: {3}skipped: address-limit\nAcknowledged at: {3}-\n/m);
    expect(await shown(failed)).toMatch(/^Acknowledgement: {3}failed: 550 mailbox refused\n/m);
    expect(JSON.parse((await cli("privacy", "export", "bob@example.com")).out).messages).toMatchObject([
      { acknowledgement: "failed: 550 mailbox refused", acknowledgedAt: null },
    ]);
    expect((await cli("export")).out).toMatch(
      /,acknowledgement,acknowledgedAt,hook,hookSentAt,notes,expiresAt,reply,repliedAt,replies,taught\r\n/,
    );
    expect((await cli("stats")).out).toContain("\nAcknowledgement: 1 sent, 0 waiting, 1 failed, 1 skipped.\n\n");
  });

  test("retries failed messages and releases quarantined ones", async () => {
    const failed = await send(store);
    await finish(store, "failed");
    const held = await send(store, submissionOf(messageWith(), { isTrapped: true }));
    expect(await cli("retry", failed)).toEqual(done("1 message queued again.\n"));
    expect(await cli("retry", "--failed")).toEqual(done("0 messages queued again.\n"));
    const wrapped = await runCli({ DATA_DIR: dataDir, MESSAGES_COMMAND: "sudo brighter-carbon messages" }, "stats");
    expect(wrapped.out).toContain(": sudo brighter-carbon messages list --state quarantined.");
    expect(await cli("retry", "--queued")).toEqual(done("0 messages due within a minute.\n"));
    await settle("mail", { kind: "deferred", dueAt: minutesAgo(-60), error: "451" }, new Date());
    expect(await cli("retry", "--queued")).toEqual(done("1 message due within a minute.\n"));
    expect(await cli("retry", "--queued", "--failed")).toMatchObject({ code: 2 });
    expect(await cli("retry", held)).toEqual(
      refused(/is quarantined; only failed or queued messages can be retried\n$/),
    );
    expect(await cli("release", held)).toEqual(done("1 message released.\n"));
    expect(await cli("release", failed)).toEqual(refused(/is queued; only quarantined messages can be released\n$/));
    expect(await store.list({ state: "queued" })).toHaveLength(2);
    expect(await cli("answered", held)).toEqual(done("1 message marked as answered.\n"));
    expect(await cli("answered", held, failed, "BC-NONE-00", "--json")).toEqual({
      code: 1,
      out: expect.stringContaining(`"reference": "${failed}",\n      "outcome": "done"`),
      err: `${held} is queued; it is marked as answered already\nThere is no message BC-NONE-00; "list" shows all messages\n`,
    });
    expect(JSON.parse((await cli("list", "--json", "--unanswered")).out)).toEqual([]);
  });

  test("marks spam, shows the filter's lessons and its reasons, and removes the lessons", async () => {
    const spam = (index: number) =>
      submissionOf(messageWith({ message: `Cheap pills at https://pills.example/${index}`, email: `${index}@x.org` }));
    const sent = await Promise.all(Array.from({ length: 20 }, (_, index) => send(store, spam(index), new Date())));
    expect(await cli("spam", ...sent)).toEqual(done("20 messages marked as spam.\n"));
    expect(await cli("spam", String(sent[0]))).toEqual(
      refused(/^BC-\S+ is quarantined; it is marked as spam already\n$/),
    );
    expect(await cli("spam-filter")).toEqual(
      done("Learned from 20 spam and 0 good messages. It quarantines nothing before it has learned from 20 of each.\n"),
    );
    const good = await Promise.all(Array.from({ length: 20 }, () => send(store, submissionOf(), new Date())));
    await cli("answered", ...good);
    const held = await send(store, spam(99), new Date());
    expect((await cli("list", "--state", "quarantined")).out).toMatch(
      new RegExp(`^quarantined, looks like spam +\\d+s +${held} `, "m"),
    );
    expect((await cli("stats")).out).toContain(" not opened yet (looks like spam: 1). ");
    const { out } = await cli("show", held);
    expect(out).toMatch(/^Quarantine reason: looks-like-spam$/m);
    expect(out).toMatch(/\nLooks like spam\. The strongest signs:\n( {2}\S.*\n){5}\n/);
    expect(out).toContain("  Received, and quarantined: Looks like spam.\n");
    expect((await cli("export")).out).toContain(",looks-like-spam,");
    await cli("release", held);
    expect((await cli("stats")).out).toContain(
      "\nSpam filter: Learned from 20 spam and 21 good messages. This month it quarantined 1 message, of which 1 were released.\n",
    );
    expect((await cli("show", String(sent[0]))).out).toMatch(/Z {2}Received\n.*Z {2}Marked as spam by an operator\n$/);
    expect(await cli("spam-filter", "--forget")).toEqual(refused(/^This command asks for confirmation/));
    const off = await runCli({ DATA_DIR: dataDir, SPAM_FILTER: "off" }, "spam-filter", "--forget", "--yes");
    expect(off.out).toMatch(/^Off, by SPAM_FILTER\. Learned from 0 spam and 0 good messages\. /);
    expect(JSON.parse((await cli("spam-filter", "--json")).out)).toMatchObject({ isOn: true, isDeciding: false });
  });

  test("releases all quarantined messages, or those since a time", async () => {
    const held = (minutes: number, email: string) =>
      send(store, submissionOf(messageWith({ email }), { isTrapped: true }), minutesAgo(minutes));
    const old = await held(300, "a@example.com");
    const recent = await held(30, "b@example.com");
    const restricted = await held(20, "c@example.com");
    await store.restrict("c@example.com", true, new Date());
    expect(await cli("release", "--since", "2h")).toEqual(done("1 message released.\n"));
    expect(await store.list({ state: "queued" })).toMatchObject([{ reference: recent }]);
    expect(await cli("release", "--all")).toEqual(done("1 message released.\n"));
    expect(await store.find(old)).toMatchObject({ state: "queued" });
    expect(await cli("release", "--all")).toEqual(done("0 messages released.\n"));
    expect(await cli("release", restricted)).toEqual(
      refused(/is restricted: its sender asked .+ to end that: .+ privacy restrict EMAIL --lift\n$/),
    );
  });

  test("resends delivered messages, one or all since a time", async () => {
    const deliver = async (minutes: number) => {
      const reference = await send(store, submissionOf(), minutesAgo(minutes));
      await finish(store, "delivered", minutesAgo(minutes));
      return reference;
    };
    const [first, second, third] = [await deliver(300), await deliver(30), await deliver(20)];
    expect(await cli("resend", first.toLowerCase())).toEqual(done("1 message queued again.\n"));
    expect(await store.list({ state: "queued" })).toMatchObject([
      { reference: first, deliveries: { mail: { attempts: 0 } } },
    ]);
    expect(await cli("resend", first)).toEqual(refused(/is queued; only delivered messages can be resent\n$/));
    expect(await cli("resend", "--since", "2h")).toEqual(done("2 messages queued again.\n"));
    expect(await store.list({ state: "queued" })).toMatchObject(
      [third, second, first].map((reference) => ({ reference })),
    );
    expect(await cli("resend", "BC-NONE-00")).toEqual(refused(/^There is no message BC-NONE-00/));
  });

  test("deletes one message and its .eml file after a confirmation, but never a restricted message", async () => {
    const spam = await send(store, submissionOf(messageWith(), { isTrapped: true }));
    const kept = await send(store, submissionOf(messageWith({ email: "kept@example.com" })));
    const outbox = writeMails(`${spam}.eml`, `${kept}.eml`);
    expect(await cli("delete", spam)).toEqual(refused(/^This command asks for confirmation; .+ add --yes\n$/));
    expect(await store.list({})).toHaveLength(2);
    expect(await cli("delete", spam.toLowerCase(), "--yes")).toEqual(
      done(expect.stringMatching(/^1 message and 1 \.eml file deleted\.\n.+ person .+ privacy erase EMAIL\n$/)),
    );
    expect(await store.list({})).toMatchObject([{ reference: kept }]);
    expect(readdirSync(outbox)).toEqual([`${kept}.eml`]);
    expect(await cli("delete", spam, "--yes")).toEqual(refused(/^There is no message/));
    await store.restrict("kept@example.com", true, new Date());
    expect(await cli("delete", kept, "--yes")).toEqual(
      refused(/is restricted: its sender asked you to keep it but not use it; to end that:/),
    );
    expect(await store.list({})).toHaveLength(1);
  });

  test("exports for spreadsheets and programs", async () => {
    const hostile = messageWith({ name: "=cmd|' /C calc'!A0", message: 'a, "b"\nc' });
    const reference = await send(store, submissionOf(hostile));
    const { out } = await cli("export");
    const [heading, row] = out.split("\r\n");
    expect(heading).toMatch(
      /^\uFEFFreference,state,isRestricted,acceptedAt,.+,name,email,phone,country,message,footprintKg,footprintInputs,footprintFactors,acknowledgement,acknowledgedAt,hook,hookSentAt,notes,expiresAt,reply,repliedAt,replies,taught$/,
    );
    expect(row).toMatch(new RegExp(`^${reference},queued,false,2025-06-15T12:00:00.000Z,`));
    expect(row).toContain(`,'=cmd|' /C calc'!A0,ada@example.com,'+44 20 7946 0000,GB,"a, ""b""\nc"`);
    expect(JSON.parse((await cli("export", "--json")).out)).toMatchObject([{ reference, message: 'a, "b"\nc' }]);
    expect((await cli("export", "--search", "nobody wrote this")).out.split("\r\n")).toEqual([heading, ""]);
    expect((await atTerminal(false, "export")).out).toMatch(/^reference/);
  });

  test("ends without an error if the reader of its output closes the pipe, as head does", async () => {
    const long = (index: number) => submissionOf(messageWith({ message: `${index}${"x".repeat(4900)}` }));
    await Promise.all(Array.from({ length: 200 }, (_, index) => store.accept(long(index), NO_LIMITS, NOON)));
    const child = spawnCli({ DATA_DIR: dataDir }, "export");
    child.stdout.once("data", () => child.stdout.destroy());
    const [[code], err] = await Promise.all([once(child, "exit"), text(child.stderr)]);
    expect([code, err]).toEqual([0, ""]);
  });

  test("counts waiting and failed messages, and draws messages per day and country", async () => {
    const today = new Date();
    expect((await cli("stats")).out).toBe(
      [
        "Website: not running.",
        "Waiting to be delivered: 0. Failed: 0.",
        "In quarantine: 0.",
        "",
        "Needs attention:",
        "- The website is not running. Start its server: until then visitors cannot send messages, and no email is sent.",
        "",
        "No messages in the last 30 days.",
        "",
      ].join("\n"),
    );
    await send(store, submissionOf(messageWith({ email: "old@example.com" })), minutesAgo(10_000));
    await finish(store, "failed", minutesAgo(9000));
    await send(store, submissionOf(), minutesAgo(9000));
    for (const country of ["DE", "DE", "", "FR"]) await send(store, submissionOf(messageWith({ country })), today);
    const { out } = await cli("stats", "--days", "2");
    expect(out).toMatch(/\nWaiting to be delivered: 5 \(oldest: 6d\)\. Failed: 1\.\n/);
    const day = today.toISOString().slice(0, 10);
    expect(out).toContain("Messages per day (UTC), 4 in total\n");
    expect(out).toContain(`${day}  4  ${"█".repeat(40)}\n`);
    expect(out).toMatch(/Messages per country\nDE {9}2 {2}█{40}\n/);
    expect(out).toMatch(/not given {2}1 {2}█{20}\n/);
  });

  test("counts quarantined messages, and those that no operator has opened", async () => {
    const held = (minutes: number) =>
      send(store, submissionOf(messageWith({ country: "DE" }), { isTrapped: true }), minutesAgo(minutes));
    await store.markSeen(await held(2), new Date());
    await held(0);
    await held(0);
    const { out } = await cli("stats");
    expect(out).toContain("\nIn quarantine: 3 (2 not opened yet).\n");
    expect(out).toContain("\n- 2 messages quarantined as suspected abuse, not opened yet. ");
    expect(JSON.parse((await cli("stats", "--json")).out)).toMatchObject({
      counts: { quarantined: 3 },
      perDayAndCountry: [{ day: expect.any(String), country: "DE", count: 3 }],
    });
  });

  test("backs up only to a new file, which can be opened, also after a killed backup", async () => {
    const reference = await send(store);
    const folder = join(dataDir, "copy");
    mkdirSync(folder);
    const file = join(folder, "messages.db");
    // A killed backup leaves a partly written file.
    writeFileSync(`${file}.partial`, "x".repeat(10_000), { mode: 0o600 });
    expect((await cli("stats")).out).not.toContain("Last backup");
    expect(await cli("backup", file)).toEqual(done(`All messages copied to ${file}.\n`));
    expect((await cli("stats")).out).toMatch(/\nLast backup: 20\S+Z \(\ds ago\)\.\n/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await cli("backup", file)).toEqual(refused(/already exists; choose another name\n$/));
    expect(readdirSync(folder)).toEqual(["messages.db"]);
    expect(await cli("backup", join(dataDir, "none", "x.db"))).toEqual(refused(/cannot be written/));
    expect((await runCli({ DATA_DIR: folder }, "show", reference)).code).toBe(0);
  });

  test("answers requests for access, rectification and restriction", async () => {
    await send(store, submissionOf(messageWith({ email: "Ada@Example.com" })));
    await send(store, submissionOf(messageWith({ email: "eve@example.com" })));
    const corrected = await cli("privacy", "rectify", "ada@example.com", "--name", " Ada King ", "--country=");
    expect(corrected).toEqual(done("1 message corrected.\n"));
    expect(await cli("privacy", "restrict", "ada@example.com")).toEqual(done("1 message restricted.\n"));
    const exported = JSON.parse((await cli("privacy", "export", "ADA@example.com")).out);
    expect(exported.messages).toMatchObject([{ name: "Ada King", country: "", isRestricted: true }]);
    expect(await cli("privacy", "restrict", "ada@example.com", "--lift")).toEqual(
      done("1 message: restriction lifted.\n"),
    );
    const wrong = ["--email", "not an address", "--country", "Germany"];
    expect(await cli("privacy", "rectify", "ada@example.com", ...wrong)).toEqual(
      refused(/^--email: Enter an email address.+\n--country: Choose a country/, 2),
    );
    expect(await cli("privacy", "restrict", "bob@example.com")).toEqual(
      refused(/^There are no messages from bob@example\.com\n$/),
    );
  });

  test("corrects single inputs of an estimate, removes an estimate, and refuses invalid corrections", async () => {
    const inputs = { carKm: 100, electricityKwh: 1000 };
    const reference = await send(store, submissionOf(messageWith(), { footprint: estimateOf(inputs) }));
    const rectify = (...args: string[]) => cli("privacy", "rectify", "ada@example.com", ...args);
    const stored = async () => (await store.find(reference))?.footprint;
    const corrected = done("1 message corrected.\n");
    const given = ["--country", "FR", "--footprint.carKm", "1 200 km", "--footprint.carFuel=electric"];
    expect(await rectify(...given)).toEqual(corrected);
    expect(await stored()).toEqual(estimateOf({ ...inputs, carKm: 1200, carFuel: "electric" }, "FR"));
    expect(await rectify("--footprint.carKm=-5", "--footprint.carFuel", "coal", "--name", " ")).toEqual(
      refused(/^--name: Enter.+\n--footprint\.carKm: Enter 0 .+\n--footprint\.carFuel: Choose one of: petrol/, 2),
    );
    expect(await rectify("--footprint.totalKg", "1")).toEqual(refused(/^unknown option/, 2));
    expect(await rectify("--footprint", "all")).toEqual(refused(/^--footprint: is neither none nor inputs/, 2));
    expect(await rectify("--footprint", "none", "--footprint.carKm", "1")).toEqual(
      refused(/^Give either --footprint none or new inputs/, 2),
    );
    expect(await rectify("--footprint", "none")).toEqual(corrected);
    expect(await stored()).toBeNull();
    expect(await rectify("--footprint.carKm", "1", "--name", "Ada King")).toEqual(
      refused(/^No message from ada@example\.com has a footprint estimate; nothing was changed\n$/),
    );
    expect(await store.find(reference)).toMatchObject({ name: "Ada Lovelace", footprint: null });
    const { out: help } = await cli("privacy", "rectify", "--help");
    expect(help).toMatch(/\n {2}--footprint\.carFuel <NAME> +Fuel of the car: petrol, diesel, hybrid, electric\n/);
    for (const line of help.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(120);
  });

  test("erases all messages of an address, including .eml files, after a confirmation", async () => {
    const secret = messageWith({ email: "Secret@Example.com", message: "hidden words" });
    const reference = await send(store, submissionOf(secret));
    const other = await send(store, submissionOf(messageWith({ email: "eve@example.com" })));
    const outbox = writeMails(`${reference}.eml`, `${reference}.eml.unfinished`, `${other}.eml`);
    expect(await cli("privacy", "erase", "secret@example.com")).toEqual(
      refused(/^This command asks for confirmation; .+ add --yes\n$/),
    );
    expect(await store.list({})).toHaveLength(2);
    expect(await cli("privacy", "erase", "secret@example.com", "--yes")).toEqual(
      done("1 message and 2 .eml files erased.\n"),
    );
    expect(readdirSync(outbox)).toEqual([`${other}.eml`]);
    expect(readFileSync(join(dataDir, "erasures"), "utf8")).toMatch(/^[\w-]{43} 20\S+Z\n$/);
    expect(statSync(join(dataDir, "erasures")).mode & 0o777).toBe(0o600);
    for (const name of readdirSync(dataDir).filter((file) => file.startsWith("messages.db"))) {
      expect(readFileSync(join(dataDir, name)).includes("hidden words")).toBe(false);
    }
    expect(await store.list({})).toHaveLength(1);
  });

  test("an erasure without messages changes neither the database nor other files", async () => {
    await send(store, submissionOf(messageWith({ email: "eve@example.com" })));
    const outbox = writeMails("BC-GONE-10.eml");
    const { mtimeMs, ino } = statSync(join(dataDir, "messages.db"));
    expect(await cli("privacy", "erase", "gone@example.com", "--yes")).toEqual(
      refused(/^There are no messages from gone@example\.com\n$/),
    );
    expect(statSync(join(dataDir, "messages.db"))).toMatchObject({ mtimeMs, ino });
    expect(await cli("privacy", "erase", "eve@example.com", "--yes")).toMatchObject({
      out: "1 message and 0 .eml files erased.\n",
    });
    expect(readdirSync(outbox)).toEqual(["BC-GONE-10.eml"]);
  });

  test.each([true, false])("asks before deleting and erasing, and obeys the answer (%s)", async (answer) => {
    const reference = await send(store, submissionOf(messageWith({ name: "Eve\u001b[2J" })));
    const { asked, out } = await atTerminal(answer, "delete", reference);
    expect(asked).toEqual([`Permanently delete ${reference} (queued) from Eve\\u{1b}[2J <ada@example.com>? [y/N] `]);
    expect(out).toMatch(answer ? /^1 message and 0 \.eml files deleted/ : /^Nothing was deleted/);
    expect(await store.list({})).toHaveLength(answer ? 0 : 1);
    await send(store, submissionOf(messageWith({ email: "eve@example.com" })));
    const erasure = await atTerminal(answer, "privacy", "erase", "eve@example.com");
    expect(erasure.asked).toEqual(["Permanently erase 1 message from eve@example.com? [y/N] "]);
    expect(await store.list({})).toHaveLength(answer ? 0 : 2);
  });
});

describe("on PostgreSQL", () => {
  let server: PostgresConnection;
  beforeAll(async () => {
    server = await sharePostgres();
  }, 120_000);
  afterAll(() => server?.stop(), 120_000);

  test("lists, backs up and erases while a server is connected", async () => {
    const dataDir = await makeScratchFolder();
    const databaseUrl = await server.createDatabase();
    const store = await openStoreInProcess({ dataDir, databaseUrl });
    onTestFinished(() => store.close());
    const reference = await send(store);
    const cli = (...args: string[]) => runCli({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir }, ...args);
    expect((await cli("list")).out).toContain(reference);
    // A killed backup leaves these files. The next backup must not read the old log.
    for (const end of ["", "-wal", "-shm"])
      writeFileSync(join(dataDir, `messages.db.partial${end}`), "x".repeat(10_000));
    expect(await cli("backup", join(dataDir, "messages.db"))).toMatchObject({ code: 0, err: "" });
    expect(readdirSync(dataDir)).toEqual(["messages.db"]);
    expect((await runCli({ DATA_DIR: dataDir }, "show", reference)).out).toContain("Ada Lovelace");
    expect(await cli("privacy", "erase", "ADA@example.com", "--yes")).toMatchObject({ code: 0, err: "" });
    expect(await store.list({})).toEqual([]);
  });
});

function minutesAgo(minutes: number): Date {
  return new Date(Date.now() - minutes * 60_000);
}
