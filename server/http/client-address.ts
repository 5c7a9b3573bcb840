import ipaddr from "ipaddr.js";
import type { Network } from "../store/intake.ts";
import { keyedHash } from "../store/meta.ts";

/**
 * The networks that share limits. `allowance`: the network's limit as a multiple of one client's. One subscriber has a
 * whole IPv6 /64 and often a /56; a company or a small provider has a /48 or an IPv4 /24.
 */
const PREFIXES = {
  ipv4: [
    { bits: 32, allowance: 1 },
    { bits: 24, allowance: 8 },
  ],
  ipv6: [
    { bits: 64, allowance: 1 },
    { bits: 56, allowance: 4 },
    { bits: 48, allowance: 16 },
  ],
} as const;

export function networksOf(address: string, secret: string): Network[] {
  return networkNames(address).map(({ name, allowance }) => ({ hash: keyedHash(secret, [name]), allowance }));
}

export function networkNames(address: string): { name: string; allowance: number }[] {
  const parsed = parseAddress(address);
  // All invalid addresses count as one client, so that forged addresses share one limit.
  if (!parsed) return [{ name: "unreadable", allowance: 1 }];
  const family = parsed.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return PREFIXES[parsed.kind()].map(({ bits, allowance }) => ({
    name: `${family.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`,
    allowance,
  }));
}

// Proxies also send `192.0.2.7:41234`, `[2001:db8::1]` and `[2001:db8::1]:41234`. Contrary to its types, Fastify passes
// no address for a client that has closed its connection.
function parseAddress(address = ""): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [, bracketed, plain] = /^\s*(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)\s*$/.exec(address) ?? [];
  const bare = bracketed ?? plain ?? address.trim();
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
