import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { ask as askAt, exchange, listen, request } from "./support/raw-http.ts";

const BODY = { name: "Ada", email: "ada@example.com", phone: "1", country: "", message: "Hello" };

let subject: AppUnderTest;
let port = 0;
beforeAll(async () => {
  subject = await openApp();
  port = await listen(subject);
});
afterAll(() => subject.close());

const ask = (text: string) => askAt(port, text);
function _posted(body: string, type = "application/json", line = "POST /send-email"): string {
  return request(line, [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`], body);
}
const count = async () => (await subject.store.messages.list({})).length;

describe("invalid HTTP", () => {
  test.each([
    ["a word", "GARBAGE\r\n\r\n", 400],
    ["an unknown method", request("BREW /"), 400],
    ["TLS on the plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["two lengths", request("POST /send-email", ["Content-Length: 2", "Content-Length: 3"], "{}"), 400],
    ["a length that is no number", request("POST /send-email", ["Content-Length: 2x"], "{}"), 400],
    ["a header's name with a space", request("GET /", ["X-A : b"]), 400],
    ["a folded header", request("GET /", ["X-A: b", " c"]), 400],
    ["a NUL in a header", request("GET /", ["X-A: b\0c"]), 400],
    ["a bare line feed", "GET / HTTP/1.1\nHost: localhost\n\n", 400],
    ["headers over 16 KiB", request("GET /", [`X-A: ${"b".repeat(17_000)}`]), 431],
    ["a path over 16 KiB", request(`GET /${"a".repeat(17_000)}`), 431],
  ])("%s is answered once, without a stack, and closed", async (_name, text, status) => {
    const answer = await ask(text);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      connection: "close",
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    });
    expect(answer.body).toMatch(/^[A-Z][A-Za-z ]+\n$/);
  });

  test("a request with both a length and chunks is refused, and the rest is not read as a second request", async () => {
    const headers = ["Content-Length: 4", "Transfer-Encoding: chunked"];
    const smuggled = `0\r\n\r\n${request("GET /healthz")}`;
    const received = await exchange(port, request("POST /send-email", headers, smuggled));
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test.each(["chunked, identity", "xchunked", "chunked\r\nTransfer-Encoding: identity"])(
    "a transfer encoding of %j stores nothing",
    async (encoding) => {
      const before = await count();
      const body = JSON.stringify({ ...BODY, message: encoding });
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const headers = ["Content-Type: application/json", `Transfer-Encoding: ${encoding}`];
      expect((await ask(request("POST /send-email", headers, chunks))).status).toBeGreaterThanOrEqual(400);
      expect(await count()).toBe(before);
    },
  );

  test("a request without a host is refused", async () => {
    expect((await ask("GET / HTTP/1.1\r\n\r\n")).status).toBe(400);
    expect((await ask("GET / HTTP/1.0\r\n\r\n")).status).toBe(200);
  });
});

describe("methods", () => {
  test.each(["TRACE", "PUT", "POST", "OPTIONS"])(
    "%s on a page is refused with a list of allowed methods",
    async (method) => {
      const answer = await ask(request(`${method} /contact`, ["X-Secret: mirrored"]));
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe("GET, HEAD");
      expect(answer.body).toBe("Method not allowed\n");
    },
  );

  test("CONNECT closes the connection", async () => {
    expect(await exchange(port, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")).toBe("");
  });

  test("an upgrade and an unknown expectation are ignored", async () => {
    for (const header of ["Upgrade: websocket", "Expect: the-unexpected"]) {
      expect((await ask(request("GET /healthz", [header]))).body).toBe('{"status":"ok"}');
    }
  });
});

test.each(["evil.example", "evil.example:1", "a b<script>", "", "localhost, evil.example", "[::1", "\u00ff"])(
  "a forged host such as %j does not appear in a page or a redirect",
  async (host) => {
    const text = (line: string, rest: string) => `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${rest}`;
    const page = await exchange(port, text("GET /contact", "X-Forwarded-Host: evil.example\r\n\r\n"));
    expect(page).toContain("Get in Touch");
    const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\nname=A";
    const sentBack = await exchange(port, text("POST /send-email", form));
    expect(sentBack).toMatch(/^HTTP\/1.1 422 /);
    for (const received of [page, sentBack]) expect(received).not.toMatch(/evil\.example|<script>(?!add)/);
  },
);

test("a body above the limit is refused, even in chunks without a total length", async () => {
  const chunk = `1000\r\n${"x".repeat(0x1000)}\r\n`;
  const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
  const { status } = await ask(request("POST /send-email", headers, chunk.repeat(20)));
  expect(status).toBe(413);
});

test("no answer names the software behind it", async () => {
  for (const line of ["GET /", "GET /healthz", "POST /send-email", "GET /assets/x", "BREW /"]) {
    const { headers, body } = await ask(request(line));
    expect(Object.keys(headers).filter((name) => ["server", "x-powered-by"].includes(name))).toEqual([]);
    expect(body).not.toMatch(/fastify|node_modules|FST_|\bat .*:\d+/i);
  }
});
