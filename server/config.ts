import { isIP } from "node:net";
import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { parseBuildSettings, type Retention } from "../contract/build-settings.ts";
import { parseDurationMs } from "../contract/duration.ts";
import { OperatorError } from "./log.ts";

export type { Retention };

/** At most `count` messages in any `windowMs`. */
export interface Limit {
  count: number;
  windowMs: number;
}

export type Config = ReturnType<typeof parseConfig>;

/** Lists every problem of the environment, one per line. */
export class ConfigError extends OperatorError {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
/** The ports in deploy/nginx.conf and deploy/Caddyfile. */
const NODE_PORTS = [3001, 3002, 3003];
const DEFAULT_PORT = "3000";
const PROXY_NAMES = ["loopback", "linklocal", "uniquelocal"];

/** The check of each variable's value, and the problem to report after the variable's name. */
const RULES = {
  PORT: [(text) => !Number.isNaN(parsePort(text)), "is not a port number; e.g. PORT=3000"],
  DATABASE_URL: [
    hasProtocol("postgres:", "postgresql:"),
    "is not a PostgreSQL address; e.g. postgres://user:password@host:5432/database",
  ],
  SMTP_URL: [hasProtocol("smtp:", "smtps:"), "is not a mail server's address; e.g. smtp://user:password@host:587"],
  MAIL_TO: [isAddress, "is not an email address; e.g. team@example.com"],
  MAIL_FROM: [isAddress, "is not an email address; e.g. website@example.com"],
  ALLOWED_ORIGINS: [
    (text) => URL.canParse(text) && new URL(text).origin === text,
    "contains something that is not an origin; e.g. https://www.example.com,https://example.com",
  ],
  TRUST_PROXY: [isProxy, "contains something that is not an address; e.g. 10.0.0.1,192.168.0.0/16 or loopback"],
  HOURLY_LIMIT: [
    (text) => /^(off|[1-9]\d{0,8})$/.test(text),
    "is neither a number of messages nor off; e.g. HOURLY_LIMIT=1000",
  ],
  SPAM_FILTER: [(text) => /^(on|off)$/.test(text), "is neither on nor off; e.g. SPAM_FILTER=off"],
  ACKNOWLEDGE: [(text) => /^(on|off)$/.test(text), "is neither on nor off; e.g. ACKNOWLEDGE=on"],
  LOG_LEVEL: [(text) => LOG_LEVELS.some((level) => level === text), `is not one of ${LOG_LEVELS.join(", ")}`],
  ALERT_URL: [hasProtocol("http:", "https:"), "is not a web address; e.g. https://hooks.example.com/services/…"],
} satisfies Record<string, readonly [isGood: (text: string) => boolean, problem: string]>;

/** Returns a frozen, complete Config, or throws a ConfigError that names every invalid variable. */
export function parseConfig(env: Environment) {
  const { settings: build, problems } = parseBuildSettings(env);
  const text = (name: string) => env[name]?.trim() || null;
  const check = (name: keyof typeof RULES, values: readonly string[]) => {
    const [isGood, problem] = RULES[name];
    if (!values.every(isGood)) problems.push(`${name} ${problem}`);
    return values;
  };
  const list = (name: keyof typeof RULES) => {
    const items = text(name)?.split(",") ?? [];
    return check(name, items.map((item) => item.trim()).filter(Boolean));
  };
  const one = (name: keyof typeof RULES) => {
    const value = text(name);
    if (value !== null) check(name, [value]);
    return value;
  };

  const metrics = parseMetricsAddress(text("METRICS_PORT"), parsePort(text("PORT") ?? DEFAULT_PORT), problems);
  const config = {
    port: parsePort(one("PORT") ?? DEFAULT_PORT),
    host: text("HOST") ?? "127.0.0.1",
    /** Absolute. */
    dataDir: resolve(text("DATA_DIR") ?? "./data"),
    databaseUrl: one("DATABASE_URL"),
    smtpUrl: one("SMTP_URL"),
    /** `null`: the site's contact email. */
    mailTo: one("MAIL_TO"),
    mailFrom: one("MAIL_FROM"),
    build,
    allowedOrigins: list("ALLOWED_ORIGINS"),
    trustProxy: list("TRUST_PROXY"),
    /** Per client; empty when off. */
    rateLimits: parseRateLimits(text("RATE_LIMIT") ?? "5/10m,20/1d", problems),
    /** For all clients together. Further messages are quarantined. */
    hourlyLimit: text("HOURLY_LIMIT") === "off" ? null : Number(one("HOURLY_LIMIT") ?? 1000),
    /** Quarantines messages that look like spam. */
    spamFilter: one("SPAM_FILTER") !== "off",
    /** Senders get an email after the delivery of their message. */
    acknowledge: one("ACKNOWLEDGE") === "on",
    retention: build.retention,
    logLevel: (one("LOG_LEVEL") ?? "info") as (typeof LOG_LEVELS)[number],
    metricsHost: metrics.host,
    /** `null`: no metrics. */
    metricsPort: metrics.port,
    /** Receives alerts; may contain credentials. */
    alertUrl: one("ALERT_URL"),
    /**
     * Where each message is also posted, and the secrets that sign it (two during a replacement); `null` without hook.
     */
    hook: parseHook(text("HOOK_URL"), text("HOOK_SECRET"), problems),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
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

/** NaN if the text is not a port. Port 0 lets the system choose. */
function parsePort(text: string): number {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : Number.NaN;
}

/**
 * A port alone means the loopback interface. Nothing outside a container can reach that, so a container needs
 * `0.0.0.0:9464`.
 */
function parseMetricsAddress(text: string | null, sitePort: number, problems: string[]) {
  if (text === null) return { host: "127.0.0.1", port: null };
  const [, address = "127.0.0.1", portText = ""] = /^(?:(\[[\da-f:.]+\]|[\d.]+):)?(\d+)$/i.exec(text) ?? [];
  const host = address.replaceAll(/[[\]]/g, "");
  const port = parsePort(portText);
  if (Number.isNaN(port) || isIP(host) === 0) {
    problems.push(
      "METRICS_PORT is neither a port number nor an address with one; e.g. METRICS_PORT=9464 or METRICS_PORT=0.0.0.0:9464",
    );
  } else if (port === sitePort && port !== 0) {
    problems.push(
      `METRICS_PORT is the port of the site (PORT); choose another, e.g. METRICS_PORT=${port === 9464 ? 9465 : 9464}`,
    );
  }
  return { host, port };
}

function parseRateLimits(text: string, problems: string[]): Limit[] {
  if (text === "off") return [];
  const limits = text.split(",").map((part) => {
    const [, count, duration] = /^\s*([1-9]\d{0,8})\s*\/\s*(\w+)\s*$/.exec(part) ?? [];
    return { count: Number(count), windowMs: parseDurationMs(duration ?? "") ?? Number.NaN };
  });
  if (limits.some((limit) => Number.isNaN(limit.windowMs))) {
    problems.push("RATE_LIMIT is neither a list of limits nor off; e.g. RATE_LIMIT=5/10m,20/1d");
  } else if (limits.some((limit) => limit.windowMs > 86_400_000)) {
    problems.push(
      "RATE_LIMIT looks back more than a day, but clients are remembered for 24 hours; e.g. RATE_LIMIT=20/1d",
    );
  }
  return limits;
}

function parseHook(url: string | null, secretText: string | null, problems: string[]) {
  if (url === null) return null;
  const { protocol, hostname, username, password } = URL.canParse(url) ? new URL(url) : new URL("http://none");
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname))) {
    problems.push("HOOK_URL is not an https address; e.g. https://crm.example.com/hooks/website");
  } else if (username !== "" || password !== "") {
    problems.push("HOOK_URL contains a user name or password; leave them out: HOOK_SECRET signs each post");
  }
  const secrets: readonly string[] = secretText?.split(/\s+/) ?? [];
  if (secrets.length < 1 || secrets.length > 2 || !secrets.every(isHookSecret)) {
    problems.push(
      "HOOK_SECRET must be one or two secrets with a space between them, each whsec_ and 24 to 64 bytes in Base64; make one: echo whsec_$(openssl rand -base64 32)",
    );
  }
  return { url, secrets };
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
