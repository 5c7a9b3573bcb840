import { onTestFinished } from "vitest";
import { type AlertOptions, startAlerts } from "../../server/watch/alerts.ts";
import { type AlertReceiver, startAlertReceiver } from "./alert-receiver.ts";
import { createFakeClock } from "./fake-clock.ts";
import type { PostOffice } from "./post-office.ts";

export const NOT_PAUSED = { pauseReason: null };

export async function openReceiver(): Promise<AlertReceiver> {
  const receiver = await startAlertReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Alerts with a clock of their own: the outbox, where there is one, waits for other things. */
export function watch(office: PostOffice, receiver: AlertReceiver | null, options: Partial<AlertOptions> = {}) {
  const clock = createFakeClock();
  const alertUrl = receiver && `http://127.0.0.1:${receiver.port}/hook`;
  const { store, log } = office;
  const alerts = startAlerts({ store, outbox: NOT_PAUSED, brand: "Brighter", alertUrl, log, clock, ...options });
  onTestFinished(() => alerts.stop());
  return { clock, alerts };
}
