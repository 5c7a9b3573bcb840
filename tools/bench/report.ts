import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningProgram } from "../../tests/support/run-server.ts";

export interface BenchTable {
  title: string;
  rows: Readonly<Record<string, string | number>>[];
  notes?: readonly string[];
}

export type Start<Server extends RunningProgram = RunningProgram> = (folder: string) => Promise<Server>;

export async function withServer<Server extends RunningProgram, T>(
  start: Start<Server>,
  measure: (server: Server) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  try {
    const server = await start(folder);
    try {
      return await measure(server);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export async function timesMs(step: () => Promise<unknown>, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now();
    await step();
    times.push(performance.now() - startedAt);
  }
  return times;
}
