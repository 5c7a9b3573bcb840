import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { adviceLine } from "../../contract/commands.ts";
import type { AnswerTime } from "../../contract/duration.ts";
import { openPostOffice, withStore } from "../../tests/support/post-office.ts";
import { HOURLY_LIMIT } from "../store/mailbox.ts";
import { CHANNELS, type Channel } from "../store/model.ts";
import { HOUR_MS, MINUTE_MS } from "../time.ts";
import { createWatch } from "./troubles.ts";

it("says of each trouble what is wrong and what to do, the most urgent first; only operators are told that no website runs", async () => {
  const { store, dataDir, clock, accept } = await openPostOffice({ channels: ["mail", "hook"] });
  await store.archive.backup(join(dataDir, "copy.db"), clock.now());
  await store.status.reportNode([], clock.now());
  const first = await accept();
  for (const channel of ["mail", "hook"] as const) {
    const [claim] = await store.queue.claim(channel, 1, 1000, clock.now());
    const outcome = channel === "mail" ? ({ kind: "failed", error: "550 <a@b.c>; refused" } as const) : null;
    if (claim && outcome) await store.queue.settle(claim, outcome, clock.now());
  }
  clock.set(3 * 86_400_000);
  await accept({}, true);
  const find = async (askedBy: "server" | "operator", options: { channels?: readonly Channel[] } = {}) => {
    const answerWithin: AnswerTime = { amount: 2, unit: "hours" };
    const watch = createWatch({
      openedStore: async () => store,
      dataDir,
      channels: CHANNELS,
      askedBy,
      answerWithin,
      ...options,
    });
    const { troubles } = await watch.find(clock.now());
    return troubles.map((trouble) => `${trouble.severity} ${trouble.channel} ${trouble.kind}: ${adviceLine(trouble)}`);
  };
  const failed = `1 message could not be emailed; ${first}: 550 refused. Fix the cause, then use retry. To see all: npm run messages -- list --state failed`;
  const shared = [
    `critical mail failed: ${failed}`,
    "critical null backup-overdue: No backup has succeeded for 3 days; make one and read its output: npm run messages -- backup FILE",
    "warning hook overdue: 1 message waiting to be posted to HOOK_URL, the oldest for 3 days; to see all: npm run messages -- list --state waiting",
    "warning null quarantined: 1 message quarantined as suspected abuse, not opened yet; some may be real messages; to read them: npm run messages -- list --state quarantined",
    "warning null unanswered: 1 message unanswered for more than 2 hours, the oldest for 3 days; to read them: npm run messages -- list --unanswered",
  ];
  expect(await find("server")).toEqual(shared);
  const down =
    "critical null website-down: The website is not running; start its server: until then visitors cannot send messages, and no email is sent";
  expect(await find("operator")).toEqual([down, ...shared]);
  // What a hook that is switched off has left is no trouble.
  expect(await find("server", { channels: ["mail"] })).toEqual(shared.filter((line) => !line.includes("hook")));
});

it("tells of a mailbox that cannot be read for 15 minutes, at once of too many mails, and no more once it is read", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  const watch = createWatch({ openedStore: async () => store, dataDir, channels: CHANNELS, askedBy: "server" });
  const find = async () =>
    (await watch.find(clock.now())).troubles.filter(({ kind }) => kind === "mailbox").map((one) => adviceLine(one));
  const [name, node] = ["team@imap.example/INBOX", "here:3000"];
  const report = async (problem: string | null) => {
    await store.mailbox.lease([name], node, HOUR_MS, clock.now());
    return store.mailbox.report(name, node, problem, clock.now());
  };
  expect([await report("the folder does not exist"), await report("the folder does not exist")]).toEqual([true, false]);
  clock.set(15 * MINUTE_MS - 1);
  expect(await find()).toEqual([]);
  clock.set(15 * MINUTE_MS);
  expect(await find()).toEqual([
    "Answers do not come into the inbox: the folder does not exist; read the mailbox itself meanwhile, and correct IMAP_URL; to test it: npm run preflight",
  ]);
  await report(null);
  expect(await find()).toEqual([]);
  await report(HOURLY_LIMIT);
  expect(await find()).toEqual([expect.stringMatching(/^Answers wait in the mailbox: more than 500 mails/)]);
});

it("names the backups that are older than the privacy policy says, if it says it as days, weeks or months", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  const name = "2026-01-01-031500.db";
  await store.archive.backup(join(dataDir, name), clock.now());
  utimesSync(join(dataDir, name), clock.now(), clock.now());
  clock.set(15 * 86_400_000);
  const problemWith = async (backupsKept: string) => {
    const watch = createWatch({
      openedStore: async () => store,
      dataDir,
      channels: CHANNELS,
      askedBy: "server",
      backupsKept,
    });
    const { troubles } = await watch.find(clock.now());
    return troubles.find(({ kind }) => kind === "backup-overdue")?.problem;
  };
  const named = (kept: string) =>
    `No backup has succeeded for 15 days. Older than the ${kept} of the privacy policy: ${name}`;
  for (const kept of ["14 days", "2 weeks"]) expect(await problemWith(kept)).toBe(named(kept));
  for (const kept of ["1 month", "as agreed"])
    expect(await problemWith(kept)).toBe("No backup has succeeded for 15 days");
});

it("nothing can be stored, whatever the error of the write", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  const broken = withStore(store, { status: { ping: () => Promise.reject(new Error("relation meta is missing")) } });
  const watch = createWatch({ openedStore: async () => broken, dataDir, channels: CHANNELS, askedBy: "operator" });
  const { troubles } = await watch.find(clock.now());
  expect(troubles).toMatchObject([
    { kind: "store-away", problem: expect.stringMatching(/The message database cannot be used \(Error\)$/) },
    { kind: "website-down" },
  ]);
});

it("a defect is not a store that is away", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  await store.status.reportNode([], clock.now());
  const countDeliveries = () => Promise.reject(new TypeError("a defect"));
  const broken = withStore(store, { queue: { countDeliveries } });
  const watch = createWatch({ openedStore: async () => broken, dataDir, channels: CHANNELS, askedBy: "operator" });
  expect(await watch.find(clock.now())).toMatchObject({ facts: null, error: new TypeError("a defect"), troubles: [] });
});
