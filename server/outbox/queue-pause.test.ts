import { expect, it } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createQueuePause } from "./queue-pause.ts";

it("doubles from a minute to a quarter of an hour while probes fail", () => {
  const clock = createFakeClock();
  const pause = createQueuePause(clock);
  const minutes: number[] = [];
  const since = clock.now();
  for (let probe = 0; probe < 7; probe += 1) {
    pause.block(pause.ticket(), "535");
    minutes.push(pause.remainingMs / 60_000);
    expect(pause.limit(5)).toBe(0);
    clock.set(pause.remainingMs);
    expect(pause.limit(5)).toBe(1);
  }
  expect(minutes).toEqual([1, 2, 4, 8, 15, 15, 15]);
  expect(pause.current).toEqual({ reason: "535", since });
});

it.each([-86_400_000, 86_400_000])("does not last longer if the clock is set by %i ms", (byMs) => {
  const clock = createFakeClock();
  const pause = createQueuePause(clock);
  pause.block(pause.ticket(), "535");
  clock.set(byMs);
  expect(pause.remainingMs).toBe(byMs < 0 ? 60_000 : 0);
});

it("is not ended by a delivery that started before it, and the next pause lasts a minute again", () => {
  const pause = createQueuePause(createFakeClock());
  const onItsWay = pause.ticket();
  pause.block(pause.ticket(), "535");
  pause.block(pause.ticket(), "535");
  expect(pause.unblock(onItsWay)).toBe(false);
  expect(pause.unblock(pause.ticket())).toBe(true);
  expect([pause.limit(5), pause.current]).toEqual([5, null]);
  expect(pause.block(pause.ticket(), "535")).toBe("started");
  expect(pause.remainingMs).toBe(60_000);
});
