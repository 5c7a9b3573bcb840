import { expect, test } from "vitest";
import { raceTakeBack } from "../store-contract/changes.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { sharePostgresForFile } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

const server = await sharePostgresForFile();

test("a reply is sent or a draft, never both and never neither, in 500 races on PostgreSQL", async () => {
  const settings = { dataDir: "", databaseUrl: await server.createDatabase() };
  const node = await untilEnd(openStoreInProcess({ ...settings, account: "anna" }, { isServer: true }));
  const other = await untilEnd(openStoreInProcess({ ...settings, account: "bob" }));
  const { sent, draft } = await raceTakeBack(node, other, 500);
  expect(sent + draft).toBe(500);
  // Otherwise these were no races.
  expect(Math.min(sent, draft)).toBeGreaterThan(0);
});
