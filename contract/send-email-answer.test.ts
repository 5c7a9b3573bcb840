import { expect, test } from "vitest";
import { readAnswer } from "./send-email-answer.ts";

test("reads a success and its reference", () => {
  expect(readAnswer({ success: true, reference: "BC-7K3Q-9M", more: 1 })).toEqual({
    success: true,
    reference: "BC-7K3Q-9M",
  });
  expect(readAnswer({ success: true })).toEqual({ success: true, reference: "" });
});

test.each([null, 1, "yes", [], {}, { success: "true" }, { success: 1 }, { success: false }])(
  "does not accept %j as a success",
  (body) => expect(readAnswer(body)).toEqual({ success: false, error: "" }),
);

test("keeps only the field errors that are text", () => {
  expect(readAnswer({ success: false, error: "No.", fields: { name: "Enter it.", email: 3 } })).toEqual({
    success: false,
    error: "No.",
    fields: { name: "Enter it." },
  });
});
