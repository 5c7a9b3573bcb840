import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { checkHook } from "../server/desk/preflight.ts";
import { failureOf, postEvent } from "../server/outbox/hook.ts";
import { MINUTE_MS } from "../server/time.ts";
import { createManualMailer, openPostOffice } from "./support/post-office.ts";
import { startReceiver, status } from "./support/receiver.ts";

// tests/outbox.test.ts covers the behaviour that all channels share.

const SECRET = `whsec_${Buffer.alloc(32, "a").toString("base64")}`;
const NEW_SECRET = `whsec_${Buffer.alloc(32, "b").toString("base64")}`;

/** The content according to the verifier that receivers use, at the time of the post. */
function verified({ headers, text }: { headers: IncomingHttpHeaders; text: string }, secret = SECRET): unknown {
  vi.useFakeTimers({ toFake: ["Date"], now: Number(headers["webhook-timestamp"]) * 1000 });
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

async function openHookOffice(secrets: readonly string[] = [SECRET]) {
  const office = await openPostOffice({ channels: ["mail", "hook"] });
  const receiver = await startReceiver();
  return {
    ...office,
    receiver,
    start: () => office.start(createManualMailer(), { hook: { url: receiver.url, secrets } }),
    seen: (event: string, nth = 1) => office.log.seen(event, nth, "hook"),
  };
}

it("posts each message completely, signed with every secret", async () => {
  const { accept, clock, receiver, start, seen, message } = await openHookOffice([SECRET, NEW_SECRET]);
  const reference = await accept({ name: "Ada Lovelace", country: "GB" });
  start();
  await seen("delivered");
  const [post] = receiver.posts;
  if (!post || receiver.posts.length > 1) throw new Error("not one post");
  const { id, acceptedAt, name, email, phone, country, message: text } = await message(reference);
  const timestamp = acceptedAt.toISOString();
  const data = { reference, acceptedAt: timestamp, name, email, phone, country, message: text, footprint: null };
  expect(verified(post)).toEqual({ type: "message.accepted", timestamp, data });
  // Either side can change its secret first.
  expect(verified(post, NEW_SECRET)).toEqual(verified(post));
  expect(() => verified(post, `whsec_${Buffer.alloc(32, "c").toString("base64")}`)).toThrow();
  expect(post.headers).toMatchObject({
    "webhook-id": `${reference}.${id}`,
    "webhook-timestamp": String(clock.now().getTime() / 1000),
    "content-type": "application/json",
  });
});

it("posts with the same id until the receiver accepts the message", async () => {
  const { accept, clock, receiver, start, seen, store } = await openHookOffice();
  receiver.answer = status(500);
  const reference = await accept();
  const outbox = start();
  const { dueAt = clock.now(), error } = await seen("deferred");
  expect(error).toBe("status 500");
  receiver.answer = status(410);
  await clock.advanceTo(dueAt);
  expect(await seen("failed")).toMatchObject({ level: "error", error: expect.stringContaining("410") });
  receiver.answer = status(204);
  await store.messages.act("retry", { references: [reference] }, clock.now());
  outbox.wake();
  await seen("delivered");
  const ids = receiver.posts.map(({ headers }) => headers["webhook-id"]);
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
});

describe("a receiver", () => {
  it("that asks to wait gets no posts until then", async () => {
    const { accept, clock, receiver, seen, start } = await openHookOffice();
    receiver.answer = status(429, { "retry-after": "600" });
    await accept();
    const outbox = start();
    expect(await seen("queue-paused")).toMatchObject({ level: "error", error: "status 429" });
    expect(outbox.pauses).toMatchObject([{ channel: "hook" }]);
    const { dueAt } = await seen("deferred");
    expect(dueAt).toEqual(new Date(clock.now().getTime() + 10 * MINUTE_MS));
    await accept();
    outbox.wake();
    receiver.answer = status(200);
    await clock.advance(10 * MINUTE_MS - 1);
    expect(receiver.posts).toHaveLength(1);
    await clock.advance(1);
    await seen("queue-resumed");
    await seen("delivered", 2);
  });

  const ping = (url: string, now = new Date()) => {
    const event = { id: "1", type: "ping", timestamp: now, data: {} } as const;
    return postEvent({ url, secrets: [SECRET] }, event, now);
  };

  it("cannot redirect to another URL", async () => {
    const other = await startReceiver();
    const receiver = await startReceiver(status(307, { location: other.url }));
    expect(failureOf(await ping(receiver.url))?.message).toBe("status 307: redirects are not followed");
    expect(other.posts).toEqual([]);
  });

  it("that sends an endless answer is disconnected after 64 KiB, and its status counts", async () => {
    // The time limit would disconnect it too.
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
    const wasReadToTheEnd = Promise.withResolvers<boolean>();
    const receiver = await startReceiver((response) => {
      // More than the system's buffers hold.
      let chunksLeft = 4096;
      const write = () => {
        chunksLeft -= 1;
        if (chunksLeft === 0) response.end();
        else if (!response.destroyed) response.write(Buffer.alloc(16_384, "x"), () => setImmediate(write));
      };
      response.once("close", () => wasReadToTheEnd.resolve(response.writableFinished)).writeHead(200);
      write();
    });
    expect(await ping(receiver.url)).toMatchObject({ status: 200, text: "x".repeat(64 * 1024) });
    expect(await wasReadToTheEnd.promise).toBe(false);
  });

  it("that answers slowly or not at all does not prolong the attempt, and its status counts if it arrived", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    /** The result if the time limit is reached once this has happened. */
    const pingUntil = async (event: () => unknown, url: string) => {
      const limit = new AbortController();
      vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
      const answer = ping(url);
      await event();
      limit.abort(new DOMException("", "TimeoutError"));
      return answer;
    };
    const posted = Promise.withResolvers<void>();
    const silent = await startReceiver(() => posted.resolve());
    const timeout = { kind: "temporary", message: "no answer within 15 s" };
    expect(await pingUntil(() => posted.promise, silent.url)).toEqual(timeout);
    const trickling = await startReceiver((response) => void response.writeHead(200).write("a"));
    const status = () => fetched.mock.results.at(-1)?.value;
    expect(await pingUntil(status, trickling.url)).toMatchObject({ status: 200 });
  });
});

it("preflight posts a signed ping, and shows the answer", async () => {
  const receiver = await startReceiver((response) => response.end("pong"));
  const hook = { url: receiver.url, secrets: [SECRET] };
  const [finding] = await checkHook(hook, new Date());
  expect(finding).toMatchObject({
    state: "ok",
    detail: expect.stringMatching(/accepted a signed ping \(status 200\): pong$/),
  });
  const [post] = receiver.posts;
  expect(post && verified(post)).toMatchObject({ type: "ping", data: {} });
  receiver.answer = (response) => response.writeHead(401).end("no");
  expect(await checkHook(hook, new Date())).toMatchObject([
    { state: "fail", detail: expect.stringMatching(/did not accept a signed ping: status 401: no$/) },
  ]);
  expect(await checkHook(null, new Date())).toEqual([]);
});
