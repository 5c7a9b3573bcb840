import { connect } from "node:net";
import { mutateBytes, mutateDraft, writeDown } from "./mutations.ts";
import { createRandom, type Random } from "./random.ts";
import { validRequest } from "./valid-requests.ts";

/** Nothing more is coming then; the connection's end says so to a server that waits for the rest of a request. */
const PATIENCE_MS = 200;
const STUCK_MS = 15_000;
/** Enough for the answers to a few requests; more is not read. */
const MOST_BYTES = 500_000;

/** What one connection sends, always the same for the same seed and index. */
export interface FuzzCase {
  requests: number;
  bytes: Buffer;
  /** Where the bytes are torn apart on their way. */
  tornAt: number;
}

export interface Exchange {
  statuses: number[];
  /** The server neither answered to the end nor hung up. */
  isStuck: boolean;
}

export function makeFuzzCase(seed: number, index: number): FuzzCase {
  const random = createRandom(seed, index);
  const requests = random.chance(0.2) ? 2 + random.int(3) : 1;
  let bytes = Buffer.concat(Array.from({ length: requests }, (_, at) => fuzzedRequest(random, at === requests - 1)));
  if (random.chance(0.1)) bytes = bytes.subarray(0, random.int(bytes.length));
  return { requests, bytes, tornAt: random.int(bytes.length + 1) };
}

function fuzzedRequest(random: Random, isLast: boolean): Buffer {
  let draft = validRequest(random);
  if (isLast) draft.headers.push(["connection", "close"]);
  // Some stay as they are: between all the nonsense, sense must be understood.
  const mutations = random.pick([0, 1, 1, 1, 2, 3]);
  for (let count = 0; count < mutations; count += 1) draft = mutateDraft(draft, random);
  const bytes = writeDown(draft);
  return random.chance(0.15) && mutations > 0 ? mutateBytes(bytes, random) : bytes;
}

/** Sends a case on a connection of its own and reads until the server hangs up. */
export function exchange(port: number, { bytes, tornAt }: FuzzCase): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let answer = "";
    const stuck = setTimeout(() => finish(true), STUCK_MS);
    const finish = (isStuck: boolean) => {
      clearTimeout(stuck);
      socket.destroy();
      resolve({ isStuck, statuses: [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) });
    };
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.length > MOST_BYTES) finish(false);
    });
    socket.on("error", () => {});
    socket.on("end", () => finish(false));
    socket.on("close", () => finish(false));
    socket.on("connect", () => {
      socket.setNoDelay(true);
      socket.write(bytes.subarray(0, tornAt), () => socket.write(bytes.subarray(tornAt)));
      socket.setTimeout(PATIENCE_MS, () => socket.end());
    });
  });
}
