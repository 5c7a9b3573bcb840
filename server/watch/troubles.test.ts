import { join } from "node:path";
import { expect, it } from "vitest";
import { adviceLine } from "../../contract/commands.ts";
import type { AnswerTime } from "../../contract/duration.ts";
import { openPostOffice, withStore } from "../../tests/support/post-office.ts";
import { CHANNELS, type Channel } from "../store/model.ts";
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
    const watch = createWatch({ store, dataDir, channels: CHANNELS, askedBy, answerWithin, ...options });
    const { troubles } = await watch.find(clock.now());
    return troubles.map((trouble) => `${trouble.severity} ${trouble.channel} ${trouble.kind}: ${adviceLine(trouble)}`);
  };
  const failed = `1 message could not be emailed; ${first}: 550 refused. Fix the cause, then use retry. To see all: npm run messages -- list --state failed`;
  const shared = [
    `critical mail failed: ${failed}`,
    "critical null backup-overdue: No backup has succeeded for 3 days; make one and read its output: npm run messages -- backup FILE",
    "warning hook overdue: 1 message waiting to be posted to HOOK_URL, the oldest for 3 days; to see all: npm run messages -- list --state queued",
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

it("nothing can be stored, whatever the error of the write", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  const broken = withStore(store, { status: { ping: () => Promise.reject(new Error("relation meta is missing")) } });
  const watch = createWatch({ store: broken, dataDir, channels: CHANNELS, askedBy: "operator" });
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
  const watch = createWatch({ store: broken, dataDir, channels: CHANNELS, askedBy: "operator" });
  expect(await watch.find(clock.now())).toMatchObject({ facts: null, error: new TypeError("a defect"), troubles: [] });
});
