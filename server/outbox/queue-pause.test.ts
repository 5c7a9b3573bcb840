import { expect, it } from "vitest";
import { createFakeClock } from "../../tests/support/fake-clock.ts";
import { createQueuePause } from "./queue-pause.ts";

it("doubles from a minute to a quarter of an hour while probes fail", async () => {
  const clock = createFakeClock();
  const pause = createQueuePause(clock);
  const minutes: number[] = [];
  for (let probe = 0; probe < 7; probe += 1) {
    pause.block(pause.ticket(), "535");
    minutes.push(pause.remainingMs / 60_000);
    expect(pause.state).toBe("waiting");
    clock.setTimer(() => {}, Number.POSITIVE_INFINITY);
    await clock.advance(pause.remainingMs);
    expect(pause.state).toBe("probing");
  }
  expect(minutes).toEqual([1, 2, 4, 8, 15, 15, 15]);
});

it("counts attempts that fail together once", () => {
  const pause = createQueuePause(createFakeClock());
  const together = [pause.ticket(), pause.ticket(), pause.ticket()];
  expect(together.map((ticket) => pause.block(ticket, "535"))).toEqual(["started", "known", "known"]);
  expect(pause.remainingMs).toBe(60_000);
  expect(pause.reason).toBe("535");
});

it("is not ended by a mail that was already on its way when it started", () => {
  const pause = createQueuePause(createFakeClock());
  const onItsWay = pause.ticket();
  pause.block(pause.ticket(), "535");
  expect(pause.unblock(onItsWay)).toBe(false);
  expect(pause.unblock(pause.ticket())).toBe(true);
  expect(pause.state).toBe("open");
  expect(pause.reason).toBeNull();
});

it("starts again with a minute after it ended", () => {
  const pause = createQueuePause(createFakeClock());
  pause.block(pause.ticket(), "535");
  pause.block(pause.ticket(), "535");
  pause.unblock(pause.ticket());
  expect(pause.block(pause.ticket(), "535")).toBe("started");
  expect(pause.remainingMs).toBe(60_000);
});
