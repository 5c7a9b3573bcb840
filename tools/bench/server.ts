import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { isInstalled } from "../../tests/support/programs.ts";
import { findFreePort, type RunningProgram, startProgram, startServer } from "../../tests/support/run-server.ts";
import { measureLoad, nextMessage } from "./http-load.ts";
import { type BenchTable, median, withServer } from "./report.ts";

const CONNECTIONS = 32;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 15;
const SECONDS = 0.5;
const MESSAGES_PER_SECOND = 200;
const STARTS = 5;
const ONE_CORE = isInstalled("taskset") ? ["taskset", "-c", "0"] : [];

export async function benchServer(): Promise<BenchTable[]> {
  // The client runs on the second core, so that it does not slow down the servers on the first.
  pin("1");
  const onOneCore = [await throughput(), await whileMessagesArrive()];
  pin(`0-${cpus().length - 1}`);
  return [...onOneCore, await needs()];
}

function pin(cores: string): void {
  if (ONE_CORE.length > 0) spawnSync("taskset", ["-cp", cores, String(process.pid)]);
}

function startOurs(folder: string): Promise<RunningProgram> {
  return startServer({ DATA_DIR: folder, LOG_LEVEL: "error" }, ONE_CORE);
}

/** Measures the servers in turn in short rounds, so that other load on the machine affects both equally. */
async function throughput(): Promise<BenchTable> {
  const rates: Record<"bare" | "ours", number[]> = { bare: [], ours: [] };
  // Sends the same compressed page as our server, as an upper bound.
  const startBare = () => startProgram([...ONE_CORE, "node", "tools/bench/bare-server.ts", "dist/site"]);
  await withServer(startBare, (bare) =>
    withServer(startOurs, async (ours) => {
      for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
        for (const [server, { port }] of Object.entries({ bare, ours })) {
          const load = { port, connections: CONNECTIONS, seconds: SECONDS, request: pageRequest };
          const { "per second": rate, failures } = await measureLoad(load);
          if (failures > 0) throw new Error(`${server}: ${failures} requests failed.`);
          if (round >= 0) rates[server as keyof typeof rates].push(rate);
        }
      }
    }),
  );
  const ratio = median(rates.ours.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN)));
  return {
    title: "Pages per second on one core",
    rows: [
      { server: "bare node:http", "GET/s": median(rates.bare) },
      { server: "ours", "GET/s": median(rates.ours), "to bare": ratio.toFixed(2) },
    ],
    notes: [
      `The contact page, brotli, ${CONNECTIONS} connections, one core each for server and client.`,
      `Medians of ${ROUNDS} rounds of ${SECONDS} s for each server.`,
    ],
  };
}

function pageRequest(): string {
  return "GET /contact HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip, deflate, br\r\n\r\n";
}

async function whileMessagesArrive(): Promise<BenchTable> {
  const pages = { connections: 20, seconds: 8, request: pageRequest, perSecond: 1000 };
  return withServer(startOurs, async ({ port }) => {
    await measureLoad({ ...pages, port, seconds: 3 });
    const alone = await measureLoad({ ...pages, port });
    const messages = { port, connections: 20, seconds: 9, request: nextMessage, perSecond: MESSAGES_PER_SECOND };
    const [accepted, busy] = await Promise.all([measureLoad(messages), measureLoad({ ...pages, port })]);
    return {
      title: `Pages while ${MESSAGES_PER_SECOND} messages/s are accepted and delivered to files`,
      rows: [
        { what: "pages alone", ...alone },
        { what: "pages while messages arrive", ...busy },
        { what: "the messages", ...accepted },
      ],
    };
  });
}

async function needs(): Promise<BenchTable> {
  const start = (folder: string) => startServer({ DATA_DIR: folder, LOG_LEVEL: "error" });
  const startsMs: number[] = [];
  while (startsMs.length < STARTS) startsMs.push(await timeToPage());
  const rows = await withServer(start, async ({ port, process }) => {
    const afterStart = residentMb(process.pid);
    await measureLoad({ port, connections: CONNECTIONS, seconds: 5, request: pageRequest });
    const afterPages = residentMb(process.pid);
    await measureLoad({ port, connections: 20, seconds: 10, request: nextMessage, perSecond: MESSAGES_PER_SECOND });
    return [
      { what: "start to the first page, ms (median)", value: Math.round(median(startsMs)) },
      { what: "memory after start, MB", value: afterStart },
      { what: "memory after 5 s of pages at full speed, MB", value: afterPages },
      { what: `memory after 10 s more, of ${MESSAGES_PER_SECOND} messages/s, MB`, value: residentMb(process.pid) },
    ];
  });
  return { title: "What the server needs", rows };
}

/** Asks as soon as the server listens: it sends pages before it is ready for messages. */
async function timeToPage(): Promise<number> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { serve: string } };
  const port = await findFreePort();
  const startedAt = performance.now();
  const start = (DATA_DIR: string) =>
    startProgram(["sh", "-c", scripts.serve], { env: { PORT: String(port), DATA_DIR }, port });
  return withServer(start, async ({ url }) => {
    await fetch(url);
    return performance.now() - startedAt;
  });
}

function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}
