import { connect } from "node:net";

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** The whole text of the next request. */
  request(): string;
}

/**
 * Keeps each connection busy with one request after the other. Written on bare sockets, so that the client costs little
 * beside the server that shares the machine with it.
 */
export async function measureLoad({ port, connections, seconds, request }: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let failures = 0;
  const endAt = performance.now() + seconds * 1000;

  const runConnection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let sentAt = 0;
      let received = "";
      const send = () => {
        received = "";
        sentAt = performance.now();
        socket.write(request(), "latin1");
      };
      socket.setNoDelay(true);
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        if (!isComplete(received)) return;
        latenciesMs.push(performance.now() - sentAt);
        if (!/^HTTP\/1\.1 (2|304)/.test(received)) failures += 1;
        if (performance.now() < endAt) return send();
        socket.destroy();
        resolve();
      });
    });

  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, runConnection));
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return { perSecond: latenciesMs.length / elapsedSeconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failures };
}

function isComplete(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end + 2))?.[1] ?? "0";
  return received.length >= end + 4 + Number(length);
}
