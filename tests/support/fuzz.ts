import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { TRAP_FIELD } from "../../contract/contact-message.ts";

/**
 * After this silence nothing more is expected. Then the client ends the connection, which tells the server that a
 * request stays incomplete.
 */
const PATIENCE_MS = 200;
const STUCK_MS = 15_000;
/** Enough for the answers to a few requests. The rest is not read. */
const MOST_BYTES = 500_000;

/** The fuzzer's dictionary: one JSON string per line of a file, and strings that are too long for a line. */
const WORDS = [
  ...readFileSync("tests/fixtures/fuzz-words.txt", "utf8")
    .trim()
    .split("\n")
    .map((line): string => JSON.parse(line)),
  ...[101, 5001, 20_000, 100_000].map((length) => "x".repeat(length)),
  "[".repeat(30_000),
  '{"a":'.repeat(5000),
  "%41".repeat(30_000),
];
const VALUES = [...WORDS, undefined, null, true, 0, -1.5e300, [], {}, { length: 3 }, ["a"]];
const GETS = ["/", "/contact", "/privacy", "/nowhere", "/healthz", "/readyz", "/sitemap.xml", "/countries.json"];
const GET_HEADERS = ["range: bytes=0-99\r\n", 'if-none-match: "x"\r\n', "accept-encoding: br, gzip;q=0.5\r\n", ""];

type Random = ReturnType<typeof createRandom>;

/** A pseudo-random generator. Each `index` of a seed has its own sequence, so that one case can be repeated alone. */
export function createRandom(seed: number, index: number) {
  let drawn = 0;
  const next = () => hash("sha256", `${seed} ${index} ${drawn++}`, "buffer").readUInt32LE() / 2 ** 32;
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (probability: number) => next() < probability,
    pick: <T>(choices: readonly T[]) => choices[int(choices.length)] as T,
    bytes: (length: number) => String.fromCharCode(...Array.from({ length }, () => int(256))),
  };
}

/**
 * The bytes that one connection sends, always the same for the same seed and index. `tornAt` is where they are split
 * into packets.
 */
export interface FuzzCase {
  requests: number;
  bytes: Buffer;
  tornAt: number;
}

export function makeFuzzCase(seed: number, index: number): FuzzCase {
  const random = createRandom(seed, index);
  const requests = random.chance(0.2) ? 2 + random.int(3) : 1;
  const texts = Array.from({ length: requests }, (_, at) => fuzzedRequest(random, at === requests - 1));
  let bytes = Buffer.from(texts.join(""), "latin1");
  if (random.chance(0.1)) bytes = bytes.subarray(0, random.int(bytes.length));
  return { requests, bytes, tornAt: random.int(bytes.length + 1) };
}

function fuzzedRequest(random: Random, isLast: boolean): string {
  let [head, body] = validRequest(random);
  if (isLast) head += "connection: close\r\n";
  // Half of the requests stay valid, because the server must understand valid requests between invalid ones.
  for (let count = random.pick([0, 0, 0, 1, 1, 2]); count > 0; count -= 1) {
    // The content of a message matters most, but is reached only if the rest of the request is valid.
    if (body !== "" && random.chance(0.3)) body = mutate(body, random);
    else head = mutate(head, random);
  }
  if (random.chance(0.9)) head = head.replace(/(?<=content-length: )\d+/, String(body.length));
  return `${head}\r\n${body}`;
}

/** A request that a browser, a crawler or a program might send: its head, and its body as bytes. */
function validRequest(random: Random): [head: string, body: string] {
  const first = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n`;
  if (random.chance(0.1)) return [`${first("OPTIONS", "/send-email")}access-control-request-method: POST\r\n`, ""];
  if (random.chance(0.3))
    return [first(random.pick(["GET", "GET", "HEAD"]), random.pick(GETS)) + random.pick(GET_HEADERS), ""];
  const [type, text] = random.chance(0.6) ? jsonMessage(random) : formMessage(random);
  let body = Buffer.from(text).toString("latin1");
  let head = `${first("POST", "/send-email")}content-type: application/${type}\r\n`;
  if (random.chance(0.3)) head += `idempotency-key: ${random.int(1e9)}\r\n`;
  if (random.chance(0.8)) return [`${head}content-length: ${body.length}\r\n`, body];
  body = body.replaceAll(/.{1,60}/gs, (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return [`${head}transfer-encoding: chunked\r\n`, `${body}0\r\n\r\n`];
}

const message = (random: Random) => ({
  name: random.pick(["Ada", "Zoë", "鬱 鬱", "O'Brien", "=1+1"]),
  email: "ada@example.com",
  phone: "+44 20 7946 0000",
  country: random.pick(["GB", "", "DE"]),
  message: `${random.int(1e9)} question`,
});

const formMessage = (random: Random) => {
  const fields = { ...message(random), "footprint.carKm": random.pick(["", "1 500 km"]) };
  return ["x-www-form-urlencoded", String(new URLSearchParams(fields))] as const;
};

/** Usually one field is missing, has another type, is too long, or contains invalid data. */
const jsonMessage = (random: Random) => {
  const footprint = { carKm: random.pick([0, "1,500", 12.5, "1e3"]), carFuel: random.pick(["petrol", "electric"]) };
  const fields = { ...message(random), ...(random.chance(0.4) && { footprint }) };
  const spoilt = { [random.pick([...Object.keys(fields), TRAP_FIELD, "extra"])]: random.pick(VALUES) };
  return ["json", JSON.stringify({ ...fields, ...(random.chance(0.8) && spoilt) })] as const;
};

/** Adds a word, random bytes or a repetition to a part of the text, or replaces the part. */
function mutate(text: string, random: Random): string {
  const parts = text.split(/(?<=[\s:=&",/?;])|(?=[\s:=&",/?;])/);
  const at = random.int(parts.length);
  const added = random.pick([
    random.pick(WORDS),
    random.pick(WORDS),
    random.bytes(random.int(20)),
    parts[at] ?? "",
    "",
  ]);
  return parts.toSpliced(at, random.int(2), added).join("");
}

/** Sends a case on a new connection and reads until the server closes it. */
export async function exchange(port: number, { bytes, tornAt }: FuzzCase) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    answer += chunk;
    if (answer.length > MOST_BYTES) socket.destroy();
  });
  socket.on("error", () => {}).on("end", () => socket.destroy());
  socket.setTimeout(PATIENCE_MS, () => socket.end());
  socket.write(bytes.subarray(0, tornAt), () => socket.write(bytes.subarray(tornAt)));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  /** The server neither finished its answers nor closed the connection. */
  const isStuck = await Promise.race([closed, setTimeout(STUCK_MS, true, { ref: false })]);
  socket.destroy();
  return { isStuck, statuses: [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) };
}
