import { expect, it } from "vitest";
import { DAY_MS, later, NOON, storedWith } from "../../tests/store-contract/samples.ts";
import { keptUntil } from "./retention.ts";

const RETENTION = { deliveredMs: 30 * DAY_MS, failedMs: 90 * DAY_MS, quarantinedMs: null };

it("tells when a message is erased: the period of its state after it reached that", () => {
  const stateChangedAt = later(DAY_MS);
  expect(keptUntil(storedWith({ state: "delivered", stateChangedAt }), RETENTION)).toEqual(later(31 * DAY_MS));
  expect(keptUntil(storedWith({ state: "failed", stateChangedAt }), RETENTION)).toEqual(later(91 * DAY_MS));
  // A clock that was set back between the two.
  expect(keptUntil(storedWith({ state: "failed", stateChangedAt: later(-1), acceptedAt: NOON }), RETENTION)).toEqual(
    later(90 * DAY_MS),
  );
});

it("has no end for what is queued or restricted, or is to be kept", () => {
  for (const fields of [
    { state: "queued" },
    { state: "quarantined" },
    { state: "delivered", isRestricted: true },
  ] as const) {
    expect(keptUntil(storedWith(fields), RETENTION)).toBeNull();
  }
});
