import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartedProcess, startProcess, startServer } from "../../scripts/start-process.ts";
import { type LoadResult, measureLoad } from "./http-load.ts";
import { nextMessage } from "./message-request.ts";
import { type BenchTable, ratio } from "./table.ts";

const CONNECTIONS = 200;
const WARM_UP_SECONDS = 10;
const SECONDS = 5;
const ROUNDS = 3;

/** Messages accepted per second by the product and by a bare group-commit server, in turns on the same disk. */
export async function benchMessages(): Promise<BenchTable[]> {
  const rows: BenchTable["rows"] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await measure((folder) =>
      startProcess(["node", "tools/bench/bare-group-commit.ts", join(folder, "bare.db")]),
    );
    const ours = await measure((folder) => startServer({ DATA_DIR: folder }));
    rows.push({ round, server: "bare group commit", ...shown(bare), ratio: "1.00" });
    rows.push({ round, server: "ours", ...shown(ours), ratio: ratio(ours.perSecond, bare.perSecond) });
  }
  return [
    {
      title: `Messages accepted at ${CONNECTIONS} connections`,
      rows,
      chart: { label: "server", value: "messages/s" },
      notes: [
        "Each answer means: committed to disk. The bare server parses, inserts and commits, and does nothing else.",
      ],
    },
  ];
}

async function measure(start: (folder: string) => Promise<StartedProcess>): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const server = await start(folder);
  try {
    const load = { port: server.port, connections: CONNECTIONS, request: nextMessage };
    // Both are measured warm: Node compiles what is hot within the first seconds.
    await measureLoad({ ...load, seconds: WARM_UP_SECONDS });
    return await measureLoad({ ...load, seconds: SECONDS });
  } finally {
    server.process.kill("SIGKILL");
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function shown({ perSecond, p50Ms, p99Ms, failures }: LoadResult) {
  return { "messages/s": Math.round(perSecond), "p50 ms": p50Ms.toFixed(1), "p99 ms": p99Ms.toFixed(1), failures };
}
