import { expect, test } from "vitest";
import { storedWith } from "../tests/store-contract/samples.ts";
import { fillReplies } from "./message-view.ts";

test("fills in saved replies, and says which ones need an estimate", () => {
  const message = { ...storedWith({}), name: "Ada {total} [x](/y)", reference: "BC-AAAA-AA", footprint: null };
  const replies = [
    { name: "a", text: "Your {total}" },
    { name: "b", text: "Dear {name}, {reference}, \\{brand} is {brand}" },
  ];
  const filled = fillReplies({ replies, facts: { brand: "{reference}" }, signature: null }, message);
  expect(filled).toMatchObject([
    { name: "a", needsEstimate: true },
    { name: "b", needsEstimate: false, text: "Dear Ada {total} [x](/y), BC-AAAA-AA, {brand} is {reference}" },
  ]);
});
