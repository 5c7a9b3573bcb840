import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, startServer } from "../../scripts/start-process.ts";
import { makeHandWrittenPages } from "./hand-written.ts";

export interface Site {
  name: string;
  url: string;
}

/** Runs `measure` while the product and the hand-written pages are both served. */
export async function withBothSites<T>(measure: (ours: Site, handWritten: Site) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-"));
  const pages = await makeHandWrittenPages();
  const [ours, bare] = await Promise.all([
    startServer({ DATA_DIR: dataDir }),
    startProcess(["node", "tools/bench/bare-pages.ts", pages.folder]),
  ]);
  try {
    return await measure(
      { name: "ours", url: `http://127.0.0.1:${ours.port}` },
      { name: "hand-written", url: `http://127.0.0.1:${bare.port}` },
    );
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
    await Promise.all([pages.remove(), rm(dataDir, { recursive: true, force: true })]);
  }
}
