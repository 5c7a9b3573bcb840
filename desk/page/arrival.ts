import type { MessageView } from "./api.ts";

type Row = Pick<MessageView, "reference" | "newAnswerAt" | "acceptedAt" | "id">;
/** The rows that the operator has been shown, each with the time of its last answer then. */
export type Seen = ReadonlyMap<string, number>;

const answerMs = ({ newAnswerAt }: Row) => newAnswerAt?.getTime() ?? 0;

export const seenIn = (rows: readonly Row[]): Seen => new Map(rows.map((row) => [row.reference, answerMs(row)]));

/**
 * What comes in while somebody uses the list is `fresh` and not shown, because it would move the row that is aimed at:
 * new rows above those that were seen, and in the tab Unanswered those that an answer moves to the top.
 */
export function arrange<R extends Row>(seen: Seen, rows: readonly R[], tab: string): { shown: R[]; fresh: R[] } {
  const isFirst = tab === "unanswered";
  const seenMs = (row: R) => (isFirst ? Math.min(seen.get(row.reference) ?? answerMs(row), answerMs(row)) : 0);
  const last = rows.findLastIndex(({ reference }) => seen.has(reference));
  const isNew = ({ reference }: R, index: number) => !seen.has(reference) && index < last;
  const fresh = rows.filter((row, index) => isNew(row, index) || (isFirst && answerMs(row) > seenMs(row)));
  const shown = rows
    .filter((row, index) => !isNew(row, index))
    .toSorted((a, b) => seenMs(b) - seenMs(a) || b.acceptedAt.getTime() - a.acceptedAt.getTime() || b.id - a.id);
  return { shown, fresh };
}
