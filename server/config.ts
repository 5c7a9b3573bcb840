import { isIP } from "node:net";
import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { parseBuildSettings, type Retention } from "../contract/build-settings.ts";
import type { Advice } from "../contract/commands.ts";
import { parseDurationMs } from "../contract/duration.ts";
import { OperatorError } from "./operator-error.ts";
import { DAY_MS } from "./time.ts";

export type { Retention };

/** At most `count` messages in any `windowMs`. */
export interface Limit {
  count: number;
  windowMs: number;
}

export type Config = ReturnType<typeof parseConfig>;

/** Names every problem of the environment. */
export class ConfigError extends OperatorError {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** The ports in deploy/nginx.conf and deploy/Caddyfile. */
const NODE_PORTS = [3001, 3002, 3003];
const DEFAULT_PORT = 3000;
const PROXY_NAMES = ["loopback", "linklocal", "uniquelocal"];

/** The problem follows the variable's name. */
const advise = (problem: string, remedy: string) => ({ error: problem, params: { remedy } });
const checked = (isGood: (text: string) => boolean, problem: string, remedy: string) =>
  z.string().refine(isGood, advise(problem, remedy));
/** `null` if it is not set. */
const optional = (isGood: (text: string) => boolean, problem: string, remedy: string) =>
  checked(isGood, problem, remedy).nullable();
const list = (isGood: (text: string) => boolean, problem: string, remedy: string) =>
  z
    .string()
    .nullable()
    .transform((text): readonly string[] => (text?.split(",") ?? []).map((item) => item.trim()).filter(Boolean))
    .refine((items) => items.every(isGood), advise(problem, remedy));
const onOrOff = (isOnByDefault: boolean, remedy: string) =>
  optional((text) => /^(on|off)$/.test(text), "is neither on nor off", remedy).transform((text) =>
    text === null ? isOnByDefault : text === "on",
  );
/** The variables that need no other variable. */
const VARIABLES = z.object({
  PORT: optional(isPort, "is not a port number", "e.g. PORT=3000").transform((text) => Number(text ?? DEFAULT_PORT)),
  HOST: z.string().nullable(),
  DATA_DIR: z.string().nullable(),
  DATABASE_URL: optional(
    hasProtocol("postgres:", "postgresql:"),
    "is not a PostgreSQL address",
    "e.g. postgres://user:password@host:5432/database",
  ),
  SMTP_URL: optional(
    hasProtocol("smtp:", "smtps:"),
    "is not a mail server's address",
    "e.g. smtp://user:password@host:587",
  ),
  MAIL_TO: optional(isAddress, "is not an email address", "e.g. team@example.com"),
  MAIL_FROM: optional(isAddress, "is not an email address", "e.g. website@example.com"),
  ALLOWED_ORIGINS: list(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    "contains something that is not an origin",
    "e.g. https://www.example.com,https://example.com",
  ),
  TRUST_PROXY: list(isProxy, "contains something that is not an address", "e.g. 10.0.0.1,192.168.0.0/16 or loopback"),
  RATE_LIMIT: z
    .string()
    .nullable()
    .transform((text) => parseRateLimits(text ?? "5/10m,20/1d"))
    .refine(
      (limits) => limits.every(({ windowMs }) => !Number.isNaN(windowMs)),
      advise("is neither a list of limits nor off", "e.g. RATE_LIMIT=5/10m,20/1d"),
    )
    .refine(
      (limits) => !limits.some(({ windowMs }) => windowMs > DAY_MS),
      advise("looks back more than a day, but clients are remembered for 24 hours", "e.g. RATE_LIMIT=20/1d"),
    ),
  HOURLY_LIMIT: optional(
    (text) => /^(off|[1-9]\d{0,8})$/.test(text),
    "is neither a number of messages nor off",
    "e.g. HOURLY_LIMIT=1000",
  ).transform((text) => (text === "off" ? null : Number(text ?? 1000))),
  SPAM_FILTER: onOrOff(true, "e.g. SPAM_FILTER=off"),
  ACKNOWLEDGE: onOrOff(false, "e.g. ACKNOWLEDGE=on"),
  LOG_LEVEL: z.enum(LOG_LEVELS, `is not one of ${LOG_LEVELS.join(", ")}`).nullable(),
  ALERT_URL: optional(
    hasProtocol("http:", "https:"),
    "is not a web address",
    "e.g. https://hooks.example.com/services/…",
  ),
});

/** A port alone means the loopback interface. Nothing outside a container can reach that. */
const METRICS = z
  .object({ METRICS_PORT: z.string().nullable(), PORT: z.string().nullable() })
  .transform(({ METRICS_PORT: text, PORT }, context) => {
    if (text === null) return { host: "127.0.0.1", port: null };
    const [, address = "127.0.0.1", portText = ""] = /^(?:(\[[\da-f:.]+\]|[\d.]+):)?(\d+)$/i.exec(text) ?? [];
    const [host, port] = [address.replaceAll(/[[\]]/g, ""), Number(portText)];
    const refuse = (message: string, remedy: string) =>
      context.addIssue({ code: "custom", path: ["METRICS_PORT"], message, params: { remedy } });
    if (!isPort(portText) || isIP(host) === 0) {
      refuse("is neither a port number nor an address with one", "e.g. METRICS_PORT=9464 or METRICS_PORT=0.0.0.0:9464");
    } else if (port === Number(PORT ?? DEFAULT_PORT) && port !== 0) {
      const other = port === 9464 ? 9465 : 9464;
      refuse("is the port of the site (PORT)", `choose another, e.g. METRICS_PORT=${other}`);
    }
    return { host, port };
  });

const HOOK = z
  .object({
    HOOK_URL: z
      .string()
      .refine(isSafeReceiver, advise("is not an https address", "e.g. https://crm.example.com/hooks/website"))
      .refine(
        (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === "",
        advise("contains a user name or password", "leave them out: HOOK_SECRET signs each post"),
      ),
    HOOK_SECRET: z
      .string()
      .nullable()
      .transform((text): readonly string[] => text?.split(/\s+/) ?? [])
      .refine(
        (secrets) => secrets.length >= 1 && secrets.length <= 2 && secrets.every(isHookSecret),
        advise(
          "must be one or two secrets with a space between them, each whsec_ and 24 to 64 bytes in Base64",
          "make one: echo whsec_$(openssl rand -base64 32)",
        ),
      ),
  })
  .transform(({ HOOK_URL: url, HOOK_SECRET: secrets }) => ({ url, secrets }));

/** Returns a frozen, complete Config, or throws a ConfigError that names every invalid variable. */
export function parseConfig(env: Environment) {
  const { settings: build, problems } = parseBuildSettings(env);
  const text = (name: string) => env[name]?.trim() || null;
  const read = <Schema extends z.ZodType>(schema: Schema, names: readonly string[]): z.output<Schema> => {
    const result = schema.safeParse(Object.fromEntries(names.map((name) => [name, text(name)])));
    if (!result.success) problems.push(...result.error.issues.map(adviceOf));
    return result.data as z.output<Schema>;
  };
  const variables = read(VARIABLES, Object.keys(VARIABLES.shape));
  const metrics = read(METRICS, ["METRICS_PORT", "PORT"]);
  const hook = text("HOOK_URL") === null ? null : read(HOOK, ["HOOK_URL", "HOOK_SECRET"]);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({
    port: variables.PORT,
    host: variables.HOST ?? "127.0.0.1",
    /** Absolute. */
    dataDir: resolve(variables.DATA_DIR ?? "./data"),
    databaseUrl: variables.DATABASE_URL,
    smtpUrl: variables.SMTP_URL,
    /** `null`: the site's contact email. */
    mailTo: variables.MAIL_TO,
    mailFrom: variables.MAIL_FROM,
    build,
    allowedOrigins: variables.ALLOWED_ORIGINS,
    trustProxy: variables.TRUST_PROXY,
    /** Per client; empty when off. */
    rateLimits: variables.RATE_LIMIT,
    /** For all clients together. Further messages are quarantined. */
    hourlyLimit: variables.HOURLY_LIMIT,
    /** Quarantines messages that look like spam. */
    spamFilter: variables.SPAM_FILTER,
    /** Senders get an email after the delivery of their message. */
    acknowledge: variables.ACKNOWLEDGE,
    retention: build.retention,
    logLevel: variables.LOG_LEVEL ?? "info",
    metricsHost: metrics.host,
    /** `null`: no metrics. */
    metricsPort: metrics.port,
    /** Receives alerts; may contain credentials. */
    alertUrl: variables.ALERT_URL,
    /**
     * Where each message is also posted, and the secrets that sign it (two during a replacement); `null` without hook.
     */
    hook,
  });
}

function adviceOf(issue: z.core.$ZodIssue): Advice {
  const remedy = "params" in issue ? (issue.params?.remedy as string | undefined) : undefined;
  return { problem: `${issue.path.findLast((part) => typeof part === "string")} ${issue.message}`, remedy };
}

/** Ports that belong to the site even while nothing listens there, each with its use. */
export function sitePortsOf(config: Config): ReadonlyMap<number, string> {
  const ports = new Map<number, string>(NODE_PORTS.map((port) => [port, "a node in deploy/"]));
  const urls = {
    SITE_URL: config.build.siteUrl,
    API_BASE: config.build.apiBase,
    DATABASE_URL: config.databaseUrl,
    SMTP_URL: config.smtpUrl,
    ALERT_URL: config.alertUrl,
    HOOK_URL: config.hook?.url,
  };
  for (const [name, url] of Object.entries(urls)) {
    if (url && isLoopback(new URL(url).hostname) && new URL(url).port !== "")
      ports.set(Number(new URL(url).port), name);
  }
  if (config.metricsPort !== null) ports.set(config.metricsPort, "METRICS_PORT");
  return ports.set(config.port, "PORT");
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Port 0 lets the system choose. */
function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

function parseRateLimits(text: string): Limit[] {
  if (text === "off") return [];
  return text.split(",").map((part) => {
    const [, count, duration] = /^\s*([1-9]\d{0,8})\s*\/\s*(\w+)\s*$/.exec(part) ?? [];
    return { count: Number(count), windowMs: parseDurationMs(duration ?? "") ?? Number.NaN };
  });
}

function isSafeReceiver(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : new URL("none:");
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** In the format of Standard Webhooks. */
function isHookSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, "base64");
  return length >= 24 && length <= 64;
}

function hasProtocol(...protocols: readonly string[]): (url: string) => boolean {
  return (url) => URL.canParse(url) && protocols.includes(new URL(url).protocol) && new URL(url).hostname !== "";
}

function isAddress(text: string): boolean {
  return /^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$/.test(text);
}

function isProxy(text: string): boolean {
  const [address = ""] = text.split("/");
  return PROXY_NAMES.includes(text) || (isIP(address) !== 0 && (address === text || ipaddr.isValidCIDR(text)));
}
