import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { expect, it, vi } from "vitest";
import { checkHook } from "../desk/preflight.ts";
import { hookSender, postEvent } from "../server/outbox/hook.ts";
import { openPostOffice } from "./support/post-office.ts";
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
    start: () => office.startSenders([hookSender({ url: receiver.url, secrets })]),
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
  await store.actions.act("retry", { references: [reference] }, clock.now());
  outbox.wake();
  await seen("delivered");
  const ids = receiver.posts.map(({ headers }) => headers["webhook-id"]);
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
});

const ping = (url: string, now = new Date()) => {
  const event = { id: "1", type: "ping", timestamp: now, data: {} } as const;
  return postEvent({ url, secrets: [SECRET] }, event, now);
};

it("follows no redirect to another URL", async () => {
  const other = await startReceiver();
  const receiver = await startReceiver(status(307, { location: other.url }));
  expect(await ping(receiver.url)).toMatchObject({ message: "status 307: redirects are not followed" });
  expect(other.posts).toEqual([]);
});

it("waits for no answer longer than 15 seconds, and not for the end of one", async () => {
  const endless = await startReceiver((response) => response.writeHead(200).write("a"));
  expect(await ping(endless.url)).toBeNull();
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
  const silent = await startReceiver(() => limit.abort(new DOMException("", "TimeoutError")));
  expect(await ping(silent.url)).toEqual({ kind: "temporary", message: "no answer within 15 s" });
  expect(timeout).toHaveBeenCalledWith(15_000);
});

it("preflight posts a signed ping", async () => {
  const receiver = await startReceiver();
  const hook = { url: receiver.url, secrets: [SECRET] };
  expect(await checkHook(hook, new Date())).toMatchObject([{ state: "ok" }]);
  const [post] = receiver.posts;
  expect(post && verified(post)).toMatchObject({ type: "ping", data: {} });
  receiver.answer = status(401);
  const detail = expect.stringMatching(/did not accept a signed ping: status 401$/);
  expect(await checkHook(hook, new Date())).toMatchObject([{ state: "fail", detail }]);
});
