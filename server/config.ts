import { isIP } from "node:net";
import { resolve } from "node:path";
import { type BuildSettings, parseBuildSettings, type Retention } from "../contract/build-settings.ts";
import { parseDurationMs } from "../contract/duration.ts";

export type { Retention };

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** At most `count` messages in any `windowMs`. */
export interface Limit {
  count: number;
  windowMs: number;
}

export interface Config {
  port: number;
  host: string;
  /** Absolute. */
  dataDir: string;
  databaseUrl: string | null;
  smtpUrl: string | null;
  /** `null`: the site's contact e-mail. */
  mailTo: string | null;
  mailFrom: string | null;
  build: BuildSettings;
  allowedOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Per client; empty when off. */
  rateLimits: readonly Limit[];
  /** For all clients together; beyond it messages are quarantined. */
  hourlyLimit: number | null;
  /** A sender is told by e-mail that the message was delivered. */
  acknowledge: boolean;
  retention: Retention;
  logLevel: LogLevel;
  /** The address that serves the metrics: the loopback interface unless METRICS_PORT names another. */
  metricsHost: string;
  /** `null`: no metrics. */
  metricsPort: number | null;
  /** Told when messages do not get through; may hold credentials. */
  alertUrl: string | null;
  /** Where each message is posted as well, and the secrets that sign it; `null`: nowhere. */
  hook: { url: string; secrets: readonly string[] } | null;
}

/** Every problem of the environment at once, a line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS: readonly string[] = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
/** In deploy/nginx.conf and deploy/Caddyfile. */
const NODE_PORTS = [3001, 3002, 3003];
const NPM_COMMAND = "npm run messages --";
const PROXY_NAMES = ["loopback", "linklocal", "uniquelocal"];

/** What an operator types before the name of a command. The wrapper, the unit and the image that start it set another. */
export function programName(env: Environment): string {
  return env.MESSAGES_COMMAND?.trim() || NPM_COMMAND;
}

/** What opens the inbox, by the same name. */
export function inboxCommand(program: string): string {
  return program === NPM_COMMAND ? "npm run inbox" : `${program.replace(/ messages$/, "")} inbox`;
}

/** Gives a frozen, complete Config, or throws a ConfigError that names every bad variable. */
export function parseConfig(env: Environment): Config {
  const { settings: build, problems } = parseBuildSettings(env);
  const text = (name: string) => env[name]?.trim() || null;
  const list = (name: string) => (text(name) ?? "").split(",").flatMap((item) => item.trim() || []);
  const check = <T>(isGood: boolean, value: T, problem: string): T => {
    if (!isGood) problems.push(problem);
    return value;
  };

  const port = parsePort(text("PORT") ?? "3000");
  const metrics = parseMetricsAddress(text("METRICS_PORT"), port, problems);
  const databaseUrl = text("DATABASE_URL");
  const smtpUrl = text("SMTP_URL");
  const mailTo = text("MAIL_TO");
  const mailFrom = text("MAIL_FROM");
  const hourlyLimit = text("HOURLY_LIMIT") ?? "1000";
  const acknowledge = text("ACKNOWLEDGE") ?? "off";
  const logLevel = text("LOG_LEVEL") ?? "info";
  const alertUrl = text("ALERT_URL");
  const allowedOrigins = list("ALLOWED_ORIGINS");
  const trustProxy = list("TRUST_PROXY");

  const config: Config = {
    port: check(!Number.isNaN(port), port, "PORT is not a port number; e.g. PORT=3000"),
    host: text("HOST") ?? "127.0.0.1",
    dataDir: resolve(text("DATA_DIR") ?? "./data"),
    databaseUrl: check(
      databaseUrl === null || hasProtocol(databaseUrl, ["postgres:", "postgresql:"]),
      databaseUrl,
      "DATABASE_URL is not a PostgreSQL address; e.g. postgres://user:password@host:5432/database",
    ),
    smtpUrl: check(
      smtpUrl === null || hasProtocol(smtpUrl, ["smtp:", "smtps:"]),
      smtpUrl,
      "SMTP_URL is not a mail server's address; e.g. smtp://user:password@host:587",
    ),
    mailTo: check(
      mailTo === null || isAddress(mailTo),
      mailTo,
      "MAIL_TO is not an e-mail address; e.g. team@example.com",
    ),
    mailFrom: check(
      mailFrom === null || isAddress(mailFrom),
      mailFrom,
      "MAIL_FROM is not an e-mail address; e.g. website@example.com",
    ),
    build,
    allowedOrigins: check(
      allowedOrigins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
      allowedOrigins,
      "ALLOWED_ORIGINS holds something that is not an origin; e.g. https://www.example.com,https://example.com",
    ),
    trustProxy: check(
      trustProxy.every(isProxy),
      trustProxy,
      "TRUST_PROXY holds something that is not an address; e.g. 10.0.0.1,192.168.0.0/16 or loopback",
    ),
    rateLimits: parseRateLimits(text("RATE_LIMIT") ?? "5/10m,20/1d", problems),
    hourlyLimit: check(
      hourlyLimit === "off" || /^[1-9]\d{0,8}$/.test(hourlyLimit),
      hourlyLimit === "off" ? null : Number(hourlyLimit),
      "HOURLY_LIMIT is neither a number of messages nor off; e.g. HOURLY_LIMIT=1000",
    ),
    acknowledge: check(
      acknowledge === "on" || acknowledge === "off",
      acknowledge === "on",
      "ACKNOWLEDGE is neither on nor off; e.g. ACKNOWLEDGE=on",
    ),
    retention: build.retention,
    logLevel: check(
      LOG_LEVELS.includes(logLevel),
      logLevel as LogLevel,
      `LOG_LEVEL is not one of ${LOG_LEVELS.join(", ")}`,
    ),
    metricsHost: metrics.host,
    metricsPort: metrics.port,
    alertUrl: check(
      alertUrl === null || hasProtocol(alertUrl, ["http:", "https:"]),
      alertUrl,
      "ALERT_URL is not a web address; e.g. https://hooks.example.com/services/…",
    ),
    hook: parseHook(text("HOOK_URL"), text("HOOK_SECRET"), problems),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/**
 * Every port that the settings name on this machine, and those that deploy/ gives to nodes, by what has it. They belong to
 * the site even while nothing listens there.
 */
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

/** NaN unless it is one; 0 lets the system choose. */
function parsePort(text: string): number {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : Number.NaN;
}

/** A port alone is on the loopback interface, which nothing outside a container can reach: hence `0.0.0.0:9464`. */
function parseMetricsAddress(
  text: string | null,
  sitePort: number,
  problems: string[],
): { host: string; port: number | null } {
  if (text === null) return { host: "127.0.0.1", port: null };
  const [, address = "127.0.0.1", portText = ""] = /^(?:(\[[\da-f:.]+\]|[\d.]+):)?(\d+)$/i.exec(text) ?? [];
  const host = address.replaceAll(/[[\]]/g, "");
  const port = parsePort(portText);
  if (Number.isNaN(port) || isIP(host) === 0) {
    problems.push(
      "METRICS_PORT is neither a port number nor an address with one; e.g. METRICS_PORT=9464 or METRICS_PORT=0.0.0.0:9464",
    );
  } else if (port === sitePort && port !== 0) {
    problems.push("METRICS_PORT is the port of the site (PORT); choose another, e.g. METRICS_PORT=9464");
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

function parseHook(url: string | null, secretText: string | null, problems: string[]): Config["hook"] {
  if (url === null) return null;
  const { protocol, hostname, username, password } = URL.canParse(url) ? new URL(url) : new URL("http://none");
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname))) {
    problems.push("HOOK_URL is not an https address; e.g. https://crm.example.com/hooks/website");
  } else if (username !== "" || password !== "") {
    problems.push("HOOK_URL holds a user name or password; leave them out: HOOK_SECRET signs each post");
  }
  const secrets = secretText?.split(/\s+/) ?? [];
  if (secrets.length < 1 || secrets.length > 2 || !secrets.every(isHookSecret)) {
    problems.push(
      "HOOK_SECRET is not one secret, or two with a space between, of 24 to 64 bytes each; make one: echo whsec_$(openssl rand -base64 32)",
    );
  }
  return { url, secrets };
}

/** As Standard Webhooks writes them. */
function isHookSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, "base64");
  return length >= 24 && length <= 64;
}

function hasProtocol(url: string, protocols: readonly string[]): boolean {
  return URL.canParse(url) && protocols.includes(new URL(url).protocol) && new URL(url).hostname !== "";
}

function isAddress(text: string): boolean {
  return /^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$/.test(text);
}

function isProxy(text: string): boolean {
  if (PROXY_NAMES.includes(text)) return true;
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  return (
    family !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
  );
}
