import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openScene } from "../support/scene.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { attachStrace } from "../support/strace.ts";

const MESSAGES = 40;

test("no answer is sent before the message is on disk", async ({ skip }) => {
  const scene = await openScene();
  const server = await scene.start();
  const trace = join(await makeScratchFolder(), "trace");
  const calls = "trace=pwrite64,fsync,fdatasync,write,writev,sendto,sendmsg";
  const detach = await attachStrace(skip, server.process.pid, ["-y", "-s", "8000", "-o", trace, "-e", calls]);

  for (let count = 0; count < MESSAGES; count += 8) await scene.visitors.post(server.url, 8);
  await detach();
  expect(scene.visitors.acknowledged).toHaveLength(MESSAGES);
  const lines = readFileSync(trace, "latin1").split("\n");
  for (const reference of scene.visitors.acknowledged) {
    const { written, synced, answered } = orderOf(reference, lines);
    expect(written).toBeGreaterThanOrEqual(0);
    expect(synced).toBeGreaterThan(written);
    expect(answered).toBeGreaterThan(synced);
  }
  await scene.expectNothingLost(server);
});

/** The positions in the trace at which a message's row was written, synced and acknowledged; -1 if never. */
function orderOf(reference: string, lines: readonly string[]) {
  const written = lines.findIndex((line) => /^\d+ +pwrite64\(\d+<[^>]+-wal>/.test(line) && line.includes(reference));
  const thread = /^\d+/.exec(lines[written] ?? "")?.[0] ?? "none";
  // If a call of another thread interrupts a call in the trace, the end of that call is on a separate line.
  const syncEnd = new RegExp(
    `^${thread} +(f(data)?sync\\(\\d+<[^>]+-wal>\\)|<\\.\\.\\. f(data)?sync resumed>\\)) += 0`,
  );
  const synced = lines.findIndex((line, index) => index > written && syncEnd.test(line));
  const answered = lines.findIndex(
    (line) => /<(socket|TCP)/.test(line) && line.includes(`reference\\":\\"${reference}`),
  );
  return { written, synced, answered };
}
