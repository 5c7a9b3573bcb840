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

it("lets what reached nobody end a week after the alert, or half of a short period, if that came late", () => {
  const failed = storedWith({ state: "failed", notifiedAt: later(88 * DAY_MS) });
  expect(keptUntil(failed, RETENTION)).toEqual(later(95 * DAY_MS));
  expect(keptUntil({ ...failed, notifiedAt: later(80 * DAY_MS) }, RETENTION)).toEqual(later(90 * DAY_MS));
  expect(keptUntil(failed, { ...RETENTION, failedMs: 2 * DAY_MS })).toEqual(later(89 * DAY_MS));
  // These do not need one, or it was for an earlier state.
  for (const fields of [{ answeredAt: NOON }, { notifiedAt: later(-1) }]) {
    expect(keptUntil({ ...failed, ...fields }, RETENTION)).toEqual(later(90 * DAY_MS));
  }
  expect(keptUntil({ ...failed, state: "delivered" }, RETENTION)).toEqual(later(30 * DAY_MS));
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
