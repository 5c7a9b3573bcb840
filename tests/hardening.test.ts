import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { ask as askAt, exchange, listen, request } from "./support/raw-http.ts";

let subject: AppUnderTest;
let port = 0;
beforeAll(async () => {
  subject = await openApp();
  port = await listen(subject);
});
afterAll(() => subject.close());

const ask = (text: string) => askAt(port, text);
test.each([
  ["a word", "GARBAGE\r\n\r\n", 400],
  ["two lengths", request("POST /send-email", ["Content-Length: 2", "Content-Length: 3"], "{}"), 400],
  ["headers over 16 KiB", request("GET /", [`X-A: ${"b".repeat(17_000)}`]), 431],
])("%s is answered once, and the connection is closed", async (_name, text, status) => {
  const answer = await ask(text);
  expect([answer.status, answer.headers.connection, answer.body]).toEqual([status, "close", ""]);
});

test("a request with both a length and chunks is refused, and the rest is not read as a second request", async () => {
  const headers = ["Content-Length: 4", "Transfer-Encoding: chunked"];
  const smuggled = `0\r\n\r\n${request("GET /healthz")}`;
  const received = await exchange(port, request("POST /send-email", headers, smuggled));
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test("a forged host does not appear in a page or a redirect", async () => {
  const text = (line: string, rest: string) =>
    `${line} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nX-Forwarded-Host: evil.example\r\n${rest}`;
  const page = await exchange(port, text("GET /contact", "\r\n"));
  expect(page).toContain("Get in Touch");
  const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\nname=A";
  const sentBack = await exchange(port, text("POST /send-email", form));
  expect(sentBack).toMatch(/^HTTP\/1.1 422 /);
  for (const received of [page, sentBack]) expect(received).not.toContain("evil.example");
});

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
