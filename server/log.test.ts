import { expect, test } from "vitest";
import { plainError } from "./log.ts";

test("an error is logged by its kind, code and place, and by nothing that it says or carries", () => {
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
