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
  /** Of all connections together; without it, as fast as the server answers. */
  perSecond?: number;
}

/**
 * Sends one request after the other on each connection. It uses bare sockets, because client and server share the
 * machine, and a client that parses HTTP would be the slower of the two: see docs/dependencies.md.
 */
export async function measureLoad({ port, connections, seconds, request, perSecond }: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let failures = 0;
  const endAt = performance.now() + seconds * 1000;
  const pauseMs = perSecond ? (connections * 1000) / perSecond : 0;

  const runConnection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const answer = new AnswerLength();
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        const text = request();
        answer.expect(text.startsWith("HEAD"));
        socket.write(text, "latin1");
      };
      socket.setNoDelay(true);
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        const status = answer.add(chunk);
        if (status === null) return;
        const now = performance.now();
        latenciesMs.push(now - sentAt);
        if (status >= 400) failures += 1;
        if (now >= endAt) {
          socket.destroy();
          resolve();
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
  return { perSecond: latenciesMs.length / elapsedSeconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failures };
}

/** Counts the bytes of one answer after the other without keeping them. */
class AnswerLength {
  #head = "";
  #missing = -1;
  #status = 0;
  #hasNoBody = false;

  expect(hasNoBody: boolean): void {
    this.#hasNoBody = hasNoBody;
  }

  /** The status once an answer is complete, else null. */
  add(chunk: Buffer): number | null {
    let length = chunk.length;
    if (this.#missing < 0) {
      this.#head += chunk.toString("latin1", 0, 4096);
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return null;
      this.#status = Number(this.#head.slice(9, 12));
      // What came before this chunk was header only, or the answer would have been complete.
      length -= end + 4 - (this.#head.length - Math.min(chunk.length, 4096));
      this.#missing = this.#bodyLength(this.#head.slice(0, end + 2));
      this.#head = "";
    }
    this.#missing -= length;
    if (this.#missing === Number.POSITIVE_INFINITY && chunk.toString("latin1", chunk.length - 5) === "0\r\n\r\n") {
      this.#missing = 0;
    }
    if (this.#missing > 0) return null;
    this.#missing = -1;
    return this.#status;
  }

  /** Infinite for a chunked body, which marks its own end. */
  #bodyLength(head: string): number {
    if (this.#hasNoBody || this.#status === 304) return 0;
    if (/\r\ntransfer-encoding: chunked/i.test(head)) return Number.POSITIVE_INFINITY;
    return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  }
}

let messages = 0;

/** A whole request with a message. No two have the same text, or the server would take them for one message. */
export function nextMessage(): string {
  messages += 1;
  const message = `Message ${messages}: how do I offset the carbon of a small office, and what does it cost a year?`;
  const body = JSON.stringify({
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20",
    country: "GB",
    message,
  });
  return `POST /send-email HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
