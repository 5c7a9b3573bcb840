import { expect, test } from "vitest";
import { type Evidence, findViolations } from "../support/invariant.ts";

const ONE = "BC-0000-01";
const TWO = "BC-0000-02";
const idOf = (reference: string, row = 1) => `<${reference}.${row}@example.test>`;
const delivered = (reference: string) => ({ reference, state: "delivered" as const });
const GOOD: Evidence = {
  acknowledged: [ONE, TWO],
  stored: [delivered(TWO), delivered(ONE)],
  messageIds: [idOf(ONE), idOf(TWO, 2)],
};

test.each<[string, Partial<Evidence>, string[]]>([
  ["nothing where references, rows and Message-IDs are the same", {}, []],
  ["a lost row", { stored: [delivered(TWO)] }, ["acknowledged but is not stored", "mailed but is not stored"]],
  ["a lost mail", { messageIds: [idOf(ONE)] }, [`${TWO} was not mailed`]],
  ["a row nobody was told of", { acknowledged: [ONE] }, [`${TWO} is stored but nobody was told`]],
  ["a mail without a row", { messageIds: [...GOOD.messageIds, idOf("BC-0000-03")] }, ["mailed but is not stored"]],
  ["a doubled row", { stored: [...GOOD.stored, delivered(ONE)] }, [`${ONE} is stored 2 times`]],
  ["a doubled mail", { messageIds: [...GOOD.messageIds, idOf(ONE)] }, [`${ONE} was mailed 2 times`]],
  ["a second Message-ID", { messageIds: [...GOOD.messageIds, idOf(ONE, 3)] }, [`${ONE} was mailed under 2`]],
  ["one reference for two messages", { acknowledged: [ONE, ONE, TWO] }, [`${ONE} was given to 2 messages`]],
  ["a lost post", { postedIds: [`${ONE}.1`] }, [`${TWO} was not posted`]],
  ["a post without a row", { postedIds: [`${ONE}.1`, `${TWO}.2`, "BC-0000-03.3"] }, ["posted but is not stored"]],
  ["a row still queued", { stored: [delivered(ONE), { reference: TWO, state: "queued" }] }, [`${TWO} is queued`]],
])("finds %s", (_title, change, expected) => {
  expect(findViolations({ ...GOOD, ...change })).toEqual(expected.map((text) => expect.stringContaining(text)));
});
