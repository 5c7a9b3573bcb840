import { CommandFailed, defineCommand, UsageError } from "./command.ts";
import { notFound } from "./show.ts";

export const retry = defineCommand({
  name: "retry",
  usage: "REF | --failed",
  summary: "mail a failed or waiting message again, now",
  details: "  --failed        all that have failed",
  operands: { least: 0, most: 1 },
  options: { failed: { type: "boolean" } },
  read({ failed = false }, [reference]) {
    if (failed === (reference !== undefined)) throw new UsageError("Name one message, or --failed for all of them");
    return async ({ store, now, out }) => {
      const count = await store.retry(reference === undefined ? "failed" : { reference }, now);
      if (reference !== undefined && count === 0) {
        const message = await store.find(reference);
        throw new CommandFailed(
          message ? `${message.reference} is ${message.state}: there is nothing to retry` : notFound(reference),
        );
      }
      out(`${countOf(count)} queued again.\n`);
    };
  },
});

export const release = defineCommand({
  name: "release",
  usage: "REF",
  summary: "mail a message that is held in quarantine",
  details: "",
  operands: { least: 1, most: 1 },
  options: {},
  read(_, [reference = ""]) {
    return async ({ store, now, out }) => {
      if (!(await store.release(reference, now))) {
        const message = await store.find(reference);
        throw new CommandFailed(
          message ? `${message.reference} is ${message.state}, not in quarantine` : notFound(reference),
        );
      }
      out(`${countOf(1)} released.\n`);
    };
  },
});

export function countOf(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}
