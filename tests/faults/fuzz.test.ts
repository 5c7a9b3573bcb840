import { expect, test } from "vitest";
import { exchange, type FuzzCase, makeFuzzCase } from "../support/fuzz.ts";
import { MEASURABLE, type Memory, measureMemory } from "../support/live-memory.ts";
import { expectPagesUp, openScene } from "../support/scene.ts";

const REQUESTS = 12_000;
/** Fixed, so that every run sends the same requests. FUZZ_SEED chooses others. */
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const CONNECTIONS = 24;
const MB = 1024 * 1024;
/** A healthy server's heap changes by less than 1 MB. The process itself takes and returns more memory than that. */
const MOST_GROWTH = { heldBytes: 2 * MB, processBytes: 64 * MB } satisfies Memory;

test(`${REQUESTS} hostile requests (FUZZ_SEED=${SEED}) cause no 5xx, no crash and no memory growth`, async () => {
  const scene = await openScene();
  const server = await scene.start(MEASURABLE);
  const port = Number(new URL(server.url).port);
  const statuses = new Map<number, number>();
  const trouble: string[] = [];
  let index = 0;
  let sent = 0;

  async function sendUntil(requests: number): Promise<void> {
    const client = async () => {
      while (sent < requests && trouble.length < 5) {
        const number = index++;
        const fuzzCase = makeFuzzCase(SEED, number);
        sent += fuzzCase.requests;
        const answer = await exchange(port, fuzzCase);
        for (const status of answer.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const worst = Math.max(0, ...answer.statuses);
        if (worst >= 500 || answer.isStuck) trouble.push(report(number, answer.isStuck ? "stuck" : worst, fuzzCase));
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
  }

  // By now, all caches are filled.
  await sendUntil(REQUESTS / 4);
  const early = await measureMemory(server);
  await sendUntil(REQUESTS);
  const late = await measureMemory(server);
  console.info(`fuzz: FUZZ_SEED=${SEED}, ${sent} requests, answers ${JSON.stringify([...statuses].sort())}`);
  console.info(`fuzz: memory after a quarter ${inMb(early)}, after all ${inMb(late)}`);

  expect(trouble).toEqual([]);
  // The requests reached every kind of answer: accepted, refused, and each refusal of a message.
  for (const status of [200, 204, 303, 400, 405, 413, 415, 422])
    expect(statuses.get(status), `${status}`).toBeGreaterThan(0);
  expect(server.process.exitCode).toBeNull();
  expect(server.output()).not.toMatch(/"event":"failure"/);
  await expectPagesUp(server);
  expect(late.heldBytes - early.heldBytes).toBeLessThan(MOST_GROWTH.heldBytes);
  expect(late.processBytes - early.processBytes).toBeLessThan(MOST_GROWTH.processBytes);
  await scene.visitors.post(server.url, 3);
  await scene.queueIsEmpty();
  expect(await server.stop()).toBe(0);
});

function report(index: number, what: number | "stuck", { bytes }: FuzzCase): string {
  return `case ${index} of FUZZ_SEED=${SEED}: ${what} for ${JSON.stringify(bytes.toString("latin1").slice(0, 1500))}`;
}

function inMb({ heldBytes, processBytes }: Memory): string {
  return `${(heldBytes / MB).toFixed(1)} MB of ${(processBytes / MB).toFixed(0)} MB`;
}
