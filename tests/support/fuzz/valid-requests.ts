import type { Random } from "./random.ts";

/** A request before it is written down, so that each part can be spoilt by itself. */
export interface Draft {
  method: string;
  target: string;
  version: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

const PAGES = ["/", "/contact", "/privacy", "/nowhere", "/healthz", "/readyz", "/robots.txt", "/sitemap.xml"];
const FILES = ["/countries.json", "/favicon.ico", "/site.webmanifest", "/assets/none.js", "/media/none.mp4"];

/** A request that a browser, a crawler or a program might well send. */
export function validRequest(random: Random): Draft {
  const kind = random.int(10);
  if (kind < 4) return post(random, "application/json", JSON.stringify({ ...message(random), ...estimate(random) }));
  if (kind < 6) {
    const { footprint } = estimate(random);
    const fields = Object.entries(footprint ?? {}).map(([name, value]) => [`footprint.${name}`, String(value)]);
    const form = new URLSearchParams({ ...message(random), ...Object.fromEntries(fields) });
    return post(random, "application/x-www-form-urlencoded", String(form));
  }
  const headers: Draft["headers"] = [["host", "localhost"]];
  if (kind === 6) headers.push(["origin", "http://localhost:3000"], ["access-control-request-method", "POST"]);
  if (kind === 7) headers.push(["range", "bytes=0-99"], ["if-none-match", '"x"']);
  if (kind === 8) headers.push(["accept-encoding", "br, gzip;q=0.5"]);
  const method = kind === 6 ? "OPTIONS" : random.pick(["GET", "GET", "GET", "HEAD"]);
  const target = kind === 6 ? "/send-email" : random.pick([...PAGES, ...FILES]);
  return { method, target, version: "HTTP/1.1", headers, body: Buffer.alloc(0) };
}

function post(random: Random, type: string, text: string): Draft {
  const body = Buffer.from(text);
  const headers: Draft["headers"] = [
    ["host", "localhost"],
    ["content-type", type],
    ["content-length", String(body.length)],
  ];
  if (random.chance(0.3)) headers.push(["idempotency-key", random.bytes(8).toString("hex")]);
  return { method: "POST", target: "/send-email", version: "HTTP/1.1", headers, body };
}

function estimate(random: Random): { footprint?: Record<string, unknown> } {
  if (random.chance(0.6)) return {};
  const carKm = random.pick([0, "1,500", "1 500 km", 12.5, "1e3"]);
  return { footprint: { carKm, carFuel: random.pick(["petrol", "electric"]), hotelNights: random.int(30) } };
}

function message(random: Random): Record<string, string> {
  return {
    name: random.pick(["Ada", "Zoë", "鬱 鬱", "O'Brien", "=1+1"]),
    email: "ada@example.com",
    phone: "+44 20 7946 0000",
    country: random.pick(["GB", "", "DE"]),
    message: `${random.bytes(random.int(60)).toString("base64")} question`,
  };
}
