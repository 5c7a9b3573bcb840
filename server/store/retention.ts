import type { Retention } from "../config.ts";
import type { StoredMessage } from "./store.ts";

/** When the message is erased; `null` while it is queued or restricted, or where RETENTION keeps such messages. */
export function keptUntil(
  { state, acceptedAt, stateChangedAt, isRestricted }: StoredMessage,
  retention: Retention,
): Date | null {
  const keptMs = state === "queued" ? null : retention[`${state}Ms`];
  if (keptMs === null || isRestricted) return null;
  return new Date(Math.max(acceptedAt.getTime(), stateChangedAt.getTime()) + keptMs);
}
