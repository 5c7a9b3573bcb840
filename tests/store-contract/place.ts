import { test } from "vitest";
import type { Retention } from "../../contract/build-settings.ts";
import type { AcceptanceRules } from "../../server/store/intake.ts";
import type { StoredMessage } from "../../server/store/model.ts";
import type { Store } from "../../server/store/store.ts";

/** One empty database. Every `open` is another node on it. All nodes are closed after the test. */
export interface Place {
  /** Whether several servers may use it. */
  isShared: boolean;
  open(options?: { retention?: Retention; account?: string; rules?: AcceptanceRules }): Promise<Store>;
  /** Runs a statement directly on the database, without the store. */
  sql<Row = unknown>(statement: string): Promise<Row[]>;
}

/** Tests of the store on one kind of database. Opens only the nodes that a test uses. */
export function testOn(newPlace: () => Promise<Place>) {
  return test
    .extend("place", () => newPlace())
    .extend("node", ({ place }) => place.open({ account: "anna" }))
    .extend("other", ({ place, node: _ }) => place.open({ account: "bob" }));
}

export type ContractTest = ReturnType<typeof testOn>;

export async function get(node: Store, reference: string): Promise<StoredMessage> {
  const message = await node.messages.find(reference);
  if (!message) throw new Error(`There is no ${reference}`);
  return message;
}

/** Runs the work `count` times concurrently, on the two nodes in turn. */
export function acrossNodes<T>(
  nodes: readonly [Store, Store],
  count: number,
  work: (node: Store, turn: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, turn) => work(nodes[turn % 2 === 0 ? 0 : 1], turn)));
}
