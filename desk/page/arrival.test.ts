import { expect, test } from "vitest";
import { arrange, seenIn } from "./arrival.ts";

const row = (id: number, answeredMs = 0) => ({
  reference: `BC-${id}`,
  id,
  acceptedAt: new Date(id),
  newAnswerAt: answeredMs > 0 ? new Date(answeredMs) : null,
});
const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
const of = (before: ReturnType<typeof row>[], now: ReturnType<typeof row>[], tab = "unanswered") => {
  const { shown, fresh } = arrange(seenIn(before), now, tab);
  return [ids(shown), ids(fresh)];
};

test("a row keeps its place when a message or an answer comes in above it", () => {
  const before = [row(3), row(2), row(1)];
  expect(of(before, before)).toEqual([[3, 2, 1], []]);
  expect(of(before, [row(4), ...before])).toEqual([[3, 2, 1], [4]]);
  expect(of(before, [row(1, 90), row(3), row(2)])).toEqual([[3, 2, 1], [1]]);
  expect(of(before, [row(4), ...before], "all")).toEqual([[3, 2, 1], [4]]);
  // What fills the end of the page moves nothing, and what left the list leaves.
  expect(of(before, [row(3), row(1), row(0)])).toEqual([[3, 1, 0], []]);
  // A mark that is undone brings its row back.
  expect(arrange(seenIn(before), [row(3), row(2)], "all").fresh).toEqual([]);
  // Another page.
  expect(of(before, [row(9), row(8)])).toEqual([[9, 8], []]);
});
