import { expect, it, onTestFinished } from "vitest";
import { MINUTE_MS } from "../../server/time.ts";
import { countEach, messageIdsOf } from "../support/invariant.ts";
import { postMessage } from "../support/load.ts";
import { startMailServer } from "../support/mail-server.ts";
import { runCli } from "../support/run-cli.ts";
import { startServer } from "../support/run-server.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

// tests/store-contract tests the effect of a wrong clock on leases, due times and retention.

it("two servers on one PostgreSQL mail each message once, although one clock is six minutes ahead", async () => {
  const postgres = await untilEnd(sharePostgres());
  const mailServer = await untilEnd(startMailServer());
  const env = {
    DATABASE_URL: await postgres.createDatabase(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
  };
  const shim = new URL("../support/shift-clock.ts", import.meta.url).href;
  const ahead = { NODE_OPTIONS: `--import=${shim}`, CLOCK_AHEAD_MS: String(6 * MINUTE_MS) };
  const nodes = await Promise.all([startServer(env), startServer({ ...env, ...ahead })]);
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));

  const startMs = Date.now();
  // Slow enough to need leases.
  mailServer.behave({ kind: "accept", afterMs: 500 });
  const posts = Array.from({ length: 80 }, (_, count) => postMessage(nodes[count % 2]?.url ?? "", `burst ${count}`));
  expect(new Set(await Promise.all(posts)).size).toBe(80);
  const queued = async () => (await runCli(env, "list", "--state", "queued")).out;
  await expect.poll(queued, { timeout: 60_000, interval: 1000 }).toBe("No messages.\n");
  const times = countEach(messageIdsOf(mailServer.mails));
  expect([times.size, Math.max(...times.values())]).toEqual([80, 1]);

  expect((await fetch(`${nodes[1].url}/readyz`)).status).toBe(200);
  // All times come from the database's clock.
  const [newest] = JSON.parse((await runCli(env, "list", "--json")).out);
  expect(Date.parse(newest.acceptedAt)).toBeGreaterThan(startMs - MINUTE_MS);
  expect(Date.parse(newest.acceptedAt)).toBeLessThan(Date.now() + MINUTE_MS);
});
