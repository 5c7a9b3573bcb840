import { beforeEach, describe, expect, test, vi } from "vitest";
import { REFERENCE_PATTERN } from "../contract/send-email-answer.ts";
import { countPerWindow, LIMITS } from "../server/http/limits.ts";
import { StoreUnavailable } from "../server/store/errors.ts";
import { MINUTE_MS } from "../server/time.ts";
import { estimateOf, NOON } from "./store-contract/samples.ts";
import { type AppUnderTest, openApp } from "./support/app.ts";
import { longestText } from "./support/longest-text.ts";
import { exchange, listen, request } from "./support/raw-http.ts";
import { untilEnd } from "./support/until-end.ts";

const BODY = { name: "Ada", email: "ada@example.com", phone: "+44 1", country: "GB", message: "Hello" };

let subject: AppUnderTest;
beforeEach(async () => {
  subject = await openApp();
  return () => subject.close();
});

function post({ body = BODY as unknown, headers = {}, remoteAddress = "192.0.2.1", to = subject } = {}) {
  const payload = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return to.app.inject({
    method: "POST",
    url: "/send-email",
    payload,
    headers: { "content-type": "application/json", ...headers },
    remoteAddress,
  });
}
/** Opens another app for the current test only. */
const openAnother = (...options: Parameters<typeof openApp>) => untilEnd(openApp(...options));

test("a request with only the five strings stores the message and returns its reference", async () => {
  const answer = await post();
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ success: true, reference: expect.stringMatching(REFERENCE_PATTERN) });
  expect(await subject.store.messages.find(answer.json().reference)).toMatchObject({ ...BODY, state: "queued" });
  expect(subject.wakes()).toBe(1);
});

const WRONG = { "footprint.carKm": "Enter 0 or more." };

test.each([
  [400, "application/json", ""],
  [400, "application/json", "{"],
  [400, "application/json", "[]"],
  [400, "application/json", `${JSON.stringify(BODY).slice(0, -1)},"footprint":{"__proto__":{"carKm":1}}}`],
  [415, "text/plain", JSON.stringify(BODY)],
  [413, "application/json", JSON.stringify({ ...BODY, message: "x".repeat(70_000) })],
  [400, "application/json", Buffer.from(JSON.stringify({ ...BODY, name: "Zoë" }), "latin1"), "not valid UTF-8"],
  [422, "application/json", { ...BODY, footprint: { carKm: -1 } }, /^Please correct the marked fields\.$/, WRONG],
])("answers %i and JSON to an unusable %s (case %#)", async (status, type, body, error = "", fields = undefined) => {
  const answer = await post({ body, headers: { "content-type": type } });
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual({ success: false, error: expect.stringMatching(error), fields });
  expect(await subject.store.messages.list({})).toEqual([]);
});

test("the address leads to the form, where a browser opens it after a refused post", async () => {
  for (const url of ["/send-email", "/send-email/", "//send-email//?a=b"]) {
    const answer = await subject.app.inject({ url });
    expect([answer.statusCode, answer.headers.location], url).toEqual([303, "/contact"]);
  }
});

test("no function reads a header that is far too long, and the post is refused", async () => {
  const behindProxy = await openAnother({ RATE_LIMIT: "5/10m", TRUST_PROXY: "127.0.0.1" });
  const port = await listen(behindProxy);
  const tooLong = "long".repeat(3500);
  const body = JSON.stringify(BODY);
  for (const [name, value] of [
    ["Origin", `http://${tooLong}.example`],
    ["Content-Type", `application/json; charset=${tooLong}`],
    ["Idempotency-Key", tooLong],
    ["X-Forwarded-For", `192.0.2.1, ${tooLong}`],
    ["Sec-Fetch-Site", tooLong],
    ["Referer", `http://localhost/${tooLong}`],
    ["Accept", `text/${tooLong}`],
  ] as const) {
    const headers = ["Content-Type: application/json", `Content-Length: ${body.length}`].filter(
      (line) => !line.startsWith(name),
    );
    let received = "";
    const longest = await longestText("longlong", async () => {
      received = await exchange(port, request("POST /send-email", [...headers, `${name}: ${value}`], body));
    });
    expect(longest, name).toBeLessThanOrEqual(1000);
    const isRead = !["Referer", "Accept"].includes(name);
    expect(received, name).toMatch(isRead ? /^HTTP\/1\.1 400 .+"A header is too long\."/s : /^HTTP\/1\.1 200 /);
  }
});

test("the same key and body, or the same text, are one message; a reused or invalid key is refused", async () => {
  const withKey = (key: string, message = BODY.message) =>
    post({ headers: { "idempotency-key": key }, body: { ...BODY, message } });
  const first = await withKey("a-key");
  for (const again of [await withKey("a-key"), await post()]) expect(again.json()).toEqual(first.json());
  expect((await withKey("a-key", "Other")).statusCode).toBe(422);
  for (const bad of ["", "x".repeat(256), "a b"]) expect((await withKey(bad)).statusCode).toBe(400);
  expect(await subject.store.messages.list({})).toHaveLength(1);
});

test("a filled trap causes quarantine: the message is stored with its estimate and answered, but not mailed", async () => {
  const answer = await post({ body: { ...BODY, footprint: { carKm: 1 }, topic_code: "spam" } });
  const footprint = estimateOf({ carKm: 1 });
  expect(answer.json()).toMatchObject({ success: true, footprint: { totalKg: footprint.totalKg } });
  expect(await subject.store.messages.find(answer.json().reference)).toMatchObject({ state: "quarantined", footprint });
  expect(subject.wakes()).toBe(0);
});

describe("limits per client", () => {
  const send = (app: AppUnderTest, message: string, remoteAddress: string, headers = {}) =>
    post({ to: app, body: { ...BODY, message }, remoteAddress, headers });

  test("refuse with 429 and Retry-After, count an IPv6 /64 as one client, and do not count repeats or refusals", async () => {
    const app = await openAnother({ RATE_LIMIT: "2/10m" }, {}, { now: () => NOON });
    expect((await post({ to: app, body: { ...BODY, name: "" }, remoteAddress: "2001:db8::1" })).statusCode).toBe(422);
    const key = { "idempotency-key": "a-key" };
    for (const [host, message, headers] of [
      [1, "1", key],
      [1, "1", key],
      [2, "1"],
      [3, "2"],
    ] as const) {
      expect((await send(app, message, `2001:db8::${host}`, headers)).statusCode).toBe(200);
    }
    const third = await send(app, "3", "2001:db8::3");
    expect(third.statusCode).toBe(429);
    expect(third.headers["retry-after"]).toBe("600");
    expect(third.json().error).toContain("10 minutes");
    expect((await send(app, "4", "2001:db8:0:1::1")).statusCode).toBe(200);
  });

  test("end refused posts after 60 in ten minutes, per node, with Retry-After and without reading the body", async () => {
    let minutes = 0;
    const now = () => new Date(NOON.getTime() + minutes * MINUTE_MS);
    const app = await openAnother({ RATE_LIMIT: "5/10m", ALLOWED_ORIGINS: "https://pages.example" }, {}, { now });
    const FORM = { "content-type": "application/x-www-form-urlencoded" };
    const wrong = [
      { body: "{" },
      { body: { ...BODY, name: "" } },
      { body: "x", headers: { "content-type": "text/plain" } },
      { body: "x".repeat(70_000) },
      { body: "name=", headers: FORM },
    ];
    const from = (last: number) => ({ to: app, remoteAddress: `2001:db8::${last}` });
    for (let count = 0; count < 60; count += 1) {
      const { statusCode } = await post({ ...from(count + 1), ...wrong[count % wrong.length] });
      expect([400, 413, 415, 422]).toContain(statusCode);
    }
    minutes = 4;
    const origin = { origin: "https://pages.example" };
    const answer = await post({ ...from(99), body: BODY, headers: origin });
    expect(answer.statusCode).toBe(429);
    expect(answer.headers).toMatchObject({ "retry-after": "360", "access-control-allow-origin": origin.origin });
    const error = "Several of your messages were refused. Please try again in 6 minutes.";
    expect(answer.json()).toEqual({ success: false, error });
    const page = await post({ ...from(99), body: "name=", headers: FORM });
    expect([page.statusCode, page.headers["retry-after"], page.headers["cache-control"]]).toEqual([
      429,
      "360",
      "no-store",
    ]);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.body).toContain(
      `<h1>Your message was not sent</h1><p>${error}<p>Go back: your text is still in the form.`,
    );
    expect((await app.ask("/contact")).statusCode).toBe(200);
    expect((await send(app, "1", "2001:db8:0:1::1")).statusCode).toBe(200);
    minutes = 10;
    expect((await post(from(99))).statusCode).toBe(200);
  });

  test("of refused posts end with RATE_LIMIT=off, and remember at most 10,000 clients", async () => {
    const off = await openAnother({ RATE_LIMIT: "off" });
    for (let count = 0; count < 70; count += 1) expect((await post({ to: off, body: "{" })).statusCode).toBe(400);
    const refusals = countPerWindow(LIMITS.maxRefusals, LIMITS);
    const address = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
    for (let count = 0; count < 60; count += 1) for (const number of [0, 1]) refusals.note(address(number), 0);
    const waits = (nowMs: number) => [0, 1].map((number) => refusals.waitMs(address(number), nowMs));
    for (let number = 2; number < 10_000; number += 1) refusals.note(address(number), 0);
    expect(waits(0)).toEqual([10 * MINUTE_MS, 10 * MINUTE_MS]);
    expect(waits(10 * MINUTE_MS)).toEqual([0, 0]);
    refusals.note(address(10_000), 0);
    expect(waits(0)).toEqual([0, 0]);
  });

  test("end repeats of a stored body after ten in ten minutes, but no other message and no other visitor", async () => {
    let minutes = 0;
    let isAway = true;
    const now = () => new Date(NOON.getTime() + minutes * MINUTE_MS);
    const accept: (typeof subject.store)["intake"]["accept"] = (...args) =>
      isAway ? Promise.reject(new StoreUnavailable({ problem: "away" })) : app.store.intake.accept(...args);
    const app = await openAnother({ RATE_LIMIT: "9/10m" }, { intake: { accept } }, { now });
    // What was refused is no repeat: ten presses in an outage are one visitor.
    for (let count = 0; count < 15; count += 1) expect((await send(app, "1", "192.0.2.1")).statusCode).toBe(503);
    isAway = false;
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await send(app, "1", "192.0.2.1")).statusCode);
    expect(statuses).toEqual([...Array(10).fill(200), 429]);
    minutes = 4;
    const eleventh = await send(app, "1", "192.0.2.1");
    expect([eleventh.statusCode, eleventh.headers["retry-after"]]).toEqual([429, "360"]);
    expect((await send(app, "2", "192.0.2.1")).statusCode).toBe(200);
    expect((await send(app, "1", "192.0.2.9")).statusCode).toBe(200);
    minutes = 10;
    expect((await send(app, "1", "192.0.2.1")).statusCode).toBe(200);
    const off = await openAnother({ RATE_LIMIT: "off" });
    for (let count = 0; count < 12; count += 1) expect((await send(off, "1", "192.0.2.1")).statusCode).toBe(200);
  });

  test("use a forwarded address only from a trusted proxy", async () => {
    const forwarded = (address: string) => ({ "x-forwarded-for": address });
    const app = await openAnother({ RATE_LIMIT: "1/10m", TRUST_PROXY: "10.0.0.1" });
    expect((await send(app, "1", "10.0.0.1", forwarded("192.0.2.1"))).statusCode).toBe(200);
    expect((await send(app, "2", "10.0.0.1", forwarded("192.0.2.2"))).statusCode).toBe(200);
    expect((await send(app, "3", "10.0.0.1", forwarded("192.0.2.9, 192.0.2.1"))).statusCode).toBe(429);
    expect((await send(app, "4", "10.0.0.2", forwarded("192.0.2.3"))).statusCode).toBe(200);
    expect((await send(app, "5", "10.0.0.2", forwarded("192.0.2.4"))).statusCode).toBe(429);
  });
});

test("a footprint estimate is computed from the inputs and the message's country, stored, and returned without rounding", async () => {
  const inputs = { electricityKwh: "1,500.5", carKm: 12_000, carFuel: "diesel", longFlights: 1, hotelNights: 3 };
  const { reference, footprint } = (await post({ body: { ...BODY, footprint: inputs } })).json();
  expect(footprint).toEqual({ totalKg: estimateOf(inputs, "GB").totalKg });
  expect((await subject.store.messages.find(reference))?.footprint).toEqual(estimateOf(inputs, "GB"));
  const abroad = await post({ body: { ...BODY, country: "IN", footprint: inputs } });
  expect(abroad.json().footprint).toEqual({ totalKg: estimateOf(inputs, "IN").totalKg });
  const nowhere = await post({ body: { ...BODY, country: "", footprint: { electricityKwh: 1000 } } });
  expect(nowhere.json().footprint.totalKg).toBeCloseTo(472.94, 9);
});

test("other origins are refused with 403, before the body is read", async () => {
  const answer = await post({ headers: { origin: "https://evil.example" }, body: "{" });
  expect([answer.statusCode, answer.json().success]).toEqual([403, false]);
});

test("other origins may post if they are allowed, with the headers that browsers require", async () => {
  const app = await openAnother({ ALLOWED_ORIGINS: "https://pages.example" });
  const headers = { origin: "https://pages.example" };
  const preflight = await app.app.inject({ method: "OPTIONS", url: "/send-email", headers });
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": "https://pages.example",
    "access-control-allow-headers": "content-type, idempotency-key",
    vary: "origin",
  });
  const answer = await post({ to: app, headers });
  expect(answer.headers["access-control-allow-origin"]).toBe("https://pages.example");
  expect(answer.headers["access-control-expose-headers"]).toBe("retry-after");
  expect(answer.json().success).toBe(true);
});

describe("a form without script", () => {
  const form = (fields: Record<string, string> | Buffer, to = subject) => {
    const body = Buffer.isBuffer(fields) ? fields : String(new URLSearchParams(fields));
    return post({ to, body, headers: { "content-type": "application/x-www-form-urlencoded" } });
  };

  const pageAt = async (location: string) => (await subject.ask(location.split("#")[0] ?? "")).body;

  test("gets the contact page back if it is refused, with every value and error in its place, and nothing is logged", async () => {
    const [before, hostile] = [await pageAt("/contact"), `"'><i>&amp;`];
    const wrong = {
      ...BODY,
      name: " ",
      phone: hostile,
      "footprint.carKm": "far",
      "footprint.<b>": "1",
      report: hostile,
    };
    const { statusCode, headers, body } = await form(wrong);
    expect([statusCode, headers["cache-control"], headers.location]).toEqual([422, "no-store", undefined]);
    expect(body.match(/<title>[^<]*/)?.[0]).toBe("<title>Error: Contact us | Brighter Carbon");
    expect([...body.matchAll(/<li><a href="#([^"]+)">([^<]+)/g)].map(([, ...problem]) => problem)).toEqual([
      ["name", "Enter your name."],
      ["footprint.carKm", "Car: Enter a number, such as 1,500."],
      ["footprint", "There is no field &quot;&lt;b&gt;&quot; in the estimate."],
    ]);
    expect(body.match(/class="field-error"/g)).toHaveLength(2);
    expect(body).toContain("There are 3 problems");
    expect(body).not.toContain("#.###");
    expect(body).toContain(`name="phone" value="&quot;&#x27;&gt;&lt;i&gt;&amp;amp;"`);
    expect(body).not.toContain(hostile);
    expect(body).toMatch(/<option value="GB" selected="">/);
    expect(body).toMatch(/<details class="footprint"[^>]* open="">/);
    expect(subject.log()).not.toContain("far");
    expect(await pageAt("/contact")).toBe(before);
  });

  const eachWith = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index.toString(36)}`).join("&");
  test.for([
    ["13,000 other names", eachWith("", 13_000), ["name"]],
    ["3,600 names for the estimate", eachWith("footprint.", 3600), ["name", "footprint"]],
    [
      "an unknown name for the estimate before one that only looks like it",
      "footprint.x=1&footprintx=1",
      ["name", "footprint"],
    ],
    ["8,000 times the same name", "phone=2&".repeat(8000), ["name"]],
    ["coded names", eachWith("%66ootprint%2E", 2500), ["name", "footprint"]],
  ] as const)("of %s, reads each of our own once, and no other comes back", async ([, names, wrong]) => {
    const ours = String(new URLSearchParams({ ...BODY, name: "" }));
    // It takes nearly all of the time: 10 µs for each name.
    const parse = vi.spyOn(globalThis, "URLSearchParams");
    const answer = await form(Buffer.from(`${names}&${ours}`));
    expect(answer.statusCode).toBe(422);
    expect([...answer.body.matchAll(/<li><a href="#([^"]+)">/g)].map(([, name]) => name)).toEqual(wrong);
    expect(answer.body.match(/9zz|2rr/g)?.length ?? 0).toBeLessThanOrEqual(1);
    const lengths = parse.mock.calls.map(([text]) => String(text).length);
    expect(Math.max(...lengths)).toBeLessThan(2 * ours.length);
  });

  test("is redirected to the contact page, which shows its reference and estimate unless the link is forged", async () => {
    const answer = await form({
      ...BODY,
      "footprint.electricityKwh": "",
      "footprint.carKm": "10 000",
      "footprint.carFuel": "petrol",
      "footprint.for": "organisation",
      "footprint.people": "40",
      topic_code: "",
    });
    expect([answer.statusCode, subject.wakes()]).toEqual([303, 1]);
    const location = String(answer.headers.location);
    expect(location).toMatch(/^contact\?reference=BC-\w{4}-\w{2}&code=[\w-]{16}#message-sent$/);
    const estimate = estimateOf({ carKm: 10_000, for: "organisation", people: 40 });
    expect((await subject.store.messages.list({}))[0]?.footprint).toEqual(estimate);
    const reference = /BC-\w{4}-\w{2}/.exec(location)?.[0] ?? "";
    const page = await pageAt(`/${location}`);
    expect(page).toMatch(new RegExp(`Your reference is</span> <b [^>]*>${reference}</b>`));
    expect(page.match(/<title>[^<]*/)?.[0]).toBe("<title>Message sent | Brighter Carbon");
    const text = page.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    for (const part of [
      `Answer goes to: ${BODY.email}`,
      "Your estimate: about 2.1 t CO₂e a year",
      "Car cut by a fifth: 420 kg less",
      "about 0.25 times round the Earth by petrol car: what such a year emits.",
      "about 52 kg for each person",
      "Published figures differ for small and large cars",
    ]) {
      expect(text).toContain(part);
    }
    expect(await pageAt(`/${location}`.replace(reference, "BC-7K3Q-9M"))).toBe(await pageAt("/contact"));
    expect(await pageAt("/contact")).not.toContain("Message sent successfully!");
  });

  test.each(["/send-email", "/send-email/", "/send-email//?a=/b"])("posted to %s leads to /contact", async (url) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await subject.ask({ method: "POST", url, headers, payload: String(new URLSearchParams(BODY)) });
    const { pathname, search } = new URL(String(answer.headers.location), `http://localhost:3000${url}`);
    expect([answer.statusCode, pathname]).toEqual([303, "/contact"]);
    expect(await pageAt(pathname + search)).toContain("Message sent successfully!");
  });

  test("may encode our names", async () => {
    const answer = await form(Buffer.from(String(new URLSearchParams(BODY)).replace("name", "n%61me")));
    expect(answer.statusCode).toBe(303);
  });

  test.each(["%C3", "Zo%EB", Buffer.from("Zoë", "latin1"), "%ED%A0%80", Buffer.from("Zo%C3\xab", "latin1")])(
    "is answered with the contact page if its text is not UTF-8 (case %#)",
    async (name) => {
      const { name: _, ...fields } = BODY;
      const answer = await form(
        Buffer.concat([Buffer.from(`${new URLSearchParams(fields)}&name=`), Buffer.from(name as string)]),
      );
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toContain("Your message could not be read. Go back one page to find what you typed.");
      expect(await subject.store.messages.list({})).toEqual([]);
    },
  );

  test("gets the contact page back with its text if it is over the limit", async () => {
    const app = await openAnother({ RATE_LIMIT: "1/10m" }, {}, { now: () => NOON });
    await form(BODY, app);
    const answer = await form({ ...BODY, message: "More" }, app);
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([429, "600"]);
    expect(answer.body).toContain(
      ">You have sent several messages already. Please try again in 10 minutes. Nothing you typed is lost.<",
    );
    expect(answer.body).toContain(">More</textarea>");
  });

  test("gets the contact page back if the store is down, as JSON gets 503 with Retry-After", async () => {
    const app = await openAnother(
      {},
      { intake: { accept: () => Promise.reject(new StoreUnavailable({ problem: "the disk is full" })) } },
    );
    const page = await form(BODY, app);
    expect(page.body).toContain("We cannot accept messages at the moment. Please try again in a minute.");
    const answer = await post({ to: app });
    for (const { statusCode, headers } of [page, answer])
      expect([statusCode, headers["retry-after"]]).toEqual([503, "30"]);
    expect(answer.json()).toEqual({ success: false, error: expect.any(String) });
  });
});
