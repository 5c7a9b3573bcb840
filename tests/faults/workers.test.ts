import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { PostgresConnection } from "../../scripts/run-postgres.ts";
import { createSmtpMailer } from "../../server/mail/smtp.ts";
import { mailSender } from "../../server/outbox/mail.ts";
import { startOutbox } from "../../server/outbox/outbox.ts";
import { openStore } from "../../server/store/open-store.ts";
import type { Store } from "../../server/store/store.ts";
import { store as send, submissionOf } from "../store-contract/samples.ts";
import { endLeases } from "../support/end-leases.ts";
import { RETENTION } from "../support/in-process-store.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { startMailServer } from "../support/mail-server.ts";
import { IDENTITY } from "../support/post-office.ts";
import { createRecordingLog } from "../support/recording-log.ts";
import { openScene } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { sharePostgres } from "../support/shared-postgres.ts";

const WORKERS = 20;
const BATCH = 250;
const ROWS = 1000;

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
}, 120_000);
afterAll(() => postgres?.stop(), 120_000);

test.each([
  ["SQLite", 1],
  ["PostgreSQL", 5],
])(
  `${WORKERS} workers on ${ROWS} rows of %s, on %i nodes, mail each once`,
  async (kind, count) => {
    const place = {
      dataDir: await makeScratchFolder(),
      databaseUrl: kind === "SQLite" ? null : await postgres.createDatabase(),
    };
    const nodes = await Promise.all(Array.from({ length: count }, () => openNode(place)));
    const [first] = nodes;
    if (!first) throw new Error("no node");
    const acknowledged: string[] = [];
    for (let rows = 0; rows < ROWS; rows += BATCH) {
      const batch = Array.from({ length: BATCH }, () => send(first, submissionOf(), new Date()));
      acknowledged.push(...(await Promise.all(batch)));
    }

    const mailServer = await startMailServer();
    onTestFinished(() => mailServer.close());
    const log = createRecordingLog();
    for (let worker = 0; worker < WORKERS; worker += 1) {
      const mailer = createSmtpMailer(`smtp://127.0.0.1:${mailServer.port}`);
      const outbox = startOutbox({
        store: nodes[worker % count] ?? first,
        senders: [mailSender({ mailer, identity: IDENTITY })],
        log,
      });
      onTestFinished(() => outbox.stop());
    }
    await expect.poll(() => log.count("delivered"), { timeout: 120_000, interval: 200 }).toBe(ROWS);
    const stored = await first.list({ limit: 1_000_000 });
    expect(findViolations({ acknowledged, stored, messageIds: messageIdsOf(mailServer.mails) })).toEqual([]);
  },
  300_000,
);

test("a server stopped past its leases and resumed records what it sent, though another one took over", async () => {
  const databaseUrl = await postgres.createDatabase();
  const scene = await openScene({ databaseUrl });
  const { mailServer } = scene;
  const soon = { timeout: 20_000 };
  const stopped = await scene.start({ LOG_LEVEL: "info" });
  mailServer.behave({ kind: "hold-after-data", times: 6 });
  await scene.visitors.post(stopped.url, 3);
  await expect.poll(() => mailServer.mails.length, soon).toBe(3);
  // It hears neither the mail server's answer nor that its five minutes are over.
  stopped.process.kill("SIGSTOP");
  mailServer.release();
  await endLeases(databaseUrl);

  const other = await scene.start({ LOG_LEVEL: "info" });
  await expect.poll(() => mailServer.mails.length, soon).toBe(6);
  // The other one's mails are still on their way when the first one comes back with its own results.
  stopped.process.kill("SIGCONT");
  await expect.poll(() => stopped.output().match(/"event":"delivered"/g), soon).toHaveLength(3);
  await scene.queueIsEmpty();
  mailServer.release();
  await expect.poll(() => other.output().match(/"event":"lease-lost"/g), soon).toHaveLength(3);
  expect(await stopped.stop()).toBe(0);
  await scene.expectNothingLost(other, 2);
}, 120_000);

async function openNode(place: { dataDir: string; databaseUrl: string | null }): Promise<Store> {
  const node = await openStore({ ...place, retention: RETENTION }, { isServer: true });
  onTestFinished(() => node.close());
  return node;
}
