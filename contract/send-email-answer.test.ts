import { expect, test } from "vitest";
import { readAnswer } from "./send-email-answer.ts";

const NEITHER = [null, 1, "yes", [], {}, { success: "true" }, { success: 1 }, { success: false }];

test.each<[body: unknown, answer: object]>([
  [
    { success: true, reference: "BC-7K3Q-9M", more: 1 },
    { success: true, reference: "BC-7K3Q-9M" },
  ],
  [{ success: true }, { success: true, reference: "" }],
  [
    { success: false, error: "No.", fields: { name: "Enter it.", email: 3 } },
    { success: false, error: "No.", fields: { name: "Enter it." } },
  ],
  ...NEITHER.map((body): [unknown, object] => [body, { success: false, error: "" }]),
])("reads %j as %j", (body, answer) => expect(readAnswer(body)).toEqual(answer));
