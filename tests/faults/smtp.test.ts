import { expect, test } from "vitest";
import type { SmtpLimits } from "../../server/mail/smtp.ts";
import { SMTP_LIMITS } from "../../server/mail/smtp.ts";
import { openFrontDoor } from "../support/front-door.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { createVisitors } from "../support/load.ts";
import type { Behaviour, MailServer } from "../support/mail-server.ts";
import { type Network, startNetwork, type Weather } from "../support/network.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";

const MINUTE_MS = 60_000;
const MESSAGES = 5;
/** Nobody waits for a mail; this is generous for a busy machine. */
const UNAFFECTED_MS = 3000;

interface Fault {
  title: string;
  /** A mail server that misbehaves, or a network between. */
  behaviour?: Behaviour;
  weather?: Weather;
  limits?: Partial<SmtpLimits>;
  /** Attempts that fail before it is fixed; five are more than an hour. */
  failures?: number;
  /** What the log says of each message then, and of the reason. */
  event: "deferred" | "failed";
  error: RegExp;
  /** Where nobody can know whether the mail had arrived. */
  maxTimesMailed?: number;
}

const FAULTS: Fault[] = [
  { title: "refused", weather: { kind: "refused" }, event: "deferred", error: /ECONNREFUSED/ },
  {
    title: "black-holed",
    weather: { kind: "silent" },
    limits: { connectMs: 500 },
    event: "deferred",
    error: /ETIMEDOUT/,
  },
  {
    title: "one byte a second",
    weather: { kind: "trickle", byteEveryMs: 1000 },
    limits: { attemptMs: 2500 },
    event: "deferred",
    error: /took more than 2\.5 s/,
  },
  { title: "421", behaviour: refusing("greeting", 421), event: "deferred", error: /^421 / },
  { title: "450", behaviour: refusing("recipient", 450), event: "deferred", error: /^450 / },
  { title: "451", behaviour: refusing("sender", 451), event: "deferred", error: /^451 / },
  { title: "550", behaviour: refusing("recipient", 550), event: "failed", error: /^550 / },
  {
    title: "dropped after DATA",
    behaviour: { kind: "drop-after-data" },
    event: "deferred",
    error: /broke/,
    maxTimesMailed: 2,
  },
  {
    title: "back after an hour",
    weather: { kind: "refused" },
    failures: 5,
    event: "deferred",
    error: /ECONNREFUSED/,
  },
];

test.each(FAULTS)("SMTP $title: requests are unaffected and every message arrives", async (fault) => {
  const scene = await openOffice(fault.limits);
  const { office, mailServer, network } = scene;
  await network.become(fault.weather ?? { kind: "open" });
  mailServer.behave(fault.behaviour ?? { kind: "accept" });
  const outbox = office.start(scene.mailer, { random: () => 0.5 });
  await scene.postUnaffected(() => outbox.wake());

  const failures = fault.failures ?? 1;
  for (let failure = 1; failure <= failures; failure += 1) {
    const { error, dueAt } = await office.log.seen(fault.event, failure * MESSAGES);
    expect(error).toMatch(fault.error);
    if (failure === failures) await fix(scene);
    if (dueAt) await office.clock.advanceTo(dueAt);
  }
  if (fault.event === "failed") {
    expect(await office.store.act("retry", { since: new Date(0) }, office.clock.now())).toHaveLength(MESSAGES);
    outbox.wake();
  }
  await office.log.seen("delivered", MESSAGES);
  expect(await scene.violations(fault.maxTimesMailed)).toEqual([]);
});

test("SMTP 535: requests are unaffected, no attempt is used up, and every message arrives", async () => {
  const scene = await openOffice({}, { hasTls: true, user: "website:right", query: "?tls.rejectUnauthorized=false" });
  scene.mailServer.expectPassword("another one");
  await expectPauseAndRecovery(scene, /^535 /, () => scene.mailServer.expectPassword("right"));
});

test("SMTP without a trusted certificate: requests are unaffected, and every message arrives", async () => {
  const scene = await openOffice({}, { hasTls: true });
  await expectPauseAndRecovery(scene, /CERT/, async () => {
    // Fixed as an operator might: another server behind the same name.
    scene.mailServer = await scene.office.mailServer();
    scene.network.leadTo(scene.mailServer.port);
  });
});

async function expectPauseAndRecovery(
  scene: Awaited<ReturnType<typeof openOffice>>,
  error: RegExp,
  fixIt: () => unknown,
) {
  const { office } = scene;
  const outbox = office.start(scene.mailer);
  await scene.postUnaffected(() => outbox.wake());
  expect((await office.log.seen("queue-paused")).error).toMatch(error);
  await office.log.seen("held-back", 1);
  expect(outbox.state).toBe("paused");
  await fixIt();
  await office.clock.advance(MINUTE_MS);
  await office.log.seen("delivered", MESSAGES);
  for (const { attempts } of await office.store.list({})) expect(attempts).toBe(1);
  expect(await scene.violations()).toEqual([]);
}

function refusing(at: "greeting" | "sender" | "recipient", code: number): Behaviour {
  return { kind: "refuse", at, code };
}

async function fix({ mailServer, network }: { mailServer: MailServer; network: Network }): Promise<void> {
  mailServer.behave({ kind: "accept" });
  await network.become({ kind: "open" });
}

/** Visitors, the app on a real port, a real store and mail server, and a clock that a test moves. */
async function openOffice(limits: Partial<SmtpLimits> = {}, { hasTls = false, user = "", query = "" } = {}) {
  // The app goes by the system's clock, so the outbox's must be past all that is accepted during the test.
  const office: PostOffice = await openPostOffice(new Date(Date.now() + MINUTE_MS).toISOString());
  const mailServer = await office.mailServer({ hasTls });
  const network = await startNetwork(mailServer.port);
  const visitors = createVisitors();
  const scene = {
    office,
    mailServer,
    network,
    mailer: office.smtpMailer(network, { user, query, limits: { ...SMTP_LIMITS, ...limits } }),
    async postUnaffected(wake: () => void) {
      const url = await openFrontDoor(office.store, wake);
      // Once before the outbox is in trouble, and again when it is.
      for (const count of [1, MESSAGES - 1]) {
        for (const answer of await visitors.post(url, count)) {
          expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
          expect(answer?.tookMs).toBeLessThan(UNAFFECTED_MS);
        }
      }
    },
    async violations(maxTimesMailed?: number) {
      const stored = await office.store.list({});
      const messageIds = messageIdsOf(scene.mailServer.mails);
      return findViolations({ acknowledged: visitors.acknowledged, stored, messageIds }, maxTimesMailed);
    },
  };
  return scene;
}
