import { connect } from "node:net";

interface Load {
  port: number;
  connections: number;
  seconds: number;
  request(): string;
  perSecond?: number;
}

/** Uses bare sockets: a client that parses HTTP would be slower than the server on the same machine. */
export async function measureLoad({ port, connections, seconds, request, perSecond }: Load) {
  const latenciesMs: number[] = [];
  let failures = 0;
  const endAt = performance.now() + seconds * 1000;
  const pauseMs = perSecond ? (connections * 1000) / perSecond : 0;

  const runConnection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const read = responseReader();
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        socket.write(request(), "latin1");
      };
      socket.setNoDelay(true);
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`The server on port ${port} closed a connection.`)));
      socket.on("data", (chunk) => {
        const status = read(chunk);
        if (status === null) return;
        const now = performance.now();
        latenciesMs.push(now - sentAt);
        if (status >= 400) failures += 1;
        if (now >= endAt) {
          resolve();
          socket.destroy();
        } else if (pauseMs === 0) {
          send();
        } else {
          setTimeout(send, Math.max(0, sentAt + pauseMs - now));
        }
      });
    });

  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, runConnection));
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return {
    "per second": Math.round(latenciesMs.length / elapsedSeconds),
    "p50 ms": quantile(0.5).toFixed(2),
    "p99 ms": quantile(0.99).toFixed(2),
    failures,
  };
}

/** Reads one response after the other. Returns the status of a complete response, otherwise null. */
function responseReader(): (chunk: Buffer) => number | null {
  let head = "";
  let status = 0;
  let missingBytes = 0;
  return (chunk) => {
    if (missingBytes > 0) missingBytes -= chunk.length;
    else {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return null;
      status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1];
      if (length === undefined) throw new Error(`A response has no content-length:\n${head}`);
      missingBytes = Number(length) - (head.length - end - 4);
      head = "";
    }
    return missingBytes > 0 ? null : status;
  };
}

let messages = 0;

/** A request with a message. Each text is different, because the server treats equal texts as one message. */
export function nextMessage(): string {
  messages += 1;
  const message = `Message ${messages}: how do I offset the carbon of a small office, and what does it cost a year?`;
  const fields = { name: "Ada Lovelace", email: "ada@example.com", phone: "+44 20", country: "GB", message };
  const body = JSON.stringify(fields);
  return `POST /send-email HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
