import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { electricityTable } from "../../prerender/electricity.ts";
import { estimateOf, messageWith, store as send, submissionOf } from "../../tests/store-contract/samples.ts";
import { openStoreInProcess } from "../../tests/support/in-process-store.ts";
import { withStore } from "../../tests/support/post-office.ts";
import { makeScratchFolder } from "../../tests/support/scratch-folder.ts";
import { BuildMissing } from "../manifest.ts";
import { OperatorError } from "../operator-error.ts";
import type { Store } from "../store/open-store.ts";
import { StoreUnavailable } from "../store/store.ts";
import { createCaller } from "./router.ts";

const EMAIL = "ada@example.com";
const CAR = { electricityKwh: 1000, carKm: 5000, carFuel: "diesel" };

async function openPerson(...footprints: (Record<string, unknown> | null)[]) {
  const dataDir = await makeScratchFolder();
  const store = await openStoreInProcess({ dataDir, databaseUrl: null });
  onTestFinished(() => store.close());
  for (const footprint of footprints) {
    await send(store, submissionOf(messageWith({ email: EMAIL }), { footprint: footprint && estimateOf(footprint) }));
  }
  const desk = { store, dataDir, program: "", channels: [], databaseKind: "SQLite" as const, account: null };
  const call = (parts = {}) => createCaller({ ...desk, readElectricity: electricityTable, ...parts });
  const correct = (change: Omit<Parameters<ReturnType<typeof call>["correct"]>[0], "email">, parts = {}) =>
    call(parts).correct({ email: EMAIL, ...change });
  const estimates = async () =>
    (await store.messages.list({ email: EMAIL })).toReversed().map(({ footprint }) => footprint);
  return { store, dataDir, call, correct, estimates };
}

const noBuild = () => {
  throw new BuildMissing({ problem: "There is no build to serve in dist/", command: "build" });
};

test("a corrected country changes every estimate, and adds none to messages without one", async () => {
  const { correct, estimates } = await openPerson(CAR, null, { hotelNights: 2 });
  expect(await correct({ changes: { country: "FR" } })).toEqual({ outcome: "done", messages: 3, files: 0 });
  expect(await estimates()).toEqual([estimateOf(CAR, "FR"), null, estimateOf({ hotelNights: 2 }, "FR")]);
  await correct({ changes: { country: "" } });
  expect(await estimates()).toEqual([estimateOf(CAR, ""), null, estimateOf({ hotelNights: 2 }, "")]);
});

test("given inputs replace those of every estimate, and an estimate without amounts is removed", async () => {
  const { correct, estimates } = await openPerson(CAR, { carKm: 1 });
  await correct({ changes: { country: "FR" }, footprint: { carKm: "1,200 km", carFuel: "electric", gasKwh: "5" } });
  expect(await estimates()).toEqual([
    estimateOf({ electricityKwh: 1000, carKm: 1200, carFuel: "electric", gasKwh: 5 }, "FR"),
    estimateOf({ carKm: 1200, carFuel: "electric", gasKwh: 5 }, "FR"),
  ]);
  await correct({ changes: {}, footprint: { carKm: "", gasKwh: "" } });
  expect(await estimates()).toEqual([estimateOf({ electricityKwh: 1000, carFuel: "electric" }, "FR"), null]);
});

test("a corrected distance is in km, whatever the earlier unit, unless a unit is given", async () => {
  const { correct, estimates } = await openPerson({ carKm: 8000, carUnit: "mi" });
  await correct({ changes: { country: "FR" } });
  expect(await estimates()).toEqual([estimateOf({ carKm: 8000, carUnit: "mi" }, "FR")]);
  await correct({ changes: {}, footprint: { carKm: "1200" } });
  expect(await estimates()).toEqual([estimateOf({ carKm: 1200 }, "FR")]);
  await correct({ changes: {}, footprint: { carKm: "1200", carUnit: "mi" } });
  expect(await estimates()).toEqual([estimateOf({ carKm: 1200, carUnit: "mi" }, "FR")]);
});

test("removing estimates needs no build", async () => {
  const { correct, estimates } = await openPerson(CAR, null);
  expect(await correct({ changes: {}, footprint: "none" }, { readElectricity: noBuild })).toMatchObject({
    messages: 2,
  });
  expect(await estimates()).toEqual([null, null]);
  expect(await correct({ changes: { name: "X" }, footprint: "none" })).toEqual({ outcome: "no-estimate" });
  expect(await correct({ changes: { name: "X" }, footprint: { carKm: "1" } })).toEqual({ outcome: "no-estimate" });
});

test("a correction fails as a whole if it needs an estimate that cannot be computed", async () => {
  const { store, correct, estimates } = await openPerson(CAR);
  const parts = { readElectricity: noBuild };
  const failure = correct({ changes: { country: "FR", name: "Ada King" } }, parts);
  await expect(failure).rejects.toMatchObject({ cause: expect.any(OperatorError) });
  await expect(failure).rejects.toThrow(
    "The footprint estimate cannot be computed again\nThere is no build to serve in dist/; run: npm run build",
  );
  expect(await store.messages.list({})).toMatchObject([{ name: "Ada Lovelace", country: "GB" }]);
  // Another name, or the same country, changes no estimate.
  expect(await correct({ changes: { name: "Ada King", country: "GB" } }, parts)).toMatchObject({ messages: 1 });
  expect(await estimates()).toEqual([estimateOf(CAR)]);
});

test("a correction reads changed messages again, unless the operator gave a version", async () => {
  const { store, call, correct, estimates } = await openPerson(CAR);
  /** Another message arrives between reading and writing, this many times. */
  const interrupted = (times: number): Store => {
    let left = times;
    const list: Store["messages"]["list"] = async (filter) => {
      const messages = await store.messages.list(filter);
      left -= 1;
      if (left >= 0) await send(store, submissionOf(messageWith({ email: EMAIL }), { footprint: estimateOf(CAR) }));
      return messages;
    };
    return withStore(store, { messages: { list } });
  };
  expect(await correct({ changes: { country: "FR" } }, { store: interrupted(2) })).toMatchObject({ messages: 3 });
  expect(await estimates()).toEqual(Array(3).fill(estimateOf(CAR, "FR")));
  expect(await correct({ changes: { country: "IN" } }, { store: interrupted(99) })).toEqual({ outcome: "changed" });
  const { version } = await call().person({ email: EMAIL });
  const changed = { outcome: "changed" };
  expect(await correct({ changes: { country: "IN" }, version }, { store: interrupted(1) })).toEqual(changed);
  expect((await estimates()).slice(0, 3)).toEqual(Array(3).fill(estimateOf(CAR, "FR")));
  expect(await call().restrict({ email: EMAIL, version, isRestricted: true })).toEqual(changed);
  expect(await call().erase({ email: EMAIL, version })).toEqual(changed);
});

test("an erasure removes the files even if traces remain, and a repeated request finishes it", async () => {
  const { store, dataDir, call } = await openPerson(null);
  const file = join(dataDir, "outbox", `${(await store.messages.list({}))[0]?.reference}.eml`);
  mkdirSync(join(dataDir, "outbox"));
  writeFileSync(file, "");
  const failing = () => Promise.reject(new StoreUnavailable({ problem: "Old pages are in use" }));
  const busy = withStore(store, { people: { finishErasure: failing } });
  const erase = (used: Store) => call({ store: used }).erase({ email: EMAIL });
  await expect(erase(withStore(store, { people: { finishErasure: async () => false } }))).resolves.toMatchObject({
    messages: 1,
    files: 1,
  });
  expect(existsSync(file)).toBe(false);
  await expect(erase(busy)).rejects.toMatchObject({ cause: expect.any(StoreUnavailable) });
  expect(await erase(store)).toEqual({ outcome: "done", messages: 0, files: 0 });
  expect(await erase(store)).toEqual({ outcome: "gone" });
});
