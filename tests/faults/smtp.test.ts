import { expect, onTestFinished, test } from "vitest";
import type { SmtpLimits } from "../../server/mail/smtp.ts";
import { SMTP_LIMITS } from "../../server/mail/smtp.ts";
import { openApp } from "../support/app.ts";
import { findViolations, messageIdsOf } from "../support/invariant.ts";
import { createVisitors } from "../support/load.ts";
import type { Behaviour } from "../support/mail-server.ts";
import { startNetwork, type Weather } from "../support/network.ts";
import { openPostOffice, type PostOffice } from "../support/post-office.ts";
import { listen } from "../support/raw-http.ts";

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
  /** What the log says of the reason. */
  error: RegExp;
}

/** Of the network; tests/outbox.test.ts and tests/outbox-faults.test.ts have what a mail server answers. */
const FAULTS: Fault[] = [
  { title: "black-holed", weather: { kind: "silent" }, limits: { connectMs: 500 }, error: /ETIMEDOUT/ },
  {
    title: "one byte a second",
    weather: { kind: "trickle", byteEveryMs: 1000 },
    limits: { attemptMs: 2500 },
    error: /took more than 2\.5 s/,
  },
  { title: "421", behaviour: { kind: "refuse", at: "greeting", code: 421 }, error: /^421 / },
];

test.each(FAULTS)("SMTP $title: requests are unaffected and every message arrives", async (fault) => {
  const scene = await openOffice(fault.limits);
  const { office, mailServer, network } = scene;
  await network.become(fault.weather ?? { kind: "open" });
  mailServer.behave(fault.behaviour ?? { kind: "accept" });
  const outbox = office.start(scene.mailer, { random: () => 0.5 });
  await scene.postUnaffected(() => outbox.wake());

  const { error, dueAt } = await office.log.seen("deferred", MESSAGES);
  expect(error).toMatch(fault.error);
  mailServer.behave({ kind: "accept" });
  await network.become({ kind: "open" });
  if (dueAt) await office.clock.advanceTo(dueAt);
  await office.log.seen("delivered", MESSAGES);
  expect(await scene.violations()).toEqual([]);
});

/** Visitors, the app on a real port, a real store and mail server, and a clock that a test moves. */
async function openOffice(limits: Partial<SmtpLimits> = {}) {
  // The app goes by the system's clock, so the outbox's must be past all that is accepted during the test.
  const office: PostOffice = await openPostOffice({ startsAt: new Date(Date.now() + MINUTE_MS).toISOString() });
  const mailServer = await office.mailServer();
  const network = await startNetwork(mailServer.port);
  const visitors = createVisitors();
  return {
    office,
    mailServer,
    network,
    mailer: office.smtpMailer(network, { limits: { ...SMTP_LIMITS, ...limits } }),
    async postUnaffected(wake: () => void) {
      const app = await openApp({}, {}, { store: office.store, onStored: wake });
      onTestFinished(() => app.close());
      const url = `http://127.0.0.1:${await listen(app)}`;
      // Once before the outbox is in trouble, and again when it is.
      for (const count of [1, MESSAGES - 1]) {
        for (const answer of await visitors.post(url, count)) {
          expect(answer).toMatchObject({ status: 200, reference: expect.any(String) });
          expect(answer?.tookMs).toBeLessThan(UNAFFECTED_MS);
        }
      }
    },
    async violations() {
      const stored = await office.store.list({});
      const messageIds = messageIdsOf(mailServer.mails);
      return findViolations({ acknowledged: visitors.acknowledged, stored, messageIds });
    },
  };
}
