import { once } from "node:events";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqliteFile } from "../../server/store/sqlite.ts";
import { messageWith, store as send, submissionOf } from "../store-contract/samples.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { spawnCli } from "../support/run-cli.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { untilEnd } from "../support/until-end.ts";

const MESSAGES = 10_000;

test("exports many long messages with a small heap, each once, while others arrive", async () => {
  const dataDir = await makeScratchFolder();
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl: null }));
  const db = new DatabaseSync(sqliteFile(dataDir));
  // All messages together have 50 MB.
  db.exec(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MESSAGES})
     INSERT INTO messages (reference, fingerprint, name, email, phone, country, message, accepted_at, search_text)
     SELECT printf('BC-OLD-%05d', n), n, 'Ada', 'ada@example.com', '1', 'GB', printf('%.*c', 5000, 'x'), n / 2, ''
     FROM numbers;
     INSERT INTO deliveries (message_id, channel, state, changed_at)
     SELECT id, 'mail', 'delivered', accepted_at FROM messages`,
  );
  db.close();
  const child = spawnCli({ DATA_DIR: dataDir, NODE_OPTIONS: "--max-old-space-size=40" }, "export");
  const exited = once(child, "exit");
  const references: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("BC-")) continue;
    references.push(line.slice(0, line.indexOf(",")));
    if (references.length % 1000 === 0) await send(store, submissionOf(messageWith()), new Date());
  }
  expect(await exited).toEqual([0, null]);
  const old = references.filter((reference) => reference.startsWith("BC-OLD-"));
  expect(old).toHaveLength(MESSAGES);
  expect(new Set(references).size).toBe(references.length);
});
