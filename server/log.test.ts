import { expect, test } from "vitest";
import { plainError } from "./log.ts";

test("logs only an error's kind, code and place, not its message or properties", () => {
  const error = Object.assign(
    new TypeError("no ada@example.com\n    in Ada's\n  at all", { cause: new Error("Ada") }),
    {
      code: "E_BAD",
      rawPacket: Buffer.from("Ada"),
    },
  );
  const logged = plainError(error);
  expect(logged).toEqual({ type: "TypeError", message: "E_BAD", stack: expect.stringContaining("log.test.ts") });
  expect(JSON.stringify(logged)).not.toMatch(/ada|in all/i);
});
