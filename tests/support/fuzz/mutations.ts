import { TRAP_FIELD } from "../../../contract/contact-message.ts";
import type { Random } from "./random.ts";
import type { Draft } from "./valid-requests.ts";

const METHODS = ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "QUERY", "BREW", "get", "", "G T", "POST\0"];
const VERSIONS = ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/", "http/1.1", "", "HTTP/1.1 HTTP/1.1"];
const TARGETS = [
  "//",
  "/%",
  "/%00",
  "/%zz",
  "/%c0%ae%c0%ae/",
  "/..%2f..%2fetc%2fpasswd",
  "/assets/../../server/main.ts",
  "/./.",
  "*",
  "http://localhost/",
  "https://[::1]:99999/",
  "/send-email/",
  "/SEND-EMAIL",
  "/send-email?x=%",
  "/?%%%",
  "/#x",
  "/\u00e9",
  "/\\",
  "/;a=b",
  "/contact?reference=BC-7K3Q-9M",
  "/contact?reference[]=%00",
  "/__proto__",
  "/constructor",
];
const HEADERS: [string, string][] = [
  ...pairs("content-length", ["-1", "1e3", "99999999999999999999", "0x10", "5, 6", "", "3"]),
  ...pairs("transfer-encoding", ["chunked", "gzip, chunked", "chunked, chunked", "identity", "x", "chunked\0"]),
  ...pairs("content-type", [
    "text/plain",
    "application/json; charset=utf-16",
    "application/json;;;",
    "/",
    "multipart/form-data",
  ]),
  ...pairs("content-type", [
    "application/x-www-form-urlencoded; charset=x",
    "APPLICATION/JSON",
    "application/jsonp",
    "é",
  ]),
  ...pairs("content-encoding", ["gzip", "br", "zstd", "deflate, gzip"]),
  ...pairs("expect", ["100-continue", "200-ok", ""]),
  ...pairs("connection", ["close", "upgrade", "keep-alive, close", "content-length", "\u00ff"]),
  ...pairs("upgrade", ["websocket", "h2c", "TLS/1.0"]),
  ...pairs("host", ["", "a b", "x:99999", "[::1", "evil.test"]),
  ...pairs("range", ["bytes=-1", "bytes=9-1", "bytes=0-,0-,0-", "bytes=99999999999999999999-", "lines=1-2", "bytes="]),
  ...pairs("accept-encoding", ["br;q=nonsense", "*;q=0", "identity;q=0, *;q=0", ",,,", "gzip;q=1e9"]),
  ...pairs("if-none-match", ["*", 'W/"x', ",", '"'.repeat(500)]),
  ...pairs("origin", ["null", "http://evil.test", "http://localhost:3000", "::::", "\u00e9"]),
  ...pairs("sec-fetch-site", ["cross-site", "none", "x"]),
  ...pairs("idempotency-key", ["", "a b", "k".repeat(300), "\u00e9", "same", "same"]),
  ...pairs("x-forwarded-for", ["::1", "nonsense", "1.2.3.4, 5.6.7.8", "a".repeat(2000)]),
  ...pairs("cookie", ["a=b; ".repeat(1000)]),
  ...pairs("__proto__", ["x"]),
  ...pairs("bad name", ["x"]),
  ...pairs("x-long", ["v".repeat(20_000)]),
];
const BODIES = [
  "",
  "{",
  "[]",
  "null",
  "0",
  '"text"',
  "{}",
  "[[[[]]]]",
  "[".repeat(30_000),
  '{"a":'.repeat(5000),
  "\ufeff{}",
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":1}}',
  '{"name":"a","name":"b"}',
  '{"name":1e999}',
  '{"name":{"toString":1},"email":[],"phone":null,"country":true,"message":{}}',
  '{"message":"\\ud800"}',
  "a=%",
  "name=a&name=b&email=%ff%fe",
  "&&&===",
  "name[]=a",
  "x".repeat(100_000),
  `name=${"%41".repeat(30_000)}`,
];

/** Spoils one part of a draft. */
export function mutateDraft(draft: Draft, random: Random): Draft {
  const { headers } = draft;
  const at = random.int(headers.length + 1);
  // What is in a message matters most, and is reached only when the rest is right.
  if (draft.body.length > 0 && random.chance(0.4)) return withBody(draft, spoiltBody(draft.body, random));
  switch (random.int(8)) {
    case 0:
      return { ...draft, method: random.pick(METHODS) };
    case 1:
      return { ...draft, target: random.pick(TARGETS) };
    case 2:
      return { ...draft, target: `${draft.target}${random.bytes(random.int(40)).toString("latin1")}` };
    case 3:
      return random.chance(0.2)
        ? { ...draft, target: `/${"x".repeat(random.int(30_000))}` }
        : { ...draft, version: random.pick(VERSIONS) };
    case 4:
      return { ...draft, headers: headers.toSpliced(at, 0, random.pick(HEADERS)) };
    case 5:
      return { ...draft, headers: headers.toSpliced(at, 1) };
    case 6:
      return { ...draft, headers: headers.toSpliced(at, 1, random.pick(HEADERS), random.pick(HEADERS)) };
    default:
      return chunked(draft, random);
  }
}

/** Spoils the bytes themselves, wherever they are. */
export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.int(bytes.length + 1);
  const length = random.int(20);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.int(4)) {
    case 0:
      return Buffer.concat([before, random.bytes(1), after.subarray(1)]);
    case 1:
      return Buffer.concat([before, random.bytes(length), after]);
    case 2:
      return Buffer.concat([before, after.subarray(length)]);
    default:
      return Buffer.concat([before, random.pick(BREAKS), after]);
  }
}
const BREAKS = ["\r\n", "\n", "\r", "\0", "\r\n\r\n", "\r\n ", ": ", "%"].map((text) => Buffer.from(text));

export function writeDown({ method, target, version, headers, body }: Draft): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${target} ${version}\r\n${lines}\r\n`, "latin1"), body]);
}

function spoiltBody(body: Buffer, random: Random): Buffer {
  if (random.chance(0.3)) return Buffer.from(random.pick(BODIES));
  if (body[0] === OPENING_BRACE && random.chance(0.7)) return spoiltMessage(body, random);
  // A word of the body becomes something else: a field goes, or is of another type, or is no UTF-8.
  const words = body.toString("latin1").split(/(?=[":,&=])/);
  const spoilt = random.pick(["", "null", "{}", "\u00ff\u00fe", '\\"', "%", "x".repeat(9000), "\\u0000", "\ud800"]);
  return Buffer.from(words.toSpliced(random.int(words.length), 1, spoilt).join(""), "latin1");
}

/** Still JSON, but one field is gone, of another type, too long, or holds what no field should. */
function spoiltMessage(body: Buffer, random: Random): Buffer {
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(body.toString());
  } catch {
    return body;
  }
  const field = random.pick([...Object.keys(message), TRAP_FIELD, "extra"]);
  return Buffer.from(JSON.stringify({ ...message, [field]: random.pick(VALUES) }));
}
const OPENING_BRACE = 0x7b;
const VALUES = [
  undefined,
  null,
  true,
  0,
  -1.5e300,
  [],
  {},
  { length: 3 },
  ["a"],
  "",
  " ",
  "\0",
  "a\r\nBcc: b@example.com",
  "\ud800",
  "\u202e",
  "x".repeat(101),
  "x".repeat(5001),
  "😀".repeat(3000),
  "a@b",
  "@",
  "a@b.c, d@e.f",
  "ZZ",
  "<b>",
  "toString",
];

/** Its length is right, so that it is the body that is judged. */
function withBody(draft: Draft, body: Buffer): Draft {
  const headers = draft.headers.filter(([name]) => name !== "content-length");
  return { ...draft, headers: [...headers, ["content-length", String(body.length)]], body };
}

function chunked(draft: Draft, random: Random): Draft {
  const headers = draft.headers.filter(([name]) => name !== "content-length");
  const pieces: Buffer[] = [];
  for (let at = 0; at < draft.body.length; ) {
    const piece = draft.body.subarray(at, at + 1 + random.int(60));
    const size = random.chance(0.95)
      ? piece.length.toString(16)
      : random.pick(["", "-1", "zz", "ffffffffff", "0x5", "5 5"]);
    const extension = random.chance(0.1) ? `;${"e".repeat(random.int(300))}=1` : "";
    pieces.push(Buffer.from(`${size}${extension}\r\n`), piece, Buffer.from("\r\n"));
    at += piece.length;
  }
  const end = random.pick(["0\r\n\r\n", "0\r\n\r\n", "0\r\n\r\n", "0\r\nx: y\r\n\r\n", "", "0\r\n"]);
  return {
    ...draft,
    headers: [...headers, ["transfer-encoding", "chunked"]],
    body: Buffer.concat([...pieces, Buffer.from(end)]),
  };
}

function pairs(name: string, values: readonly string[]): [string, string][] {
  return values.map((value) => [name, value]);
}
