import { join } from "node:path";
import { expect, it } from "vitest";
import type { AnswerTime } from "../../contract/duration.ts";
import { openPostOffice, withStore } from "../../tests/support/post-office.ts";
import { CHANNELS, type Channel } from "../store/store.ts";
import { createWatch } from "./troubles.ts";

it("lists the most urgent trouble first; only operators are told that no website runs", async () => {
  const { store, dataDir, clock, accept } = await openPostOffice({ channels: ["mail", "hook"] });
  await store.archive.backup(join(dataDir, "copy.db"), clock.now());
  clock.set(3 * 86_400_000);
  await accept();
  await accept({}, true);
  for (const channel of ["mail", "hook"] as const) {
    const [claim] = await store.queue.claim(channel, 1, 1000, clock.now());
    if (claim) await store.queue.settle(claim, { kind: "failed", error: "550" }, clock.now());
  }
  const find = async (
    askedBy: "server" | "operator",
    channels: readonly Channel[] = CHANNELS,
    answerWithin: AnswerTime | null = null,
  ) => {
    const watch = createWatch({ store, dataDir, channels, askedBy, answerWithin });
    const { troubles } = await watch.find(clock.now());
    return troubles.map(({ severity, channel, kind, count }) => `${severity} ${channel} ${kind} ${count}`);
  };
  const [critical, warning] = ["critical mail failed 1", "warning hook failed 1"];
  const shared = [critical, "critical null backup-overdue 1", warning, "warning null quarantined 1"];
  expect(await find("server")).toEqual(shared);
  expect(await find("operator")).toEqual(["critical null website-down 1", ...shared]);
  await store.status.reportNode([], clock.now());
  expect(await find("operator")).toEqual(shared);
  clock.set(2 * 86_400_000);
  await store.status.reportNode([], clock.now());
  expect(await find("operator", CHANNELS, { amount: 24, unit: "hours" })).toContain("warning null unanswered 1");
  expect(await find("operator", CHANNELS, { amount: 2, unit: "working days" })).not.toContain(
    "warning null unanswered 1",
  );
  await store.people.rectify("ada@example.org", { name: "Countess" }, clock.now());
  clock.set(3_600_000);
  expect(await find("server")).toEqual(shared);
  // What a hook that is switched off has left is no trouble.
  expect(await find("server", ["mail"])).toEqual(shared.filter((one) => !one.includes("hook")));
});

it("a defect is not a store that is away", async () => {
  const { store, dataDir, clock } = await openPostOffice();
  await store.status.reportNode([], clock.now());
  const countDeliveries = () => Promise.reject(new TypeError("a defect"));
  const broken = withStore(store, { queue: { countDeliveries } });
  const watch = createWatch({ store: broken, dataDir, channels: CHANNELS, askedBy: "operator" });
  expect(await watch.find(clock.now())).toMatchObject({
    facts: null,
    problem: null,
    defect: new TypeError("a defect"),
    troubles: [],
  });
});
