import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { SCALE } from "../support/scale.ts";
import { kill, openScene } from "../support/scene.ts";

const CLIENTS = 6;

test(`${SCALE.kills} kills under load lose nothing, and what a dead server had claimed goes out at the next start`, async () => {
  const scene = await openScene();
  for (let count = 1; count <= SCALE.kills; count += 1) {
    const server = await scene.start();
    const stop = new AbortController();
    const load = scene.visitors.postUntil(stop.signal, server.url, CLIENTS);
    // Odd but repeatable moments, from the middle of the first request to well under way.
    await wait(10 + ((count * 67) % 190));
    await kill(server);
    stop.abort();
    await load;
  }
  expect(scene.visitors.acknowledged.length).toBeGreaterThan(SCALE.kills);

  // A mail is repeated only where a kill fell between sending it and marking it, which may happen again to the same one.
  await scene.expectNothingLost(await scene.start(), 4);
}, 600_000);
