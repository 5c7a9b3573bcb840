import { expect, test } from "vitest";
import { type ConfigError, parseConfig } from "./config.ts";

const problemsOf = (env: Record<string, string>) => {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).message.split("\n");
  }
};
const day = 86_400_000;
const HOOK_URL = "https://crm.example.com/hooks/website";
const SECRET = `whsec_${Buffer.alloc(32, "a").toString("base64")}`;

test("is frozen, and treats an empty variable as unset, and localhost as 127.0.0.1", () => {
  expect(Object.isFrozen(parseConfig({}))).toBe(true);
  expect(parseConfig({ SMTP_URL: "", DATABASE_URL: " ", PORT: "", HOST: "localhost" })).toEqual(parseConfig({}));
});

test("reads lists, switches, periods and addresses", () => {
  const config = parseConfig({
    ALLOWED_ORIGINS: "https://a.example, https://b.example",
    TRUST_PROXY: "10.0.0.0/8,loopback,::1",
    RATE_LIMIT: "off",
    HOURLY_LIMIT: "off",
    ACKNOWLEDGE: "on",
    RETENTION: "delivered=keep,failed=12h",
    METRICS_PORT: "[::]:9464",
  });
  expect(config).toMatchObject({
    allowedOrigins: ["https://a.example", "https://b.example"],
    trustProxy: ["10.0.0.0/8", "loopback", "::1"],
    rateLimits: [],
    hourlyLimit: null,
    acknowledge: true,
    retention: { deliveredMs: null, failedMs: 12 * 3_600_000, quarantinedMs: 14 * day },
    metricsHost: "::",
    metricsPort: 9464,
  });
  expect(parseConfig({ METRICS_PORT: "9464" })).toMatchObject({ metricsHost: "127.0.0.1", metricsPort: 9464 });
});

test.each([
  ["PORT", "70000"],
  ["DATABASE_URL", "mysql://x"],
  ["SMTP_URL", "mail.example.com:587"],
  ["IMAP_URL", "imap.example.com"],
  ["IMAP_URL", "https://team:hunter2@imap.example.com"],
  ["IMAP_URL", "imaps://imap.example.com"],
  ["IMAP_URL", "imaps://team@imap.example.com"],
  ["IMAP_URL", "imaps://team:hunter2@imap.example.com/%"],
  ["MAIL_TO", "nobody"],
  ["MAIL_FROM", "a@b, c@d"],
  ["ALLOWED_ORIGINS", "https://a.example/path"],
  ["TRUST_PROXY", "everyone"],
  ["TRUST_PROXY", "10.0.0.0/33"],
  ["RATE_LIMIT", "5"],
  ["RATE_LIMIT", "5/2d"],
  ["HOURLY_LIMIT", "-1"],
  ["ACKNOWLEDGE", "yes"],
  ["LOG_LEVEL", "loud"],
  ["SITE_URL", "example"],
  ["METRICS_PORT", "70000"],
  ["METRICS_PORT", "0.0.0.0"],
  ["METRICS_PORT", "localhost:9464"],
  ["ALERT_URL", "hooks.example.com"],
])("refuses %s=%s with one line that names it", (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} `));
});

test("IMAP_URL has a user, a password and folders, each URL-encoded; only this machine needs no encryption", () => {
  const of = (IMAP_URL: string) => parseConfig({ IMAP_URL }).imap;
  expect(of("imaps://team%40example.com:p%2Fw%3A@imap.example.com/INBOX,Sent%20Mail,Sent%20Mail,")).toEqual({
    host: "imap.example.com",
    port: 993,
    secure: true,
    doSTARTTLS: false,
    auth: { user: "team@example.com", pass: "p/w:" },
    folders: ["INBOX", "Sent Mail"],
  });
  expect(of("imap://a:b@imap.example.com")).toMatchObject({ port: 143, secure: false, doSTARTTLS: true });
  expect(of("imap://a:b@[::1]:1143/")).toMatchObject({
    host: "::1",
    port: 1143,
    doSTARTTLS: false,
    folders: ["INBOX"],
  });
  expect(of("imap://a:b@127.0.0.1.example.com")).toMatchObject({ doSTARTTLS: true });
  expect(of("")).toBeNull();
});

test("names every problem at once, and never repeats a secret in one", () => {
  const problems = problemsOf({
    SMTP_URL: "http://user:hunter2@host",
    DATABASE_URL: "my://u:hunter2@h",
    ALERT_URL: "ssh://u:hunter2@h",
    IMAP_URL: "imap://u:hunter2@h/%",
  });
  expect(problems).toHaveLength(4);
  expect(problems.join()).not.toContain("hunter2");
});

test.each([
  { HOOK_URL, HOOK_SECRET: SECRET },
  { HOOK_URL, HOOK_SECRET: `${SECRET} ${SECRET}` },
  { HOOK_URL: "http://localhost:9000/", HOOK_SECRET: SECRET },
  { HOOK_URL: "http://[::1]:9000/", HOOK_SECRET: SECRET },
])("accepts %o", (env) => {
  expect(problemsOf(env)).toEqual([]);
});

test.each([
  [{ HOOK_URL: "nonsense", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address without a user name; e\.g\./],
  [{ HOOK_URL: "http://crm.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address/],
  [{ HOOK_URL: "http://127.0.0.1.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address/],
  [{ HOOK_URL: "https://user:pass@crm.example.com/", HOOK_SECRET: SECRET }, /^HOOK_URL is not an https address/],
  [{ HOOK_URL }, /^HOOK_SECRET must be one or two secrets/],
  [{ HOOK_URL, HOOK_SECRET: "whsec_c2hvcnQ=" }, /^HOOK_SECRET must be one or two secrets/],
  [{ HOOK_URL, HOOK_SECRET: "a".repeat(40) }, /^HOOK_SECRET must be one or two secrets/],
  [{ HOOK_URL, HOOK_SECRET: `${SECRET} whsec_c2hvcnQ=` }, /^HOOK_SECRET must be one or two secrets/],
  [{ HOOK_URL, HOOK_SECRET: `${SECRET} ${SECRET} ${SECRET}` }, /^HOOK_SECRET must be one or two secrets/],
])("refuses %o with one line that contains no secret", (env, line) => {
  expect(problemsOf(env)).toEqual([expect.stringMatching(line)]);
  expect(problemsOf(env).join()).not.toMatch(/whsec_\w{5,}|user:pass|\n/);
});
