import { once } from "node:events";
import { expect, test } from "vitest";
import { startServer } from "../../scripts/run-server.ts";
import { postMessage } from "../support/load.ts";
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
  expect(await postMessage(server.url, "sent on its way before they heard")).toMatch(/^BC-/);
  expect(await ask(server.url, "/readyz")).toEqual({ status: 503, said: "closing" });
  expect(await exited).toEqual([0, null]);
});

test("stops at once if /readyz has no regular callers", async () => {
  const server = await startServer();
  const startMs = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - startMs).toBeLessThan(2500);
});
