import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { DAY_MS } from "../../server/time.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { countEach } from "../support/invariant.ts";
import { startMailServer } from "../support/mail-server.ts";
import { runCli } from "../support/run-cli.ts";
import { type RunningServer, startServer } from "../support/run-server.ts";
import { kill, stopAsking } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { schemaOf, sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

// Causes every attack once. `npm run bench -- soak` repeats them.
const MINUTES = Number(process.env.SOAK_MINUTES ?? 0);
const PAUSE_MS = 100;
const SOON = { timeout: 60_000, interval: 100 };
const EMPTIED = { timeout: 120_000, interval: 500 };

test.for(["SQLite", "PostgreSQL"] as const)(
  "on %s, no operator and no clock loses a message, sends a reply twice or brings an erased person back",
  { timeout: 300_000 + MINUTES * 120_000 },
  async (kind) => {
    const site = await openOperatedSite(kind);
    const endsAtMs = performance.now() + MINUTES * 60_000;
    do await site.attack();
    while (performance.now() < endsAtMs);
    const { counts, violations } = await site.finish();
    if (MINUTES > 0) console.log({ kind, ...counts });
    expect(violations).toEqual([]);
    // Otherwise these were no attacks.
    expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
  },
);

interface Visitor {
  email: string;
  reference: string;
}

const referencesOf = (some: readonly Visitor[]) => some.map(({ reference }) => reference);

const PER_STEP = 4;
const CLOCK_AHEAD_MS = 2 * DAY_MS;

/** Starts a program with a wrong clock. */
function clockAhead(ms: number): Record<string, string> {
  const code = `const Right = Date; globalThis.Date = class extends Right {
    constructor(...given) { super(...(given.length > 0 ? given : [Right.now() + ${ms}])); }
    static now() { return Right.now() + ${ms}; } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/** One node on SQLite or two on PostgreSQL, an operator with commands, and a mail server. Each visitor has an address. */
async function openOperatedSite(kind: "SQLite" | "PostgreSQL") {
  const mailServer = await untilEnd(startMailServer());
  const dataDir = await makeScratchFolder();
  const postgres = kind === "PostgreSQL" ? await untilEnd(sharePostgres()) : null;
  const databaseUrl = postgres && (await postgres.createDatabase());
  const store = await untilEnd(openStoreInProcess({ dataDir, databaseUrl, acknowledge: true }));
  const env = {
    DATA_DIR: dataDir,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    ACKNOWLEDGE: "on",
    LOG_LEVEL: "error",
  };
  let nodes: RunningServer[] = [];
  const start = async (clock = {}) => {
    const count = postgres ? 2 : 1;
    nodes = await Promise.all(Array.from({ length: count }, () => startServer({ ...env, ...clock })));
  };
  const stop = async () => {
    for (const code of await Promise.all(nodes.map(stopAsking))) expect([0, null]).toContain(code);
  };
  onTestFinished(async () => void (await Promise.all(nodes.map(kill))));
  await start();

  const run = async (...args: string[]) => {
    const outcome = await runCli(env, ...args);
    expect(outcome).toMatchObject({ code: 0, err: "" });
    return outcome.out;
  };
  const administer = async (sql: string) => {
    if (postgres) return void (await postgres.administer(`SET search_path = ${schemaOf(env.DATABASE_URL)}; ${sql}`));
    using db = new DatabaseSync(join(dataDir, "messages.db"), { timeout: 10_000 });
    db.exec(sql);
  };
  /** Ends all retry delays, leases and reports of servers that were killed. */
  const letHoursPass = () =>
    administer(`UPDATE deliveries SET due_at = 1, leased_until = CASE WHEN leased_until IS NULL THEN NULL ELSE 1 END
      WHERE state = 'queued'; DELETE FROM meta WHERE name LIKE 'node.%'`);
  /** Nothing of these messages waits any more; of all messages without an argument. */
  const settle = (some?: readonly Visitor[]) =>
    expect
      .poll(async () => {
        await run("retry", "--queued");
        const queued = await store.messages.list({ state: "queued" });
        return queued.filter(({ reference }) => !some || referencesOf(some).includes(reference)).length;
      }, EMPTIED)
      .toBe(0);

  const visitors: Visitor[] = [];
  const erased: Visitor[] = [];
  const again = new Set<string>();
  const replied = new Set<string>();
  const counts = {
    accepted: 0,
    "erased in a backup": 0,
    "replies that may have arrived": 0,
    "sent again on request": 0,
  };
  let serial = 0;

  async function write(): Promise<Visitor> {
    serial += 1;
    const [email, key] = [`visitor-${serial}@visitors.example`, randomUUID()];
    const body = JSON.stringify({ name: "Soak", email, phone: "1", country: "", message: `message of ${email}` });
    const headers = { "content-type": "application/json", "idempotency-key": key };
    for (; ; await wait(PAUSE_MS)) {
      const url = `${nodes[serial % nodes.length]?.url}/send-email`;
      const answer = await fetch(url, { method: "POST", headers, body }).then(
        async (response) => (await response.json()) as { reference?: string },
        () => null,
      );
      if (!answer?.reference) continue;
      const visitor = { email, reference: answer.reference };
      visitors.push(visitor);
      return visitor;
    }
  }
  const writeSome = () => Promise.all(Array.from({ length: PER_STEP }, write));
  async function reply(to: readonly Visitor[]): Promise<void> {
    for (const { email, reference } of to) {
      replied.add(email);
      expect(await store.replies.add(reference, { key: email, subject: "Re", text: "Yes." }, new Date())).toBe(true);
    }
  }
  const mailsTo = ({ email }: Pick<Visitor, "email">, isReply: boolean) =>
    mailServer.mails.filter(({ recipients, sender }) => recipients.includes(email) && (sender !== "") === isReply)
      .length;
  const someArrived = (to: readonly Visitor[], count = 1) =>
    expect.poll(() => to.filter((one) => mailsTo(one, true) > 0).length, SOON).toBeGreaterThanOrEqual(count);
  /** What an operator may try when mails failed. */
  async function retryAll(some: readonly Visitor[]): Promise<void> {
    await run("retry", "--failed");
    await run("retry", "--queued");
    await run("spam", ...referencesOf(some));
    await run("release", ...referencesOf(some));
    await run("retry", "--failed");
  }
  /** Every reply arrives, and the website does not get to know it. */
  async function loseAnswers(): Promise<void> {
    const some = await writeSome();
    await settle(some);
    mailServer.behave({ kind: "drop-after-data" });
    await reply(some);
    await someArrived(some, PER_STEP);
    await settle(some);
    counts["replies that may have arrived"] += (await store.queue.countChannel("reply")).failed;
    mailServer.behave({ kind: "accept" });
    await retryAll(some);
    await settle(some);
    const [one] = some;
    if (!one) return;
    await run("reply", one.reference, "--again", "--yes");
    again.add(one.email);
    await settle(some);
    counts["sent again on request"] += mailsTo(one, true) - 1;
  }

  async function markWhileSending(): Promise<void> {
    const some = await writeSome();
    mailServer.behave({ kind: "hold-after-data" });
    await reply(some);
    await someArrived(some);
    await retryAll(some);
    mailServer.behave({ kind: "accept" });
    mailServer.release();
    await settle(some);
  }

  /** The next start is with a wrong clock. */
  async function killWhileSending(): Promise<void> {
    const some = await writeSome();
    await settle(some);
    mailServer.behave({ kind: "hold-after-data" });
    await reply(some);
    await someArrived(some);
    await Promise.all(nodes.map(kill));
    mailServer.behave({ kind: "accept" });
    await letHoursPass();
    await start(clockAhead(CLOCK_AHEAD_MS));
    await retryAll(some);
    await settle(some);
  }

  async function setClockBack(): Promise<Visitor[]> {
    const some = await writeSome();
    await stop();
    await letHoursPass();
    await start();
    await settle(some);
    return some;
  }

  async function restoreAfterErasures(ahead: readonly Visitor[], turn: number): Promise<void> {
    const some = await writeSome();
    mailServer.behave({ kind: "hold-after-data" });
    await reply(some);
    await someArrived(some);
    const backup = join(dataDir, `backup-${turn}.db`);
    await run("backup", backup);
    mailServer.behave({ kind: "accept" });
    mailServer.release();
    await settle();
    for (const one of [ahead[0], some[0]]) {
      if (!one) continue;
      erased.push(one);
      await run("privacy", "erase", one.email, "--yes");
    }
    await stop();
    const printed = await run("restore", backup, "--replace", "--yes");
    counts["erased in a backup"] += Number(/erased after the backup: (\d+)/.exec(printed)?.[1] ?? 0);
    await start();
    await run("retry", "--failed");
    await settle();
  }

  /** Visitors write meanwhile. */
  async function among<T>(work: () => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const writing = (async () => {
      for (; !ended.signal.aborted; await wait(PAUSE_MS)) await write();
    })();
    const result = await work();
    ended.abort();
    await writing;
    return result;
  }

  let turn = 0;
  return {
    async attack() {
      turn += 1;
      const ahead = await among(async () => {
        await loseAnswers();
        await markWhileSending();
        await killWhileSending();
        return setClockBack();
      });
      // Nobody writes now: what is accepted after a backup is not in it.
      await restoreAfterErasures(ahead, turn);
    },
    async finish() {
      await run("retry", "--failed");
      await settle();
      const stored = await store.messages.list({ limit: 1_000_000 });
      const times = countEach(stored.map(({ email }) => email));
      const messages = new Map(stored.map((message) => [message.reference, message]));
      const gone = new Set(referencesOf(erased));
      counts.accepted = visitors.length;
      const violations = visitors.flatMap(({ email, reference }) => {
        const isErased = gone.has(reference);
        const { state = "missing", deliveries } = messages.get(reference) ?? {};
        const mailed = mailsTo({ email }, true) - Number(again.has(email));
        return [
          isErased && times.has(email) && "was erased and came back",
          (times.get(email) ?? 0) > 1 && "was stored twice",
          !isErased && state !== "delivered" && `is ${state}`,
          mailed > 1 && `got ${mailed} replies`,
          // One that failed waits for the operator's “Send again”.
          !isErased && replied.has(email) && mailed < 1 && deliveries?.reply?.state !== "failed" && "got no reply",
          mailsTo({ email }, false) > 1 && "got two acknowledgements",
        ].flatMap((problem) => (problem ? `${email} ${problem}` : []));
      });
      return { counts, violations };
    },
  };
}
