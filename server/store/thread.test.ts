import { expect, test } from "vitest";
import { untilEnd } from "../../tests/support/until-end.ts";
import { StoreLost, StoreRefused, StoreUnavailable } from "./errors.ts";
import { openInThread } from "./thread.ts";

interface Target {
  secret: string;
  part: {
    echo<Value>(value: Value): Promise<Value>;
    fail(name: string): Promise<void>;
    wait(): Promise<void>;
    crash(): Promise<void>;
  };
  close(): Promise<void>;
}

/** A thread with these methods, or one that fails to open. */
async function openTarget({ failsWith = "" } = {}) {
  const [thread, store] = ["thread", "errors"].map((name) => new URL(`./${name}.ts`, import.meta.url).href);
  const program = `
    import { serveThread } from "${thread}";
    import * as errors from "${store}";
    const fail = async (name) => { throw new (errors[name] ?? globalThis[name])(errors[name] ? { problem: "because" } : "because"); };
    await serveThread(async () => {
      if (${JSON.stringify(failsWith)} !== "") await fail(${JSON.stringify(failsWith)});
      return {
        secret: "abc",
        part: {
          echo: async (value) => value,
          fail,
          wait: () => new Promise(() => {}),
          crash: async () => void setImmediate(() => { throw new Error("crash"); }),
        },
        close: async () => {},
      };
    });`;
  const ends: StoreUnavailable[] = [];
  const target = await untilEnd(
    openInThread<Target>(
      new URL(`data:text/javascript,${encodeURIComponent(program)}`),
      null,
      (error) => void ends.push(error),
    ),
  );
  return { target, ends };
}

test.each([
  ["StoreUnavailable", StoreUnavailable],
  ["StoreLost", StoreLost],
  ["StoreRefused", StoreRefused],
  ["RangeError", Error],
])("an error keeps its class and message: %s", async (name, kind) => {
  const { target } = await openTarget();
  for (const failure of [target.part.fail(name), openTarget({ failsWith: name })]) {
    const error = await failure.catch((reason) => reason);
    expect(error).toBeInstanceOf(kind);
    expect([error.constructor.name === kind.name, error.name, error.message]).toEqual([true, name, "because"]);
  }
});

test("reports the end of its thread once, and rejects waiting and later calls", async () => {
  const { target, ends } = await openTarget();
  // The call that ends the thread may or may not get an answer first.
  const [waited] = await Promise.allSettled([target.part.wait(), target.part.crash()]);
  expect(waited).toMatchObject({
    status: "rejected",
    reason: new StoreLost({
      problem: "The message database's thread ended (Error)",
      remedy: "restart the server",
    }),
  });
  await expect(target.part.echo("late")).rejects.toThrow(StoreUnavailable);
  expect(ends).toEqual([expect.any(StoreUnavailable)]);
  await target.close();
});
