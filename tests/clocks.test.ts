import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ComposedMail } from "../server/mail/compose.ts";
import { MailError } from "../server/mail/mailer.ts";
import { hookSender } from "../server/outbox/hook.ts";
import { acknowledgementSender, mailSender } from "../server/outbox/senders.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from "../server/time.ts";
import { startAlerts } from "../server/watch/alerts.ts";
import { createWatch } from "../server/watch/troubles.ts";
import { submissionOf } from "./store-contract/samples.ts";
import { openStoreInProcess, RETENTION } from "./support/in-process-store.ts";
import { IDENTITY, openPostOffice } from "./support/post-office.ts";
import { startReceiver } from "./support/receiver.ts";
import { createRecordingLog } from "./support/recording-log.ts";
import { makeScratchFolder } from "./support/scratch-folder.ts";
import { sharePostgresForFile } from "./support/shared-postgres.ts";
import { untilEnd } from "./support/until-end.ts";

const postgres = await sharePostgresForFile();

test.each([2 * HOUR_MS, -2 * HOUR_MS])(
  "a node whose clock is wrong by %d ms tells it once, and nothing about messages",
  async (aheadMs) => {
    const dataDir = await makeScratchFolder();
    const databaseUrl = await postgres.createDatabase();
    const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl }));
    await store.intake.accept(submissionOf(), null);
    const receiver = await startReceiver<{ text: string; troubles: string[] }>();
    const openedStore = async () => store;
    const node = (offMs: number) => {
      const clock = { ...systemClock, now: () => new Date(Date.now() + offMs) };
      const watch = createWatch({ openedStore, dataDir, channels: ["mail"], askedBy: "server", clock });
      const options = { openedStore, watch, program: "messages", retention: RETENTION, brand: "Brighter" };
      const log = createRecordingLog();
      return { watch, log, alerts: startAlerts({ ...options, alertUrl: receiver.url, log }) };
    };
    expect((await node(0.9 * MINUTE_MS * Math.sign(aheadMs)).watch.find()).troubles).toEqual([]);
    const [first, second] = [node(aheadMs), node(aheadMs)];
    const { troubles, facts } = await first.watch.find();
    const difference = aheadMs > 0 ? "ahead of" : "behind";
    const problem = expect.stringMatching(new RegExp(` is (2 hours|1\\d\\d minutes) ${difference} the database's`));
    expect(troubles).toMatchObject([{ kind: "clock-wrong", severity: "warning", problem }]);
    expect(Math.abs(Number(facts?.now) - Date.now())).toBeLessThan(MINUTE_MS);
    first.alerts.checkNow();
    await expect.poll(() => receiver.posts.length).toBe(1);
    await first.alerts.stop();
    const find = vi.spyOn(second.watch, "find");
    second.alerts.checkNow();
    await expect.poll(() => find.mock.calls.length).toBe(1);
    await second.alerts.stop();
    expect(receiver.posts).toHaveLength(1);
    expect(receiver.posts[0]?.body.troubles).toEqual(["clock-wrong"]);
    expect((await store.status.alerts()).size).toBe(1);
  },
);

test("a node whose clock is two days ahead dates mails, posts, pauses and backups by the store's, and nothing is too late", async () => {
  const databaseUrl = await postgres.createDatabase();
  const { store, startSenders, log, dataDir } = await openPostOffice({ databaseUrl, channels: ["mail", "hook"] });
  const receiver = await startReceiver();
  await store.intake.accept(submissionOf(), null);
  const isNow = expect.toSatisfy((at) => Math.abs(performance.timeOrigin + performance.now() - Number(at)) < MINUTE_MS);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * DAY_MS });
  onTestFinished(() => void vi.useRealTimers());
  await store.archive.backup(join(dataDir, "copy.db"));
  expect(await store.status.lastBackupAt()).toEqual(isNow);
  const withMailer = (send: (mail: ComposedMail) => Promise<void>) => ({
    mailer: { destination: "the test", send, close: async () => {} },
    identity: IDENTITY,
    queue: store.queue,
  });

  const blocked = withMailer(() => Promise.reject(new MailError("blocked", "535")));
  const pausing = startSenders([mailSender(blocked)], { clock: undefined });
  await log.seen("queue-paused");
  expect(pausing.pauses).toMatchObject([{ channel: "mail", since: isNow }]);
  await pausing.stop();

  const mails: ComposedMail[] = [];
  const working = withMailer(async (mail) => void mails.push(mail));
  const hook = hookSender({ url: receiver.url, secrets: ["whsec_c2VjcmV0"] });
  startSenders([mailSender(working), acknowledgementSender(working), hook], { clock: undefined });
  await log.seen("delivered", 1, "acknowledgement");
  await log.seen("delivered", 1, "hook");
  expect(mails).toMatchObject([{ date: isNow }, { date: isNow }]);
  expect(Number(receiver.posts[0]?.headers["webhook-timestamp"]) * 1000).toEqual(isNow);
});
