import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningProgram } from "../../tests/support/run-server.ts";

export interface BenchTable {
  title: string;
  rows: Readonly<Record<string, string | number>>[];
  notes?: readonly string[];
}

/** Gives the server a folder of its own, and removes both. */
export async function withServer<T>(
  start: (folder: string) => Promise<RunningProgram>,
  measure: (server: RunningProgram) => Promise<T>,
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
