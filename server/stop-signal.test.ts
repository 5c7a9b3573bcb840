import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { onStopSignal } from "./stop-signal.ts";

test("the first signal stops, a second one within a second is ignored, and a later one ends the process at once", () => {
  const process = Object.assign(new EventEmitter(), { pid: 123, kill: vi.fn(() => true) });
  const stop = vi.fn();
  let nowMs = 5000;
  onStopSignal(process as unknown as NodeJS.Process, stop, () => nowMs);
  process.emit("SIGINT");
  nowMs += 999;
  process.emit("SIGTERM");
  expect(stop).toHaveBeenCalledOnce();
  expect(process.kill).not.toHaveBeenCalled();
  nowMs += 1;
  process.emit("SIGINT");
  expect(stop).toHaveBeenCalledOnce();
  expect(process.kill.mock.calls).toEqual([[123, "SIGKILL"]]);
});
