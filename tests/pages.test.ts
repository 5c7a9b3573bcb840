import { readFileSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadBuild, type ServedFile } from "../server/http/build-files.ts";
import { LIMITS } from "../server/http/limits.ts";
import { createSite, sentQuery } from "../server/http/pages.ts";
import { StoreUnavailable } from "../server/store/model.ts";
import type { Store } from "../server/store/store.ts";
import { messageWith } from "./store-contract/samples.ts";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { ask, filmPath, listen, openPort, request } from "./support/raw-http.ts";
import { untilEnd } from "./support/until-end.ts";

let subject: AppUnderTest;
beforeAll(async () => {
  subject = await openApp();
});
afterAll(() => subject.close());

const get = (url: string, headers: Record<string, string> = {}) => subject.app.inject({ url, headers });
const contactHtml = () => readFileSync("dist/contact/index.html");

test("a page has the encoding that the client accepts, with a strong tag per encoding, or status 304", async () => {
  const decode = { br: brotliDecompressSync, gzip: gunzipSync, "": (bytes: Buffer) => bytes };
  const tags = new Set<unknown>();
  for (const [accepted, encoding] of [["gzip, br", "br"] as const, ["gzip", "gzip"] as const, ["", ""] as const]) {
    const { headers, rawPayload } = await get("/contact", { "accept-encoding": accepted });
    expect(headers).toMatchObject({ vary: "accept-encoding", "cache-control": "no-cache" });
    expect(headers["content-encoding"] ?? "").toBe(encoding);
    expect(decode[encoding](rawPayload)).toEqual(contactHtml());
    expect(headers.etag).toMatch(/^"[\w-]+"$/);
    tags.add(headers.etag);
    const again = await get("/contact", { "accept-encoding": accepted, "if-none-match": String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  }
  expect(tags.size).toBe(3);
  const weak = `"other", W/${[...tags].at(-1)}`;
  expect((await get("/contact", { "if-none-match": weak })).statusCode).toBe(304);
  expect((await get("/contact", { "if-none-match": '"other"' })).statusCode).toBe(200);
  const head = await subject.app.inject({ method: "HEAD", url: "/contact" });
  expect([head.statusCode, head.body]).toEqual([200, ""]);
  expect(head.headers["content-length"]).toBe(String(contactHtml().length));
});

test("a film is served whole or by range, and cached for a year", async () => {
  const url = filmPath();
  const whole = await get(url);
  expect(whole.statusCode).toBe(200);
  expect(whole.headers).toMatchObject({ "accept-ranges": "bytes", "content-type": "video/mp4" });
  expect(whole.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  const size = whole.rawPayload.length;

  const part = await get(url, { range: "bytes=2-5" });
  expect(part.statusCode).toBe(206);
  expect(part.headers["content-range"]).toBe(`bytes 2-5/${size}`);
  expect(part.rawPayload).toEqual(whole.rawPayload.subarray(2, 6));

  expect((await get(url, { range: "bytes=2-5", "if-range": '"older"' })).statusCode).toBe(200);
  expect((await get(url, { "if-none-match": String(whole.headers.etag) })).statusCode).toBe(304);
  const head = await subject.app.inject({ method: "HEAD", url });
  expect(head.headers["content-length"]).toBe(String(size));
});

test("reports whether it runs and whether it can accept messages", async () => {
  expect((await get("/healthz")).json()).toEqual({ status: "ok" });
  expect((await get("/readyz")).json()).toEqual({ status: "ready" });
  const cut = await untilEnd(openApp({}, { status: { ping: () => Promise.reject(new Error("gone")) } }));
  expect((await cut.app.inject("/readyz")).statusCode).toBe(503);
  expect((await cut.app.inject("/healthz")).statusCode).toBe(200);
});

test("sends pages while the rest is loaded, and answers other requests once it is", async () => {
  const site = createSite(loadBuild("dist"), LIMITS);
  const port = await openPort(site.server);
  const readiness = ask(port, request("GET /readyz"));
  expect((await ask(port, request("GET /contact?from=mail"))).status).toBe(200);
  const { app } = await untilEnd(openApp({}, {}, { site }));
  await app.ready();
  expect((await readiness).body).toBe('{"status":"ready"}');
});

test("answers a request from the network exactly as one that a test injects", async () => {
  const port = await listen(subject);
  const shown = `/contact?${sentQuery("BC-7K3Q-9M", subject.store.secret)}`;
  for (const text of [
    ...["GET /contact", "GET /contact?", "HEAD /contact", "PUT /contact", `GET ${shown}`, "GET /favicon.svg"],
    ...["GET /404.html", "GET /about", "GET /%zz", "DELETE /%zz", "GET /assets/none.js", "HEAD /assets/none.js"],
    ...["GET //contact/", "GET /%63ontact#x", "GET http://evil.example/contact", "POST /contact", "PUT /healthz"],
    ...["PUT /send-email", "PUT /send-email/", "GET /send-email/", "GET /%68ealthz", "DELETE /healthz"],
    `GET /contact if-none-match: ${(await get("/contact")).headers.etag}`,
    `GET ${filmPath()} range: bytes=2-5`,
  ]) {
    const [method, url, name = "x:", value = "y"] = text.split(" ");
    const received = await ask(port, request(`${method} ${url}`, [`${name} ${value}`]));
    const headers = { [name.slice(0, -1)]: value };
    const injected = await subject.app.inject({ url: `${url}`, method: method as "GET", headers });
    // These headers belong to the connection, which an injected request does not have.
    for (const headers of [received.headers, injected.headers]) {
      delete headers.date;
      delete headers.connection;
    }
    const expected = { status: injected.statusCode, headers: injected.headers, body: injected.body };
    expect(received, text).toEqual(expected);
  }
});

test("a failing page or handler shows the error screen without a stack trace, and the server keeps running", async () => {
  const build = loadBuild("dist");
  const page = build.files.get("/contact") as ServedFile;
  let isBroken = false;
  const broken = {
    ...page,
    get variants() {
      if (isBroken) throw new Error("secret detail");
      return page.variants;
    },
  };
  const failing = await untilEnd(
    openApp({}, {}, { build: { ...build, files: new Map(build.files).set("/contact", broken) } }),
  );
  failing.app.get("/made-to-fail", () => broken.variants);
  const port = await listen(failing);
  isBroken = true;
  const injected = async () => {
    const { statusCode: status, headers, body } = await failing.app.inject("/made-to-fail");
    return { status, headers, body };
  };
  for (const [index, fail] of [() => ask(port, request("GET /contact")), injected].entries()) {
    const answer = await fail();
    // The same defect is logged once.
    expect((await fail()).status).toBe(500);
    expect(answer.status).toBe(500);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect(answer.body).toContain("Unexpected Application Error!");
    expect(answer.body).toContain("500 Internal Server Error");
    expect(answer.body).not.toMatch(/secret detail|\.[jt]s:\d/);
    expect(failing.log().match(/"event":"failure"/g)).toHaveLength(index + 1);
  }
  expect(failing.log()).not.toContain("secret detail");
  expect((await ask(port, request("GET /"))).status).toBe(200);
});

test("after a post without script, the page shows the address, the time and the estimate for ten minutes", async () => {
  let minutes = 0;
  let isStoreAway = false;
  const now = () => new Date(Date.UTC(2026, 10, 16, 12, minutes));
  const find: Store["messages"]["find"] = (reference) =>
    isStoreAway ? Promise.reject(new StoreUnavailable({ problem: "away" })) : other.store.messages.find(reference);
  const other = await untilEnd(openApp({}, { messages: { find } }, { now }));
  const fields = { ...messageWith(), "footprint.carKm": "4321" };
  const { headers } = await other.app.inject({
    method: "POST",
    url: "/send-email",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: new URLSearchParams(fields).toString(),
  });
  const location = String(headers.location);
  const shown = async () => (await other.app.inject(location.replace(/#.*/, ""))).body;
  const parts = [
    "16 November 2026 at 12:00 UTC",
    messageWith().email,
    "about 900\u00a0kg\u00a0CO₂e a year",
    'data-fact="range"',
  ];
  const hasEstimate = async () => {
    const page = await shown();
    const found = parts.filter((part) => page.includes(part));
    expect([0, parts.length]).toContain(found.length);
    return found.length > 0;
  };
  expect(await hasEstimate()).toBe(true);
  minutes = 10;
  expect(await hasEstimate()).toBe(true);
  isStoreAway = true;
  expect([await hasEstimate(), /<b [^>]*>BC-/.test(await shown())]).toEqual([false, true]);
  [minutes, isStoreAway] = [11, false];
  expect([await hasEstimate(), /<b [^>]*>BC-/.test(await shown())]).toEqual([false, true]);
  minutes = 0;
  expect(await hasEstimate()).toBe(true);
  expect(other.log()).not.toMatch(/"level":[56]0/);
});
