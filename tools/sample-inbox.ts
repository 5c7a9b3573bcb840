import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ContactMessage, EMPTY_MESSAGE } from "../contract/contact-message.ts";
import { estimateFootprint, type FootprintEstimate } from "../contract/footprint/arithmetic.ts";
import { parseFootprint } from "../contract/footprint/parsing.ts";
import { parseConfig } from "../server/config.ts";
import type { Outcome } from "../server/store/queue.ts";
import { createStore, openDatabase, type Store } from "../server/store/store.ts";
import { findFreePort, startProgram } from "../tests/support/run-server.ts";

interface RunningInbox {
  origin: string;
  token: string;
  stop(): Promise<number | null>;
}

export async function startInbox(env: Readonly<Record<string, string>>): Promise<RunningInbox> {
  const port = await findFreePort();
  const { output, stop } = await startProgram(["node", "desk/command.ts", "inbox", "--port", String(port)], {
    env,
    port,
  });
  const printedToken = () => /^Inbox: http:[^#]+#(\S+)$/m.exec(output())?.[1];
  while (printedToken() === undefined) await sleep(10);
  return { origin: `http://localhost:${port}`, token: printedToken() ?? "", stop };
}

const SENDERS = [
  ["Ada Lovelace", "ada@example.com", "GB"],
  ["Émile Zola", "emile@example.fr", "FR"],
  ["Priya Raman", "priya@example.in", "IN"],
  ["Jonas Weber", "jonas@example.de", "DE"],
  ["Tom O’Neill", "tom@example.ie", "IE"],
  ["Hanako Yamada", "hanako@example.jp", "JP"],
  ["Sofia Rossi", "sofia@example.it", ""],
] as const;
const QUESTIONS = [
  "We run a bakery with three gas ovens. What would it cost to offset a year, and how are the credits retired?",
  "Do you sell credits from wind projects in Scotland? We need about 40 tonnes.",
  "We are writing our annual report and need the certificates of last year’s purchase. Could you send them again?",
  "Please call me back about renewable energy credits, in the afternoon if possible.",
  "How long does it take until a purchase is visible in the registry?",
] as const;

/** Each belongs to the question with the same index; most visitors send none. */
const FOOTPRINTS = [
  { electricityKwh: 14_000, gasKwh: 52_000, carKm: 18_500, carFuel: "diesel" },
  { electricityKwh: 3100, carKm: 9000, railKm: 2400, shortFlights: 2, longFlights: 1, hotelNights: 9 },
] as const;

/** The inbox with messages in every state. It has a separate database, because the site's server would deliver them. */
export async function startSampleInbox(): Promise<RunningInbox> {
  const dataDir = await mkdtemp(join(tmpdir(), "screenshots-"));
  const store = await openSampleStore(dataDir);
  await fillStore(store);
  // Reports like a running server.
  const showRunning = () => store.status.reportNode([], new Date());
  await showRunning();
  const timer = setInterval(showRunning, 60_000);
  const inbox = await startInbox({ DATA_DIR: dataDir });
  const stop = async () => {
    clearInterval(timer);
    const code = await inbox.stop();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
    return code;
  };
  return { ...inbox, stop };
}

export async function openSampleStore(dataDir: string, databaseUrl: string | null = null): Promise<Store> {
  const retention = { deliveredMs: null, failedMs: null, quarantinedMs: null };
  const channels = ["mail"] as const;
  const rules = { referencePrefix: "BC", rateLimits: [], hourlyLimit: null, spamFilter: true, channels };
  const settings = { dataDir, databaseUrl, retention, rules };
  return createStore(await openDatabase(settings), settings);
}

interface Arrival {
  footprint?: FootprintEstimate | null;
  isTrapped?: boolean;
  acceptedAt?: Date;
}

export function acceptMessage(store: Store, fields: Partial<ContactMessage>, arrival: Arrival = {}) {
  const { footprint = null, isTrapped = false, acceptedAt = new Date() } = arrival;
  const message = { ...EMPTY_MESSAGE, ...fields };
  return store.intake.accept({ message, footprint, idempotencyKey: null, networks: [], isTrapped }, acceptedAt);
}

async function fillStore(store: Store): Promise<void> {
  for (let index = 60; index >= 0; index -= 1) {
    const acceptedAt = new Date(Date.now() - (index * index * 11 + index * 23 + 4) * 60_000);
    const deliveredAt = new Date(acceptedAt.getTime() + (index % 9 === 0 ? 200_000 : 3000));
    const [name, email, country] = SENDERS[index % SENDERS.length] ?? SENDERS[0];
    const question = QUESTIONS[index % QUESTIONS.length] ?? QUESTIONS[0];
    const message = { name, email, country, phone: "+44 20 7946 0000", message: question };
    const isTrapped = index === 5 || index === 18;
    const { inputs } = parseFootprint({ footprint: FOOTPRINTS[index % QUESTIONS.length] });
    const footprint = inputs && estimateFootprint(inputs, country);
    const accepted = await acceptMessage(store, message, { footprint, isTrapped, acceptedAt });
    const [claim] = await store.queue.claim("mail", 1, 60_000, acceptedAt);
    if (!claim || !("reference" in accepted)) continue;
    let outcome: Outcome = { kind: "delivered" };
    if (index === 1) {
      outcome = {
        kind: "deferred",
        delayMs: 3_600_000,
        error: "the mail server at smtp.example.org:587 refuses connections",
      };
    } else if (index % 17 === 3) {
      outcome = { kind: "failed", error: "550 mailbox refused by the mail server (RCPT TO)" };
    }
    await store.queue.settle(claim, outcome, deliveredAt);
    // Includes the oldest ones, because the list would otherwise announce their erasure.
    if (index > 40 || (index > 8 && index % 4 > 0))
      await store.actions.act("answer", { references: [accepted.reference] }, deliveredAt);
  }
}

// `npm run sample`: for the inbox of `npm run dev`.
if (import.meta.main) {
  const dataDir = `${parseConfig(process.env).dataDir}-dev`;
  const store = await openSampleStore(dataDir);
  await fillStore(store);
  await store.close();
  console.log(`Added 61 sample messages to ${dataDir}`);
}
