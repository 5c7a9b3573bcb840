import type { StoredMessage } from "../store/store.ts";

/** All that is held of a message, under the names the contact form uses. */
export function messageJson(message: StoredMessage) {
  return {
    reference: message.reference,
    state: message.state,
    isRestricted: message.isRestricted,
    acceptedAt: message.acceptedAt,
    stateChangedAt: message.stateChangedAt,
    dueAt: message.dueAt,
    attempts: message.attempts,
    lastError: message.lastError,
    name: message.name,
    email: message.email,
    phone: message.phone,
    country: message.country,
    message: message.message,
  };
}
