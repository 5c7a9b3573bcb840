import { isIP } from "node:net";
import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { parseBuildSettings } from "../contract/build-settings.ts";
import { parseDurationMs } from "../contract/duration.ts";
import { OperatorError } from "./errors.ts";
import { DAY_MS } from "./time.ts";

export interface Limit {
  count: number;
  windowMs: number;
}

export type Config = ReturnType<typeof parseConfig>;

export class ConfigError extends OperatorError {
  override readonly name = "ConfigError";
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

// Without zod, which would make the start slower. The problem follows the variable's name.
type Check<Value> = readonly [isGood: (value: Value) => boolean, problem: string, remedy?: string];

const ifSet = (isGood: (text: string) => boolean, problem: string, remedy: string): Check<string | null> => [
  (text) => text === null || isGood(text),
  problem,
  remedy,
];
const asText = (text: string | null) => text;
const asList = (text: string | null): readonly string[] =>
  (text?.split(",") ?? []).map((item) => item.trim()).filter(Boolean);

/** Throws a ConfigError that names every invalid variable. */
export function parseConfig(env: Readonly<Record<string, string | undefined>>) {
  const { settings: build, problems } = parseBuildSettings(env);
  /** Reports the first check that fails. `parse` gets `null` for a variable that is not set. */
  function read<Value>(name: string, parse: (text: string | null) => Value, ...checks: Check<NoInfer<Value>>[]): Value {
    const value = parse(env[name]?.trim() || null);
    const [, problem, remedy] = checks.find(([isGood]) => !isGood(value)) ?? [];
    if (problem) problems.push({ problem: `${name} ${problem}`, remedy });
    return value;
  }
  const readSwitch = (name: string, usual: "on" | "off", remedy: string) =>
    read(name, (text) => text ?? usual, [(text) => /^(on|off)$/.test(text), "is neither on nor off", remedy]) === "on";
  const config = {
    port: Number(read("PORT", asText, ifSet(isPort, "is not a port number", "e.g. PORT=3000")) ?? 3000),
    // Node would listen on only one of the two addresses of `localhost`, and not on the same one everywhere.
    host: read("HOST", asText)?.replace(/^localhost$/, "127.0.0.1") ?? "127.0.0.1",
    dataDir: resolve(read("DATA_DIR", asText) ?? "./data"),
    databaseUrl: read(
      "DATABASE_URL",
      asText,
      ifSet(
        hasProtocol("postgres:", "postgresql:"),
        "is not a PostgreSQL address",
        "e.g. postgres://user:password@host:5432/database",
      ),
    ),
    smtpUrl: read(
      "SMTP_URL",
      asText,
      ifSet(hasProtocol("smtp:", "smtps:"), "is not a mail server's address", "e.g. smtp://user:password@host:587"),
    ),
    /** The mailbox from which answers are read. */
    imap: read("IMAP_URL", parseImap, [
      (imap) => imap !== "invalid",
      "is not a mailbox's address, or would send the password unencrypted",
      "e.g. imaps://user:password@imap.example.com/INBOX,Sent",
    ]) as ImapSettings | null,
    /** `null`: the site's contact email. */
    mailTo: read("MAIL_TO", asText, ifSet(isAddress, "is not an email address", "e.g. team@example.com")),
    mailFrom: read("MAIL_FROM", asText, ifSet(isAddress, "is not an email address", "e.g. website@example.com")),
    build,
    allowedOrigins: read("ALLOWED_ORIGINS", asList, [
      (origins) => origins.every((text) => URL.canParse(text) && new URL(text).origin === text),
      "contains something that is not an origin",
      "e.g. https://www.example.com,https://example.com",
    ]),
    trustProxy: read("TRUST_PROXY", asList, [
      (proxies) => proxies.every(isProxy),
      "contains something that is not an address",
      "e.g. 10.0.0.1,192.168.0.0/16 or loopback",
    ]),
    rateLimits: read("RATE_LIMIT", (text) => parseRateLimits(text ?? "5/10m,20/1d"), [
      (limits) => limits.every(({ windowMs }) => windowMs <= DAY_MS),
      "is neither off nor a list of limits for at most a day each",
      "e.g. RATE_LIMIT=5/10m,20/1d",
    ]),
    /** For all clients together; `null` when off. Further messages are quarantined. */
    hourlyLimit: read(
      "HOURLY_LIMIT",
      (text) => (text === "off" ? null : /^[1-9]\d{0,8}$/.test(text ?? "1000") ? Number(text ?? 1000) : Number.NaN),
      [(limit) => !Number.isNaN(limit), "is neither a number of messages nor off", "e.g. HOURLY_LIMIT=1000"],
    ),
    spamFilter: readSwitch("SPAM_FILTER", "on", "e.g. SPAM_FILTER=off"),
    acknowledge: readSwitch("ACKNOWLEDGE", "off", "e.g. ACKNOWLEDGE=on"),
    retention: build.retention,
    logLevel:
      read("LOG_LEVEL", (text) => LOG_LEVELS.find((level) => level === (text ?? "info")), [
        (level) => level !== undefined,
        `is not one of ${LOG_LEVELS.join(", ")}`,
      ]) ?? "info",
    ...read("METRICS_PORT", parseMetricsAddress, [
      ({ metricsPort }) => !Number.isNaN(metricsPort),
      "is neither a port number nor an address with one",
      "e.g. METRICS_PORT=9464 or METRICS_PORT=0.0.0.0:9464",
    ]),
    /** Receives alerts; may contain credentials. */
    alertUrl: read(
      "ALERT_URL",
      asText,
      ifSet(hasProtocol("http:", "https:"), "is not a web address", "e.g. https://hooks.example.com/services/…"),
    ),
    /** Two secrets during a replacement. */
    hook: env.HOOK_URL?.trim()
      ? {
          url: read<string>("HOOK_URL", (text) => text ?? "", [
            isSafeReceiver,
            "is not an https address without a user name",
            "e.g. https://crm.example.com/hooks/website",
          ]),
          secrets: read("HOOK_SECRET", (text): readonly string[] => text?.split(/\s+/) ?? [], [
            (secrets) => secrets.length >= 1 && secrets.length <= 2 && secrets.every(isHookSecret),
            "must be one or two secrets with a space between them, each whsec_ and 24 to 64 bytes in Base64",
            "make one: echo whsec_$(openssl rand -base64 32)",
          ]),
        }
      : null,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

interface ImapSettings {
  host: string;
  port: number;
  secure: boolean;
  /** Refuses a server without it. */
  doSTARTTLS: boolean;
  auth: { user: string; pass: string };
  folders: readonly string[];
}

function parseImap(text: string | null): ImapSettings | null | "invalid" {
  if (text === null) return null;
  if (!hasProtocol("imap:", "imaps:")(text)) return "invalid";
  const { protocol, hostname, port, username, password, pathname } = new URL(text);
  try {
    const folders = pathname.slice(1).split(",").map(decodeURIComponent).filter(Boolean);
    const [user = "", pass = ""] = [username, password].map(decodeURIComponent);
    const secure = protocol === "imaps:";
    if (user === "" || pass === "") return "invalid";
    return {
      host: hostname.replaceAll(/[[\]]/g, ""),
      port: Number(port) || (secure ? 993 : 143),
      secure,
      doSTARTTLS: !secure && !isLoopback(hostname),
      auth: { user, pass },
      folders: folders.length > 0 ? [...new Set(folders)] : ["INBOX"],
    };
  } catch {
    // A folder that is not URL-encoded.
    return "invalid";
  }
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** A port alone means the loopback interface, which nothing outside a container can reach. */
function parseMetricsAddress(text: string | null): { metricsHost: string; metricsPort: number | null } {
  if (text === null) return { metricsHost: "127.0.0.1", metricsPort: null };
  const [, address = "127.0.0.1", port = ""] = /^(?:(\[[\da-f:.]+\]|[\d.]+):)?(\d+)$/i.exec(text) ?? [];
  const metricsHost = address.replaceAll(/[[\]]/g, "");
  return { metricsHost, metricsPort: isPort(port) && isIP(metricsHost) !== 0 ? Number(port) : Number.NaN };
}

function parseRateLimits(text: string): Limit[] {
  if (text === "off") return [];
  return text.split(",").map((part) => {
    const [, count, duration] = /^\s*([1-9]\d{0,8})\s*\/\s*(\w+)\s*$/.exec(part) ?? [];
    return { count: Number(count), windowMs: parseDurationMs(duration ?? "") ?? Number.NaN };
  });
}

function isSafeReceiver(url: string): boolean {
  const { protocol, hostname, username, password } = URL.canParse(url) ? new URL(url) : new URL("none:");
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

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
  const isName = ["loopback", "linklocal", "uniquelocal"].includes(text);
  return isName || (isIP(address) !== 0 && (address === text || ipaddr.isValidCIDR(text)));
}
