import { readFileSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadBuild, type ServedFile } from "../server/http/build-files.ts";
import { sentQuery } from "../server/http/receipt.ts";
import { StoreUnavailable } from "../server/store/errors.ts";
import type { Store } from "../server/store/store.ts";
import { messageWith } from "./store-contract/samples.ts";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { ask, filmPath, listen, request } from "./support/raw-http.ts";
import { untilEnd } from "./support/until-end.ts";

let subject: AppUnderTest;
beforeAll(async () => {
  subject = await openApp();
});
afterAll(() => subject.close());

const get = (url: string, headers: Record<string, string> = {}) => subject.ask({ url, headers });
const contactHtml = () => readFileSync("dist/site/contact/index.html");

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
  const head = await subject.ask({ method: "HEAD", url: "/contact" });
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
  const head = await subject.ask({ method: "HEAD", url });
  expect(head.headers["content-length"]).toBe(String(size));
});

test("reports whether it runs and whether it can accept messages", async () => {
  expect(JSON.parse((await get("/healthz")).body)).toEqual({ status: "ok" });
  expect(JSON.parse((await get("/readyz")).body)).toEqual({ status: "ready" });
  const cut = await untilEnd(openApp({}, { status: { ping: () => Promise.reject(new Error("gone")) } }));
  expect((await cut.app.inject("/readyz")).statusCode).toBe(503);
  expect((await cut.app.inject("/healthz")).statusCode).toBe(200);
});

test.each([
  ...["GET /contact 200", "GET /contact? 200", "HEAD /contact 200", "GET //contact/ 200 <form"],
  ...["GET /%63ontact#x 200 <form", "GET http://evil.example/contact 200 <form", "GET /404.html 200", "GET /%zz 200"],
  ...["GET /assets/none.js 404", "HEAD /assets/none.js 404", "PUT /contact 405", "POST /contact 405"],
  ...[
    "DELETE /%zz 405",
    "OPTIONS * 405",
    "TRACE /contact 405",
    "PROPFIND /contact 405",
    "PUT /contact?reference=x 405",
  ],
  ...["GET /contact?reference=x 200", "GET //contact-us/?reference=x 200", "HEAD /contact?reference=x 200"],
  ...["GET /healthz/x 200", 'GET /%68ealthz 200 "ok"', 'GET HTTP://evil.example//readyz/ 200 "ready"'],
  ...["GET /send-email/ 303", "GET //send-email?x 303"],
])("%s, and only a route is asked of the API", async (text) => {
  const [method = "", url = "", status, part = ""] = text.split(" ");
  const { statusCode, headers, body } = await subject.ask({ method, url });
  expect(statusCode).toBe(Number(status));
  expect(body).toContain(part);
  expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "content-length": expect.any(String) });
  const isPage = statusCode === 200 && headers["content-type"] !== "application/json; charset=utf-8";
  if (isPage) expect(headers).toMatchObject({ etag: expect.any(String), "cache-control": "no-cache" });
  if (statusCode === 405) expect([headers.allow, body]).toEqual(["GET, HEAD", "Method not allowed\n"]);
});

test.each(["right", "forged"])(
  "the contact page with a %s reference is an answer with the client's encoding or an own one",
  async (kind) => {
    const query = sentQuery("BC-7K3Q-9M", subject.store.secret);
    const url = `/contact-us/?${kind === "right" ? query : query.replace("9M", "9N")}`;
    const plain = await get("/contact", { "accept-encoding": "br" });
    const shown = await get(url, { "accept-encoding": "br" });
    if (kind === "forged") {
      for (const answer of [plain, shown]) delete answer.headers.date;
      expect([shown.headers, shown.rawPayload]).toEqual([plain.headers, plain.rawPayload]);
      expect((await get(url, { "if-none-match": String((await get("/contact")).headers.etag) })).statusCode).toBe(304);
    } else {
      expect(shown.headers).toMatchObject({
        "cache-control": "no-store",
        "content-length": `${shown.rawPayload.length}`,
      });
      expect(shown.body).toContain("BC-7K3Q-9M");
      const head = await subject.ask({ method: "HEAD", url });
      expect([head.headers["content-length"], head.body]).toEqual([shown.headers["content-length"], ""]);
    }
  },
);

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
  failing.app.addHook("onRequest", async ({ url }) => {
    if (url.startsWith("/readyz")) throw new Error("secret detail");
  });
  const port = await listen(failing);
  isBroken = true;
  for (const [index, path] of ["/contact", "/readyz"].entries()) {
    const fail = () => ask(port, request(`GET ${path}`));
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
  const shown = async () => (await other.ask(`/${location.replace(/#.*/, "")}`)).body;
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
