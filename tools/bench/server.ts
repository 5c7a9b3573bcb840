import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { cpus } from "node:os";
import { buffer } from "node:stream/consumers";
import { isInstalled } from "../../tests/support/programs.ts";
import { type RunningProgram, startProgram, startServer } from "../../tests/support/run-server.ts";
import { measureLoad, nextMessage } from "./http-load.ts";
import { type BenchTable, median, withServer } from "./report.ts";

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 3;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 15;
const SECONDS = 0.5;
const MESSAGES_PER_SECOND = 200;
const STARTS = 5;
const CLOCK_TICK_MS = 10;

export async function benchServer(): Promise<BenchTable[]> {
  const canPin = oneCore().length > 0;
  // The client runs on the second core, so that it does not slow down the servers on the first.
  if (canPin) pin("1");
  const onOneCore = [await throughput(), await whileMessagesArrive()];
  if (canPin) pin(`0-${cpus().length - 1}`);
  return [...onOneCore, await needs()];
}

function pin(cores: string): void {
  spawnSync("taskset", ["-cp", cores, String(process.pid)]);
}

/** Sends the same compressed page as our server, as an upper bound. */
function startBare(): Promise<RunningProgram> {
  return startProgram([...oneCore(), "node", "tools/bench/bare-servers.ts", "pages", "dist"]);
}

function startOurs(folder: string): Promise<RunningProgram> {
  return startServer({ DATA_DIR: folder, LOG_LEVEL: "error" }, oneCore());
}

function oneCore(): string[] {
  return isInstalled("taskset") ? ["taskset", "-c", "0"] : [];
}

async function throughput(): Promise<BenchTable> {
  const bare: Rates = { get: [], cpuMs: [] };
  const ours: Rates = { get: [], cpuMs: [] };
  await withServer(startBare, (one) => withServer(startOurs, (other) => measureInTurn([one, other], [bare, ours])));
  const ratio = (values: readonly number[], others: readonly number[]) =>
    median(values.map((value, round) => value / (others[round] ?? Number.NaN))).toFixed(2);
  const row = (server: string, { get, cpuMs }: Rates) => ({
    server,
    "GET/s": Math.round(median(get)),
    "to bare node:http": ratio(get, bare.get),
    "CPU µs a GET": Math.round(median(cpuMs) * 1000),
    "by CPU to bare": ratio(bare.cpuMs, cpuMs),
  });
  const rows = [row("bare node:http", bare), row("ours", ours)];
  const notes = [
    `The contact page, brotli, ${CONNECTIONS} connections, one core each for server and client.`,
    `Medians of ${ROUNDS} rounds. In each round every server gets ${SECONDS} s.`,
    "By CPU: pages for the same processor time, which depends less on other load on the machine.",
  ];
  return { title: "Pages per second on one core", rows, notes };
}

interface Rates {
  get: number[];
  cpuMs: number[];
}

/** Measures the servers in turn in short rounds, so that other load on the machine affects all of them equally. */
async function measureInTurn(servers: readonly RunningProgram[], rates: readonly Rates[]): Promise<void> {
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const [index, { port, process }] of servers.entries()) {
      await checkPage(port);
      const cpuBeforeMs = cpuMsOf(process.pid);
      const load = { port, connections: CONNECTIONS, seconds: SECONDS, request: pageRequest };
      const { perSecond } = await measureLoad(load);
      if (round < 0) continue;
      rates[index]?.get.push(perSecond);
      rates[index]?.cpuMs.push((cpuMsOf(process.pid) - cpuBeforeMs) / (perSecond * SECONDS));
    }
  }
}

function pageRequest(): string {
  return "GET /contact HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip, deflate, br\r\n\r\n";
}

async function checkPage(port: number): Promise<void> {
  const options = { port, path: "/contact", headers: { "accept-encoding": "gzip, deflate, br" } };
  const response = await new Promise<IncomingMessage>((resolve) => get(options, resolve));
  const body = await buffer(response);
  if (response.statusCode !== 200 || !body.equals(readFileSync("dist/contact/index.html.br")))
    throw new Error(`The server on port ${port} does not send the page: status ${response.statusCode}`);
}

async function whileMessagesArrive(): Promise<BenchTable> {
  const pages = { connections: 20, seconds: 8, request: pageRequest, perSecond: 1000 };
  return withServer(startOurs, async ({ port }) => {
    await measureLoad({ ...pages, port, seconds: WARM_UP_SECONDS });
    const alone = await measureLoad({ ...pages, port });
    const messages = { port, connections: 20, seconds: 9, request: nextMessage, perSecond: MESSAGES_PER_SECOND };
    const [accepted, busy] = await Promise.all([measureLoad(messages), measureLoad({ ...pages, port })]);
    const row = (what: string, { perSecond, p50Ms, p99Ms, failures }: typeof alone) => ({
      what,
      "per second": Math.round(perSecond),
      "p50 ms": Number(p50Ms.toFixed(2)),
      "p99 ms": Number(p99Ms.toFixed(2)),
      failures,
    });
    const rows = [row("pages alone", alone), row("pages while messages arrive", busy), row("the messages", accepted)];
    return { title: `Pages while ${MESSAGES_PER_SECOND} messages/s are accepted and delivered to files`, rows };
  });
}

async function needs(): Promise<BenchTable> {
  const startsMs: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    let startedAt = 0;
    await withServer(
      (folder) => {
        startedAt = performance.now();
        return startServer({ DATA_DIR: folder, LOG_LEVEL: "error" });
      },
      async ({ port }) => {
        await new Promise((resolve) => get({ port, path: "/" }, (response) => response.once("data", resolve)));
        startsMs.push(performance.now() - startedAt);
      },
    );
  }
  const rows = await withServer(
    (folder) => startServer({ DATA_DIR: folder, LOG_LEVEL: "error" }),
    async ({ port, process }) => {
      const afterStart = residentMb(process.pid);
      await measureLoad({ port, connections: CONNECTIONS, seconds: 5, request: pageRequest });
      const afterPages = residentMb(process.pid);
      await measureLoad({ port, connections: 20, seconds: 10, request: nextMessage, perSecond: MESSAGES_PER_SECOND });
      return [
        { what: "start to first byte, ms (median)", value: Math.round(median(startsMs)) },
        { what: "memory after start, MB", value: afterStart },
        { what: "memory after 5 s of pages at full speed, MB", value: afterPages },
        { what: `memory after 10 s more, of ${MESSAGES_PER_SECOND} messages/s, MB`, value: residentMb(process.pid) },
      ];
    },
  );
  return { title: "What the server needs", rows };
}

function cpuMsOf(pid: number | undefined): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return [pid, ...children].reduce<number>((sum, each) => {
    const fields = readFileSync(`/proc/${each}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
  }, 0);
}

function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}
