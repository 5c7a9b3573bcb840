import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { PostgresConnection } from "../scripts/run-postgres.ts";
import { findFreePort } from "../scripts/run-server.ts";
import { checkHook } from "../server/cli/preflight-checks.ts";
import { type ConfigError, parseConfig } from "../server/config.ts";
import { refusalOf } from "../server/operator/actions.ts";
import { failureOf, isAnswering, postEvent } from "../server/outbox/hook.ts";
import { startAlerts } from "../server/watch/alerts.ts";
import { createManualMailer, openPostOffice } from "./support/post-office.ts";
import { sharePostgres } from "./support/shared-postgres.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SECRET = `whsec_${Buffer.alloc(32, "a").toString("base64")}`;
const NEW_SECRET = `whsec_${Buffer.alloc(32, "b").toString("base64")}`;

let postgres: PostgresConnection;
beforeAll(async () => {
  postgres = await sharePostgres();
}, 120_000);
afterAll(() => postgres?.stop());

interface Post {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A real server on the loopback interface; `answer` decides on each post. */
async function startReceiver(answer: (response: ServerResponse, post: Post) => void = (response) => response.end()) {
  const posts: Post[] = [];
  const receiver = { answer, posts, url: "" };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const post = { headers: request.headers, body: Buffer.concat(chunks).toString() };
    posts.push(post);
    receiver.answer(response, post);
  });
  // Longer than any test: a connection that ends just before it is used again would fail an attempt.
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

/** By the verifier that receivers use, at the time of the post. */
function verified({ headers, body }: Post, secret = SECRET): unknown {
  vi.useFakeTimers({ toFake: ["Date"], now: Number(headers["webhook-timestamp"]) * 1000 });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

const status = (code: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) => void response.writeHead(code, headers).end();
};

async function openHookOffice({ isPostgres = false, secrets = [SECRET] } = {}) {
  const office = await openPostOffice(undefined, isPostgres ? await postgres.createDatabase() : null, {
    postsHook: true,
  });
  const receiver = await startReceiver();
  const hook = { url: receiver.url, secrets };
  const mailer = createManualMailer();
  return {
    ...office,
    receiver,
    mailer,
    start: (options: Partial<Parameters<typeof office.start>[1]> = {}) => office.start(mailer, { hook, ...options }),
    hookOf: async (reference: string) => (await office.message(reference)).hook,
    kindsOf: async (reference: string) => (await office.store.history(reference)).map(({ kind }) => kind),
  };
}

describe.each(["SQLite", "PostgreSQL"])("on %s", (database) => {
  const open = () => openHookOffice({ isPostgres: database === "PostgreSQL" });

  it("posts each message once, signed, with all that its sender wrote", async () => {
    const { accept, clock, log, receiver, start, hookOf, kindsOf, message } = await open();
    const reference = await accept({ name: "Ada Lovelace", country: "GB" });
    start();
    expect(await log.seen("hook-sent")).toMatchObject({ reference, attempts: 1 });
    const [post] = receiver.posts;
    if (!post || receiver.posts.length > 1) throw new Error("not one post");
    const { id, acceptedAt, name, email, phone, country, message: text } = await message(reference);
    expect(verified(post)).toEqual({
      type: "message.accepted",
      timestamp: acceptedAt.toISOString(),
      data: {
        reference,
        acceptedAt: acceptedAt.toISOString(),
        name,
        email,
        phone,
        country,
        message: text,
        footprint: null,
      },
    });
    expect(() => verified(post, NEW_SECRET)).toThrow();
    expect(post.headers["webhook-id"]).toBe(`${reference}.${id}`);
    expect(post.headers["webhook-timestamp"]).toBe(String(clock.now().getTime() / 1000));
    expect(post.headers["content-type"]).toBe("application/json");
    expect(await hookOf(reference)).toMatchObject({ state: "sent", reason: null });
    expect(await kindsOf(reference)).toEqual(["hook-sent"]);
  });

  it("tries a receiver that fails again on the schedule of the mails, under the same id", async () => {
    const { accept, clock, log, receiver, start, hookOf, store } = await open();
    receiver.answer = status(500);
    const reference = await accept();
    start();
    const { dueAt, error } = await log.seen("hook-deferred");
    expect(error).toBe("status 500");
    expect(await hookOf(reference)).toMatchObject({ state: "queued", reason: "status 500" });
    expect((await store.queueDepth()).hook).toMatchObject({ queued: 1, failed: 0 });
    receiver.answer = status(204);
    await clock.advanceTo(dueAt ?? new Date(0));
    expect(await log.seen("hook-sent")).toMatchObject({ reference, attempts: 2 });
    const [first, second] = receiver.posts.map(({ headers }) => headers["webhook-id"]);
    expect(first).toBe(second);
    expect(receiver.posts.map((post) => verified(post))).toHaveLength(2);
  });

  it("posts what is in quarantine only once it is released", async () => {
    const { accept, clock, log, receiver, start, store } = await open();
    const reference = await accept({}, true);
    const outbox = start();
    await clock.advance(10 * MINUTE_MS);
    expect(receiver.posts).toEqual([]);
    expect((await store.queueDepth()).hook).toMatchObject({ queued: 0 });
    await store.act("release", { references: [reference] }, clock.now());
    // It waits since its release, and raises no alert as if it had waited since it came in.
    expect((await store.queueDepth()).hook).toMatchObject({ queued: 1, oldestQueuedAt: clock.now() });
    outbox.wake();
    await log.seen("hook-sent");
    expect(receiver.posts).toHaveLength(1);
  });

  it("never posts what is restricted, also not between two attempts", async () => {
    const { accept, clock, log, receiver, start, store } = await open();
    receiver.answer = status(500);
    await accept();
    start();
    const { dueAt } = await log.seen("hook-deferred");
    await store.restrict("ada@example.org", true, clock.now());
    receiver.answer = status(204);
    await clock.advanceTo(new Date((dueAt?.getTime() ?? 0) + MINUTE_MS));
    expect(receiver.posts).toHaveLength(1);
    await store.restrict("ada@example.org", false, clock.now());
    await clock.advance(MINUTE_MS);
    await log.seen("hook-sent");
  });

  it("is retried by an operator after it failed for good, and the message is not mailed again", async () => {
    const { accept, clock, log, mailer, receiver, start, store, hookOf, kindsOf } = await open();
    receiver.answer = status(410);
    const reference = await accept();
    const outbox = start();
    await mailer.received(1);
    mailer.mails[0]?.accept();
    await log.seen("delivered");
    expect(await log.seen("hook-failed")).toMatchObject({ level: "error", attempts: 1 });
    expect(await hookOf(reference)).toMatchObject({ state: "failed", reason: expect.stringContaining("410") });
    await clock.advance(10 * MINUTE_MS);
    expect(receiver.posts).toHaveLength(1);
    receiver.answer = status(200);
    expect(await store.act("retry", { since: new Date(0) }, clock.now())).toEqual([reference]);
    outbox.wake();
    await log.seen("hook-sent");
    expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(mailer.mails).toHaveLength(1);
    const kinds = await kindsOf(reference);
    expect(kinds.toSorted()).toEqual(["delivered", "hook-failed", "hook-retried", "hook-sent"]);
    expect(await store.countDeliveries("hook", new Date(0))).toMatchObject({ sent: 1, failed: 0 });
  });
});

it("is retried by an operator while it waits for its next attempt, but not with all that failed", async () => {
  const { accept, clock, log, receiver, start, store } = await openHookOffice();
  receiver.answer = status(500);
  const reference = await accept();
  const outbox = start();
  await log.seen("hook-deferred");
  receiver.answer = status(200);
  expect(await store.act("retry", { since: new Date(0) }, clock.now())).toEqual([]);
  const [message] = await store.list({});
  expect(message && refusalOf("retry", { ...message, state: "delivered" })).toBeNull();
  expect(await store.act("retry", { references: [reference] }, clock.now())).toEqual([reference]);
  outbox.wake();
  expect(await log.seen("hook-sent")).toMatchObject({ attempts: 2 });
});

describe("a receiver in trouble", () => {
  it("that never answers delays no mail, and mails that never end delay no post", async () => {
    const { accept, log, mailer, start, receiver } = await openHookOffice();
    receiver.answer = () => {};
    for (let count = 0; count < 4; count += 1) await accept();
    const outbox = start();
    await expect.poll(() => receiver.posts.length).toBe(3);
    await mailer.received(4);
    for (const mail of mailer.mails) mail.accept();
    await log.seen("delivered", 4);

    const other = await openHookOffice();
    for (let count = 0; count < 8; count += 1) await other.accept();
    other.start();
    await other.mailer.received(5);
    await other.log.seen("hook-sent", 8);
    expect(other.log.count("delivered")).toBe(0);
    await outbox.stop(1);
  });

  it("asks to wait: nothing is posted until then, and mail goes on", async () => {
    const { accept, clock, log, mailer, receiver, start } = await openHookOffice();
    receiver.answer = status(429, { "retry-after": "600" });
    await accept();
    const outbox = start();
    expect(await log.seen("hook-paused")).toMatchObject({ level: "error", error: "status 429" });
    const { dueAt } = await log.seen("hook-deferred");
    expect(dueAt).toEqual(new Date(clock.now().getTime() + 10 * MINUTE_MS));
    await accept();
    outbox.wake();
    await mailer.received(2);
    expect(outbox.state).toBe("running");
    receiver.answer = status(200);
    await clock.advance(10 * MINUTE_MS - 1);
    expect(receiver.posts).toHaveLength(1);
    await clock.advance(1);
    await log.seen("hook-resumed");
    await log.seen("hook-sent", 2);
  });

  it.each([
    ["503 with a date", 503, (now: Date) => new Date(now.getTime() + HOUR_MS).toUTCString(), HOUR_MS],
    ["a wait of a week, which is cut to four hours", 429, () => String(7 * 24 * 3600), 4 * HOUR_MS],
  ] as const)("obeys %s", async (_, code, retryAfter, expectedMs) => {
    const { accept, clock, log, receiver, start } = await openHookOffice();
    receiver.answer = status(code, { "retry-after": retryAfter(clock.now()) });
    await accept();
    start();
    const { dueAt } = await log.seen("hook-deferred");
    expect((dueAt?.getTime() ?? 0) - clock.now().getTime()).toBe(expectedMs);
  });

  it("is not followed to another address", async () => {
    const { accept, log, receiver, start } = await openHookOffice();
    const other = await startReceiver();
    receiver.answer = status(307, { location: other.url });
    await accept();
    start();
    expect((await log.seen("hook-deferred")).error).toBe("status 307: redirects are not followed");
    expect(other.posts).toEqual([]);
  });

  const ping = (url: string, timeoutMs?: number) => {
    const event = { id: "1", type: "ping", timestamp: new Date(), data: {} } as const;
    return postEvent({ url, secrets: [SECRET] }, event, new Date(), timeoutMs);
  };

  it("sends an answer without end: it is cut off after 64 KiB, and the status counts", async () => {
    let written = 0;
    const receiver = await startReceiver((response) => {
      const write = () => {
        if (response.destroyed) return;
        written += 16_384;
        response.write(Buffer.alloc(16_384, "x"), () => setImmediate(write));
      };
      response.writeHead(200);
      write();
    });
    expect(await ping(receiver.url)).toMatchObject({ status: 200, text: "x".repeat(64 * 1024) });
    await expect.poll(() => written).toBeLessThan(64 * 1024 * 1024);
  });

  it("is not there, or answers slowly: the attempt ends in time, and a status that came counts", async () => {
    const silent = await startReceiver(() => {});
    const trickling = await startReceiver((response) => void response.writeHead(200).write("a"));
    expect(await ping(silent.url, 1000)).toEqual({ problem: "no answer within 1 s", isUnreachable: false });
    expect(failureOf(await ping("http://127.0.0.1:1/", 1000))).toEqual({
      kind: "temporary",
      message: expect.stringMatching(/^no connection/),
      isUnreachable: false,
    });
    const empty = await startReceiver((response) => void response.writeHead(405).end());
    const nobody = `http://127.0.0.1:${await findFreePort()}/`;
    expect(failureOf(await ping(nobody, 1000))).toMatchObject({ kind: "temporary", isUnreachable: true });
    expect([
      await isAnswering({ url: nobody, secrets: [] }),
      await isAnswering({ url: empty.url, secrets: [] }),
    ]).toEqual([false, true]);
    expect(await ping(trickling.url, 1000)).toMatchObject({ status: 200, text: "a" });
  });
});

it("two secrets both sign, so that either end can change first", async () => {
  const { accept, log, receiver, start } = await openHookOffice({ secrets: [SECRET, NEW_SECRET] });
  await accept();
  start();
  await log.seen("hook-sent");
  const [post] = receiver.posts;
  if (!post) throw new Error("no post");
  expect(verified(post, SECRET)).toEqual(verified(post, NEW_SECRET));
});

it("switched off it leaves no trace", async () => {
  const { accept, store, log, message, start } = await openPostOffice();
  const reference = await accept();
  start(createManualMailer());
  expect((await message(reference)).hook).toBeNull();
  expect(await store.dueInMs(new Date(), "hook")).toBeNull();
  expect(log.lines.filter(({ event }) => event.startsWith("hook"))).toEqual([]);
});

it("a receiver that fails for an hour raises an alert that names it", async () => {
  const { accept, clock, log, mailer, receiver, start, store } = await openHookOffice();
  receiver.answer = status(500);
  await accept();
  const outbox = start();
  await mailer.received(1);
  mailer.mails[0]?.accept();
  await log.seen("delivered");
  await log.seen("hook-deferred");
  await outbox.stop();
  const options = { store, outbox, brand: "Brighter Carbon", alertUrl: null, log, clock };
  const alerts = startAlerts({ ...options, postsHook: true });
  onTestFinished(() => alerts.stop());
  await clock.advance(HOUR_MS - MINUTE_MS);
  expect(log.count("alert")).toBe(0);
  await clock.advance(2 * MINUTE_MS);
  const { level, troubles, text } = await log.seen("alert");
  expect([level, troubles]).toEqual(["error", ["hook-overdue"]]);
  expect(text).toMatch(/not being posted to the web hook\. The receiver of HOOK_URL .* 1 message in the queue/);
});

describe("the settings", () => {
  const problemsOf = (env: Record<string, string>) => {
    try {
      parseConfig(env);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  const HOOK_URL = "https://crm.example.com/hooks/website";

  it.each([
    [{}],
    [{ HOOK_URL, HOOK_SECRET: SECRET }],
    [{ HOOK_URL, HOOK_SECRET: `${SECRET} ${NEW_SECRET}` }],
    [{ HOOK_URL: "http://localhost:9000/", HOOK_SECRET: SECRET }],
    [{ HOOK_URL: "http://[::1]:9000/", HOOK_SECRET: SECRET }],
  ])("are taken: %o", (env) => {
    expect(problemsOf(env)).toEqual([]);
  });

  it.each([
    [{ HOOK_URL: "nonsense", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address; e\.g\./],
    [{ HOOK_URL: "http://crm.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address/],
    [{ HOOK_URL: "http://127.0.0.1.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address/],
    [{ HOOK_URL: "https://user:pass@crm.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL holds a user name/],
    [{ HOOK_URL }, /^HOOK_SECRET is not one secret/],
    [{ HOOK_URL, HOOK_SECRET: "whsec_c2hvcnQ=" }, /^HOOK_SECRET is not one secret/],
    [{ HOOK_URL, HOOK_SECRET: "a".repeat(40) }, /^HOOK_SECRET is not one secret/],
    [{ HOOK_URL, HOOK_SECRET: `${SECRET} whsec_c2hvcnQ=` }, /^HOOK_SECRET is not one secret/],
    [{ HOOK_URL, HOOK_SECRET: `${SECRET} ${SECRET} ${SECRET}` }, /^HOOK_SECRET is not one secret/],
  ])("stop the start with one line: %o", (env, line) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(line)]);
    expect(problemsOf(env).join()).not.toMatch(/whsec_\w{5,}|user:pass|\n/);
  });
});

describe("preflight", () => {
  it("posts a signed ping, and says what came back", async () => {
    const receiver = await startReceiver((response) => response.end("pong"));
    const hook = { url: receiver.url, secrets: [SECRET] };
    const [finding] = await checkHook(hook, new Date());
    expect(finding).toMatchObject({
      state: "ok",
      detail: expect.stringMatching(/took a signed ping \(status 200\): pong$/),
    });
    const [post] = receiver.posts;
    expect(post && verified(post)).toMatchObject({ type: "ping", data: {} });
    receiver.answer = (response) => response.writeHead(401).end("no");
    expect(await checkHook(hook, new Date())).toMatchObject([
      { state: "fail", detail: expect.stringMatching(/did not take a signed ping: status 401: no$/) },
    ]);
    expect(await checkHook(null, new Date())).toEqual([]);
  });
});
