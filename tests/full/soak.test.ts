import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { openStoreInProcess } from "../support/in-process-store.ts";
import { countEach, findViolations, messageIdsOf } from "../support/invariant.ts";
import { type Behaviour, startMailServer } from "../support/mail-server.ts";
import { startNetwork, type Weather } from "../support/network.ts";
import { startReceiver, status } from "../support/receiver.ts";
import { requirePrograms } from "../support/require-program.ts";
import { startPostgres } from "../support/run-postgres.ts";
import { findFreePort, startServer } from "../support/run-server.ts";
import { kill, stopAsking } from "../support/scene.ts";
import { schemaOf } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

// Causes every fault once, in three to four minutes. `npm run bench -- soak` repeats them for 20 minutes and prints its
// counts.
const MINUTES = Number(process.env.SOAK_MINUTES ?? 0);
const HOLD_MS = MINUTES > 0 ? 5000 : 1000;
const CALM_MS = MINUTES > 0 ? 3000 : 0;
const VISITORS = 4;
const PAUSE_MS = 100;
/** The longest that nginx and a visitor wait: every node may take eight seconds to refuse a message. */
const SLOWEST_ANSWER_MS = 60_000;
const SOON = { timeout: 60_000, interval: 100 };
const EMPTIED = { timeout: 120_000 + MINUTES * 30_000, interval: 500 };
const SECRET = `whsec_${Buffer.alloc(32, "a").toString("base64")}`;

type Network = Awaited<ReturnType<typeof startNetwork>>;

/** A fault lasts from `begin` to `end`. */
interface Fault {
  name: string;
  begin(): unknown;
  end?(): unknown;
  /** While it lasts, no node can store a message, and every node must report that. */
  stopsStoring?: boolean;
}

test("with two nodes behind nginx, no fault loses, invents or hides a message", {
  timeout: 600_000 + MINUTES * 120_000,
}, async ({ skip }) => {
  requirePrograms(skip, "nginx", "openssl");
  const site = await openSite();
  const { balancer, faults, acknowledged, statuses } = site;
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const visitors = Array.from({ length: VISITORS }, () => site.visit(stop.signal));
  const reader = readPages(balancer, stop.signal);

  const endsAtMs = performance.now() + MINUTES * 60_000;
  do {
    for (const fault of faults) {
      await fault.begin();
      await wait(HOLD_MS);
      if (fault.stopsStoring) await expect.poll(site.readiness, { ...SOON, message: fault.name }).toEqual([503, 503]);
      await fault.end?.();
      await expect.poll(site.readiness, { ...SOON, message: fault.name }).toEqual([200, 200]);
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, SOON).toBeGreaterThan(before);
      await wait(CALM_MS);
    }
  } while (performance.now() < endsAtMs);

  stop.abort();
  await Promise.all(visitors);
  const { waiting, retried, stored, messageIds, postedIds } = await site.finish();
  if (MINUTES > 0) {
    console.log({
      accepted: acknowledged.length,
      stored: stored.length,
      mailed: new Set(messageIds).size,
      "mailed again": messageIds.length - new Set(messageIds).size,
      posted: new Set(postedIds).size,
      "posted again": postedIds.length - new Set(postedIds).size,
      "waiting at the end": waiting,
      "failed for good and retried": retried,
      answers: Object.fromEntries(statuses),
    });
  }
  // If a fault makes it unknown whether a mail or post arrived, it is sent again with the same id.
  expect(findViolations({ acknowledged, stored, messageIds, postedIds }, Number.POSITIVE_INFINITY)).toEqual([]);
  // Each message is stored, or refused in time with an answer that the form understands. Pages are always available.
  expect([...statuses.keys()].filter((status) => !["200", "503"].includes(status))).toEqual([]);
  expect(await reader).toEqual(new Map([["200", expect.any(Number)]]));
});

/** Two nodes on one PostgreSQL behind nginx, a mail server and a hook receiver, each behind a network that can fail. */
async function openSite() {
  const postgres = await untilEnd(startPostgres());
  const databaseUrl = await postgres.createDatabase();
  const databaseNetwork = await startNetwork(postgres.port);
  const mailServer = await untilEnd(startMailServer());
  const mailNetwork = await startNetwork(mailServer.port);
  const takenIds: string[] = [];
  /** Records every post that it answers with success, even if the answer is lost. */
  const hook = await startReceiver((response, post) => {
    if (post) takenIds.push(String(post.headers["webhook-id"]));
    response.end();
  });
  const hookNetwork = await startNetwork(hook.port);
  const env = {
    DATABASE_URL: databaseUrl.replace(`:${postgres.port}/`, `:${databaseNetwork.port}/`),
    SMTP_URL: `smtp://127.0.0.1:${mailNetwork.port}`,
    HOOK_URL: `http://127.0.0.1:${hookNetwork.port}/`,
    HOOK_SECRET: SECRET,
    LOG_LEVEL: "error",
  };
  const ports = [await findFreePort(), await findFreePort()];
  const nodes = await Promise.all(ports.map((port) => startServer({ ...env, PORT: String(port) })));
  onTestFinished(async () => void (await Promise.all(nodes.map(kill))));
  const restart = async (index: number) => {
    nodes[index] = await startServer({ ...env, PORT: String(ports[index]) });
  };
  const balancer = await startBalancer("nginx", nodes);

  const acknowledged: string[] = [];
  const statuses = new Map<string, number>();
  /** Sends one message with the same key until it is acknowledged, like a patient visitor. */
  async function send(): Promise<void> {
    const key = randomUUID();
    const json = { name: "Soak", email: "soak@example.com", phone: "1", country: "", message: `message ${key}` };
    for (;;) {
      const answer = await balancer
        .ask("/send-email", { json, headers: { "idempotency-key": key }, limitMs: SLOWEST_ANSWER_MS })
        .catch((error: Error) => ({ status: error.name, body: "{}" }));
      const status = String(answer.status);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === "200") return void acknowledged.push(JSON.parse(answer.body).reference);
      await wait(PAUSE_MS);
    }
  }

  const weather = (name: string, network: Network, begins: Weather, stopsStoring = false): Fault => ({
    name,
    begin: () => network.become(begins),
    end: () => network.become({ kind: "open" }),
    stopsStoring,
  });
  const database = (name: string, begins: Weather) => weather(`database: ${name}`, databaseNetwork, begins, true);
  const mail = (name: string, begins: Behaviour): Fault => ({
    name: `mail: ${name}`,
    begin: () => mailServer.behave(begins),
    end: () => mailServer.behave({ kind: "accept" }),
  });
  const { answer: take } = hook;
  const hookAnswers = (name: string, answer: typeof take): Fault => ({
    name: `hook: ${name}`,
    begin() {
      hook.answer = answer;
    },
    end() {
      hook.answer = take;
    },
  });
  const node = (name: string, index: number, signal: NodeJS.Signals): Fault => ({
    name: `node: ${name}`,
    async begin() {
      nodes[index]?.process.kill(signal);
      await once(nodes[index]?.process ?? process, "exit");
    },
    end: () => restart(index),
  });
  let timer: NodeJS.Timeout | undefined;
  const faults: Fault[] = [
    node("killed", 0, "SIGKILL"),
    node("the other killed", 1, "SIGKILL"),
    node("stopped in order", 0, "SIGTERM"),
    {
      name: "node: stands still",
      begin: () => nodes[1]?.process.kill("SIGSTOP"),
      end: () => nodes[1]?.process.kill("SIGCONT"),
    },
    { name: "database: restarted", begin: () => postgres.halt(), end: () => postgres.resume(), stopsStoring: true },
    {
      name: "database: ends every session",
      begin() {
        const sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'messages'";
        timer = setInterval(() => void postgres.administer(sql), 200);
        onTestFinished(() => clearInterval(timer));
      },
      end: () => clearInterval(timer),
    },
    {
      name: "database: another node keeps its turn, and 100 messages wait",
      async begin() {
        await postgres.administer("SELECT pg_advisory_lock(1112763752)");
        for (let count = 0; count < 100; count += 1) void send();
      },
      end: () => postgres.administer("SELECT pg_advisory_unlock_all()"),
      stopsStoring: true,
    },
    database("refuses connections", { kind: "refused" }),
    database("cut before COMMIT arrives", { kind: "cut-before", word: "COMMIT" }),
    database("cut during COMMIT", { kind: "cut-after", word: "COMMIT" }),
    database("half-open connections", { kind: "silent" }),
    database("an answer to COMMIT that never comes", { kind: "silent-after", word: "COMMIT" }),
    weather("mail: refuses connections", mailNetwork, { kind: "refused" }),
    weather("mail: half-open connections", mailNetwork, { kind: "silent" }),
    weather("mail: answers byte by byte", mailNetwork, { kind: "trickle", byteEveryMs: 50 }),
    mail("421 at the greeting", { kind: "refuse", at: "greeting", code: 421 }),
    mail("451 for every mail", { kind: "refuse", at: "recipient", code: 451 }),
    mail("550 for every mail", { kind: "refuse", at: "recipient", code: 550 }),
    mail("slow", { kind: "accept", afterMs: 2000 }),
    mail("cut after the text", { kind: "drop-after-data", times: 10 }),
    mail("no greeting", { kind: "hang-before-greeting" }),
    hookAnswers("500", status(500)),
    hookAnswers("410", status(410)),
    hookAnswers("slow", (response, post) => setTimeout(() => take(response, post), 2000)),
    hookAnswers("cut after the post", (response, post) => take(response.destroy(), post)),
    weather("hook: refuses connections", hookNetwork, { kind: "refused" }),
  ];

  return {
    balancer,
    acknowledged,
    statuses,
    faults,
    /** The status of each node, or the reason why a node does not answer. */
    readiness: () =>
      Promise.all(
        nodes.map(({ url, process: { exitCode, signalCode }, output }) =>
          fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).then(
            ({ status }) => status,
            ({ name }: Error) => `${name}, ended with ${exitCode ?? signalCode}: ${output().slice(-2000)}`,
          ),
        ),
      ),
    async visit(stop: AbortSignal) {
      for (; !stop.aborted; await wait(PAUSE_MS)) await send();
    },
    /**
     * Stops the nodes, retries deliveries that failed for good, and lets one node finish as if all delays had passed.
     */
    async finish() {
      // On a slow machine, a node may exceed its ten seconds and kill itself.
      for (const code of await Promise.all(nodes.map(stopAsking))) expect([0, null]).toContain(code);
      const store = await untilEnd(openStoreInProcess({ dataDir: "", databaseUrl }));
      const failed = await store.messages.list({ state: "failed" });
      const references = failed.map(({ reference }) => reference);
      const retried = await store.actions.act("retry", { references }, new Date());
      const [mails, hooks] = [await store.queue.countChannel("mail"), await store.queue.countChannel("hook")];
      // Ends all retry delays and leases, as if hours had passed.
      await postgres.administer(`UPDATE ${schemaOf(databaseUrl)}.deliveries SET due_at = 1,
        leased_until = CASE WHEN leased_until IS NULL THEN NULL ELSE 1 END WHERE state = 'queued'`);
      await restart(0);
      const queued = async () =>
        (await store.queue.countChannel("mail")).queued + (await store.queue.countChannel("hook")).queued;
      await expect.poll(queued, EMPTIED).toBe(0);
      const stored = await store.messages.list({ limit: 1_000_000 });
      return {
        waiting: mails.queued + hooks.queued,
        retried: retried.length,
        stored,
        messageIds: messageIdsOf(mailServer.mails),
        postedIds: takenIds,
      };
    },
  };
}

/** Counts the answers to a visitor who reads one page after the other. */
async function readPages(balancer: Balancer, stop: AbortSignal): Promise<Map<string, number>> {
  const statuses: string[] = [];
  for (; !stop.aborted; await wait(PAUSE_MS)) {
    const answer = await balancer.ask("/contact").catch((error: Error) => ({ status: error.name }));
    statuses.push(String(answer.status));
  }
  return countEach(statuses);
}
