import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDefectLog, plainError } from "./log.ts";

test("logs only an error's kind, code and place, not its message or properties", () => {
  const error = Object.assign(
    new TypeError("no ada@example.com\n    in Ada's\n  at all", { cause: new Error("Ada's") }),
    { code: "E_BAD", rawPacket: Buffer.from("Ada") },
  );
  const logged = plainError(error);
  expect(logged).toEqual({ type: "TypeError", message: "E_BAD", stack: expect.stringContaining("log.test.ts") });
  // Only with these signs: the path of the clone, which is in the stack, may contain the name.
  expect(JSON.stringify(logged)).not.toMatch(/ada@|ada's/i);
});

test("logs a defect once, however Node came to it", async () => {
  const logged: unknown[] = [];
  const noteDefect = createDefectLog({ error: (event) => void logged.push(event) });
  const noted: boolean[] = [];
  const fail = () => void noted.push(noteDefect(new TypeError("x")));
  process.nextTick(fail);
  setImmediate(fail);
  await nextTurn();
  expect([noted, logged.length]).toEqual([[true, true], 1]);
});
