import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadResult, measureLoad } from "./http-load.ts";
import { type BenchedProcess, startProcess } from "./start-process.ts";

const CONNECTIONS = 64;
const SECONDS = 5;
const ROUNDS = 3;

/** Messages accepted per second by the product and by a bare group-commit server, in turns on the same disk. */
export async function benchMessages(): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await measure((folder) => startProcess(["bench/bare-group-commit.ts", join(folder, "bare.db")]));
    const ours = await measure((folder) => startProcess(["server/main.ts"], { DATA_DIR: folder }));
    rows.push({ round, server: "bare group commit", ...shown(bare), ratio: "1.00" });
    rows.push({ round, server: "ours", ...shown(ours), ratio: (ours.perSecond / bare.perSecond).toFixed(2) });
  }
  return rows;
}

async function measure(start: (folder: string) => Promise<BenchedProcess>): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const server = await start(folder);
  try {
    return await measureLoad({
      port: server.port,
      connections: CONNECTIONS,
      seconds: SECONDS,
      request: messageRequest,
    });
  } finally {
    server.process.kill("SIGKILL");
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function messageRequest(n: number): string {
  const message = `Message ${n}: how do I offset the carbon of a small office, and what does it cost a year?`;
  const body = JSON.stringify({
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20",
    country: "GB",
    message,
  });
  return `POST /send-email HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function shown({ perSecond, p50Ms, p99Ms, failures }: LoadResult) {
  return { "messages/s": Math.round(perSecond), "p50 ms": p50Ms.toFixed(1), "p99 ms": p99Ms.toFixed(1), failures };
}
