import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { startMailServer } from "../support/mail-server.ts";
import { startNetwork } from "../support/network.ts";
import { exchange } from "../support/raw-http.ts";
import { startServer } from "../support/run-server.ts";
import { sharePostgres } from "../support/shared-postgres.ts";
import { untilEnd } from "../support/until-end.ts";

const FORWARDED = "203.0.113.77";

/** Unique words, so that the log can be searched for each of them. */
function createSecrets() {
  const secrets: string[] = [FORWARDED];
  const secret = (label: string) => {
    const word = `zq${label}${secrets.length}q`;
    secrets.push(word);
    return word;
  };
  const visitor = () => ({
    name: `Ada ${secret("name")}`,
    email: `${secret("email")}@${secret("host")}.example`,
    phone: `+${secret("phone")}`,
    country: "GB",
    message: `How much?\n${secret("message")} ${secret("words")}`,
  });
  return { secrets, secret, visitor };
}
type Secrets = ReturnType<typeof createSecrets>;

/** Sends everything that a visitor or an attacker may send. Each message has unique headers. */
async function sendEverything(url: string, { secret, visitor }: Secrets): Promise<void> {
  const status = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/send-email?${secret("query")}=${secret("value")}`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": secret("agent"),
        "x-forwarded-for": FORWARDED,
        "x-request-id": secret("id"),
        "request-id": secret("id"),
        referer: `http://localhost:3000/${secret("referer")}`,
        cookie: `${secret("cookie")}=${secret("cookie")}`,
        ...headers,
      },
      body,
    });
    await response.body?.cancel();
    return response.status;
  };
  const first = JSON.stringify(visitor());
  const key = { "idempotency-key": secret("key") };
  expect(await status(first, key)).toBe(200);
  expect(await status(first, key)).toBe(200);
  expect(await status(JSON.stringify(visitor()), key)).toBe(422);
  for (let count = 0; count < 2; count += 1) expect(await status(JSON.stringify(visitor()))).toBe(200);
  expect(await status(JSON.stringify({ ...visitor(), topic_code: secret("trap") }))).toBe(200);
  expect(await status(JSON.stringify({ ...visitor(), email: secret("bad"), [secret("field")]: 1 }))).toBe(422);
  expect(await status(JSON.stringify(visitor()).slice(0, -1))).toBe(400);
  expect(await status(`"${secret("text")}"`)).toBe(400);
  expect(await status(JSON.stringify(visitor()), { "idempotency-key": `${secret("key")} x` })).toBe(400);
  expect(await status(JSON.stringify(visitor()), { "content-type": `text/${secret("type")}` })).toBe(415);
  expect(await status(JSON.stringify({ ...visitor(), message: secret("long").repeat(10_000) }))).toBe(413);
  expect(await status(JSON.stringify(visitor()), { origin: `https://${secret("origin")}.example` })).toBe(403);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect(await status(String(new URLSearchParams(visitor())), form)).toBe(303);
  expect(await status(String(new URLSearchParams({ ...visitor(), email: secret("bad") })), form)).toBe(422);
  expect(await status(JSON.stringify(visitor()))).toBe(429);

  for (const path of ["", "contact/", "assets/", "media/", "%zz", "healthz/"]) {
    await (await fetch(`${url}/${path}${secret("path")}?${secret("query")}`, { method: "GET" })).text();
  }
  await (await fetch(`${url}/${secret("path")}`, { method: "DELETE" })).text();
  for (const text of [
    `GET /${secret("raw")} HTTP/1.1\r\nno header ${secret("raw")}\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: x\r\nlong: ${secret("raw").repeat(3000)}\r\n\r\n`,
    `${secret("raw")}\r\n\r\n`,
  ])
    await exchange(Number(new URL(url).port), text);
}

test("the log of a whole run contains no visitor data and no password", async () => {
  const words = createSecrets();
  const { secrets, secret } = words;
  const mailServer = await untilEnd(startMailServer({ hasTls: true }));
  const postgres = await untilEnd(sharePostgres());
  const network = await startNetwork(postgres.port);
  const password = secret("smtp");
  mailServer.expectPassword(password);
  const env: Record<string, string> = {
    SMTP_URL: `smtp://website:${password}@127.0.0.1:${mailServer.port}?tls.rejectUnauthorized=false`,
    // Nothing listens at this address.
    ALERT_URL: `http://operator:${secret("alert")}@127.0.0.1:1/${secret("hook")}`,
    TRUST_PROXY: "loopback",
    RATE_LIMIT: "5/10m",
    LOG_LEVEL: "trace",
    METRICS_PORT: "0",
    MAIL_TO: `team@${secret("team")}.example`,
    MAIL_FROM: `site@${secret("team")}.example`,
  };
  // Roles belong to the whole server, which other runs in watch mode share.
  const role = `site_${randomUUID().slice(0, 8)}`;
  await postgres.administer(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD '${secret("database")}'`);
  const database = new URL((await postgres.createDatabase()).replace(`:${postgres.port}/`, `:${network.port}/`));
  database.username = role;
  database.password = secrets.at(-1) ?? "";
  const server = await untilEnd(startServer({ ...env, DATABASE_URL: database.href }));

  const seen = (...events: string[]) =>
    Promise.all(events.map((event) => expect.poll(server.output, { timeout: 20_000 }).toContain(`"event":"${event}"`)));
  const post = async () => {
    const headers = { "content-type": "application/json", "x-forwarded-for": "203.0.113.78" };
    const body = JSON.stringify(words.visitor());
    return (await fetch(`${server.url}/send-email`, { method: "POST", headers, body })).status;
  };
  mailServer.behave({ kind: "refuse", at: "data", code: 451, times: 1 });
  await sendEverything(server.url, words);
  await seen("deferred", "delivered");
  mailServer.behave({ kind: "refuse", at: "data", code: 550, times: 1 });
  expect(await post()).toBe(200);
  await seen("failed");
  mailServer.behave({ kind: "refuse", at: "sender", code: 530 });
  expect(await post()).toBe(200);
  await seen("queue-paused", "alert", "alert-not-sent");
  await network.become({ kind: "silent" });
  expect(await post()).toBe(503);
  await network.become({ kind: "open" });
  expect(await server.stop()).toBe(0);

  const output = server.output();
  expect(secrets.length).toBeGreaterThan(150);
  expect(secrets.filter((word) => output.includes(word))).toEqual([]);
  // A logged buffer would not contain the words as text.
  expect(output).not.toMatch(/"type":"Buffer"|203\.0\.113|"(req|res|remoteAddress|headers)":/);

  expect(new Set(output.match(/"reason":"[^"]+"/g)).size).toBe(8);
});
