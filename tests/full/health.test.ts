import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Readiness } from "../../server/http/health.ts";
import { postMessage } from "../support/load.ts";
import { startServer } from "../support/run-server.ts";
import { untilEnd } from "../support/until-end.ts";

/** Uses a new connection for each request, like a load balancer. */
async function ask(url: string, path: string): Promise<{ status: number; said: string }> {
  const response = await fetch(url + path, { headers: { connection: "close" } });
  return { status: response.status, said: ((await response.json()) as { status: string }).status };
}

test("tells regular callers of /readyz that it is about to stop, and serves until they know", async () => {
  const server = await untilEnd(startServer());
  expect(await ask(server.url, "/readyz")).toEqual({ status: 200, said: "ready" });

  const exited = once(server.process, "exit");
  server.process.kill("SIGTERM");
  await expect.poll(() => server.output(), { interval: 10 }).toContain('"event":"stopping"');
  const message = postMessage(server.url, "sent on its way before they heard");
  expect(await ask(server.url, "/readyz")).toEqual({ status: 503, said: "closing" });
  expect(await message).toMatch(/^BC-/);
  expect(await exited).toEqual([0, null]);
});

test("stops at once if /readyz has no regular callers", async () => {
  // No timer can end before the next turn of the event loop.
  expect(await Promise.race([new Readiness().end(), setImmediate("waits")])).toBeUndefined();
});
